// Servers that find the end of a message wrongly: the probe finds them.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { createServer, type Server } from "node:net"
import { probeOwn } from "./runProbe.ts"

setDefaultTimeout(180_000)

const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

/** How long the body is that follows a head; undefined while more is needed. */
type BodyLength = (head: string, rest: string) => number | undefined

const byLength: BodyLength = (head) =>
  Math.max(0, Number.parseInt(/^content-length: *(\S+)/im.exec(head)?.[1] ?? "0", 10) || 0)

const byChunks: BodyLength = (head, rest) => {
  if (!/chunked/i.test(head)) return byLength(head, rest)
  for (let at = 0; ; ) {
    const line = rest.indexOf("\n", at)
    if (line < 0) return undefined
    const size = Number.parseInt(rest.slice(at, line), 16) || 0
    if (size <= 0) return Math.min(line + 3, rest.length)
    at = line + 1 + size + 2
    if (at > rest.length) return undefined
  }
}

/** Answers whatever looks like a request. */
const careless = (bodyLength: BodyLength) =>
  new Promise<Server>((resolve) => {
    const server = createServer((socket) => {
      let heard = ""
      socket.on("error", () => {})
      socket.on("data", (chunk) => {
        heard += chunk.toString("latin1")
        for (;;) {
          const end = heard.indexOf("\r\n\r\n")
          if (end < 0) return
          const length = bodyLength(heard.slice(0, end), heard.slice(end + 4))
          if (length === undefined || heard.length < end + 4 + length) return
          heard = heard.slice(end + 4 + length)
          socket.write(answer)
        }
      })
    })
    server.listen(0, "127.0.0.1", () => resolve(server))
  })

const urlOf = (server: Server) => {
  const address = server.address()
  return typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}/` : ""
}

describe("careless servers", () => {
  let lengths: Server
  let chunks: Server
  beforeAll(async () => {
    lengths = await careless(byLength)
    chunks = await careless(byChunks)
  })
  afterAll(() => {
    lengths.close()
    chunks.close()
  })

  test.concurrent("one that reads lengths alone is smuggled to by chunks", async () => {
    const { code, cases, failed } = await probeOwn("http", urlOf(lengths))
    expect(code).toBe(1)
    expect(failed).toContain("http-cl-two-different")
    expect(failed).toContain("http-te-gzip-alone")
    expect(failed).toContain("http-host-two")
    expect(failed).toContain("http-header-of-1-mb")
    expect(cases.find(({ id }) => id === "http-te-cl")?.actual).toStartWith(
      "4 answers to 2 requests: 200, 200, 200, 200"
    )
  })

  test.concurrent("one that reads chunks as numbers begin is smuggled to by lengths", async () => {
    const { code, cases, failed } = await probeOwn("http", urlOf(chunks))
    expect(code).toBe(1)
    expect(failed).toContain("http-chunk-size-hex-prefix")
    expect(failed).toContain("http-te-unknown-coding")
    expect(failed).toContain("http-chunk-size-bare-lf")
    expect(cases.find(({ id }) => id === "http-cl-te")?.actual).toStartWith(
      "3 answers to 2 requests: 200, 200, 200"
    )
  })
})
