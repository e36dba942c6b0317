// Sockets of the pool, against servers that answer, refuse and come back.
import { describe, expect, test } from "bun:test"
import { createServer, type Server, type Socket } from "node:net"
import { makeConnector } from "../../src/database/Connector.ts"

const ready = Uint8Array.of(0x5a, 0, 0, 0, 5, 0x49)

const listening = (answer: (socket: Socket) => void) =>
  new Promise<{ readonly server: Server; readonly at: { readonly host: string; readonly port: number } }>(
    (resolve) => {
      const server = createServer((socket) => {
        socket.on("error", () => {})
        answer(socket)
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        if (address === null || typeof address === "string") throw new Error("no port")
        resolve({ server, at: { host: "127.0.0.1", port: address.port } })
      })
    }
  )
const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once("close", () => resolve()))

describe("a connector", () => {
  test("a short session that was answered is no refusal: the next one connects at once", async () => {
    const { at, server } = await listening((socket) => {
      socket.write(ready)
      socket.on("data", () => socket.write(ready))
    })
    const connect = makeConnector([at])
    const first = connect()
    const answered = new Promise<void>((resolve) => {
      let seen = 0
      first.on("data", () => {
        seen += 1
        if (seen === 1) first.write("SELECT")
        else resolve()
      })
    })
    await answered
    first.end()
    await closed(first)
    const second = connect()
    expect(second).toBeDefined()
    second.destroy()
    server.close()
  })

  test("neither a session that this process ends before it was answered, nor a cancel request, is a refusal", async () => {
    const { at, server } = await listening((socket) => socket.write(ready))
    const connect = makeConnector([at])
    for (const kind of ["session", "cancel"]) {
      const ended = connect()
      if (kind === "cancel") ended.emit(kind)
      await new Promise((resolve) => ended.once("data", resolve))
      if (kind === "session") ended.emit(kind)
      ended.end()
      ended.destroy()
      await closed(ended)
    }
    connect().destroy()
    server.close()
  })

  test("a cancel request that its server ends without a word is no refusal", async () => {
    const { at, server } = await listening((socket) => socket.end())
    const connect = makeConnector([at])
    const cancel = connect()
    cancel.emit("cancel")
    cancel.resume()
    await closed(cancel)
    connect().destroy()
    server.close()
  })

  test("a session that ends as it has begun was refused, and callers are told so for half a second", async () => {
    const { at, server } = await listening((socket) => socket.end(ready))
    const connect = makeConnector([at])
    const first = connect()
    first.resume()
    await closed(first)
    expect(() => connect()).toThrow("did not answer a moment ago")
    await Bun.sleep(550)
    connect().destroy()
    server.close()
  })
})
