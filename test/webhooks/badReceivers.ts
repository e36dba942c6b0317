// A process with webhook servers that never answer (/hang), drip a byte a second (/drip) or send endless bodies
// (/endless), and a healthy one (/healthy). Prints its port, then the arrival time of each request with its delivery's
// id.
import { createServer } from "node:net"

const server = createServer((socket) => {
  let text = ""
  socket.on("error", () => {})
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1")
    const head = text.indexOf("\r\n\r\n")
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
    if (head < 0 || text.length < head + 4 + length) return
    const path = text.split(" ")[1] ?? ""
    const id = /webhook-id: (\S+)/i.exec(text)?.[1]
    text = ""
    console.log(`${id} ${Date.now()}`)
    if (path.startsWith("/healthy")) {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
    } else if (path.startsWith("/drip")) {
      const answer = "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n"
      let sent = 0
      const timer = setInterval(() => socket.write(answer[sent++] ?? "x"), 1_000)
      socket.on("close", () => clearInterval(timer))
    } else if (path.startsWith("/endless")) {
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
      const block = `1000\r\n${"e".repeat(4096)}\r\n`
      const pour = () => {
        while (!socket.destroyed && socket.write(block)) {}
      }
      socket.on("drain", pour)
      pour()
    }
  })
})
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  console.log(`port ${typeof address === "object" && address !== null ? address.port : 0}`)
})
