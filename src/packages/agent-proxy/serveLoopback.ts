// The proxy's HTTP server, which listens on the loopback interface only.
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

/** A request before its body is read. */
export interface LoopbackRequest {
  /** The target of the request line: `/path`. */
  readonly target: string
  readonly method: string
  readonly headers: Headers
  /** The whole body; undefined if there is none, `too_large` if it exceeds the limit. */
  readonly body: () => Promise<Uint8Array<ArrayBuffer> | undefined | "too_large">
  /** True once the complete response is sent; false if the client disconnects or the response breaks off. */
  readonly delivered: Promise<boolean>
}

export interface LoopbackServer {
  readonly port: number
  /** Closes the port and every connection. */
  readonly stop: () => Promise<void>
}

const headersOf = (incoming: IncomingMessage): Headers => {
  const headers = new Headers()
  const { rawHeaders } = incoming
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "")
  return headers
}

const readBody = async (incoming: IncomingMessage, limit: number) => {
  if (Number(incoming.headers["content-length"] ?? 0) > limit) return "too_large"
  const chunks: Array<Uint8Array> = []
  let length = 0
  for await (const chunk of incoming) {
    length += chunk.length
    if (length > limit) return "too_large"
    chunks.push(chunk)
  }
  return length === 0 ? undefined : new Uint8Array(Buffer.concat(chunks))
}

const send = async (response: Response, outgoing: ServerResponse, signal: AbortSignal): Promise<void> => {
  outgoing.writeHead(response.status, response.statusText, Object.fromEntries(response.headers))
  const reader = response.body?.getReader()
  const cancel = () => void reader?.cancel().catch(() => undefined)
  signal.addEventListener("abort", cancel)
  // Sends the status at once, even if the body takes longer.
  outgoing.flushHeaders()
  try {
    while (reader !== undefined && !signal.aborted) {
      const { done, value } = await reader.read()
      if (done) break
      if (!outgoing.write(value)) await once(outgoing, "drain", { signal })
    }
    outgoing.end()
  } finally {
    signal.removeEventListener("abort", cancel)
    if (signal.aborted) cancel()
  }
}

/** Serves on 127.0.0.1, on Node and Bun. Port 0 picks a free port. Fails as `listen` does. */
export const serveLoopback = async (
  port: number,
  maxBodyBytes: number,
  handler: (request: LoopbackRequest) => Promise<Response>
): Promise<LoopbackServer> => {
  const server = createServer((incoming, outgoing) => {
    const gone = new AbortController()
    outgoing.on("close", () => gone.abort())
    const delivered = new Promise<boolean>((resolve) => {
      outgoing.on("finish", () => resolve(true))
      outgoing.on("close", () => resolve(false))
    })
    const answer = async () => {
      const response = await handler({
        target: incoming.url ?? "",
        method: incoming.method ?? "GET",
        headers: headersOf(incoming),
        body: () => readBody(incoming, maxBodyBytes),
        delivered
      })
      await send(response, outgoing, gone.signal)
    }
    // A response that breaks off must not look complete.
    answer().catch(() => outgoing.destroy())
  })
  server.listen(port, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the server has no port")
  return {
    port: address.port,
    stop: async () => {
      const closed = once(server, "close")
      server.close()
      server.closeAllConnections()
      await closed
    }
  }
}
