// Answers in the envelope for bytes that Bun's parser refuses before any handler:
// heads beyond the limits, unknown methods, two lengths, broken chunks, no HTTP at all.
//
// `Bun.serve` offers no hook for them, but `node:http` on Bun does (`clientError`), and it
// listens through `Bun.serve`: the listener is made by `node:http` for its hook, with the
// handler of the caller for everything that parses.
import { createServer, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import { errorCodes } from "../domain/ErrorCode.ts"
import {
  type CodedError,
  HeadersTooLarge,
  InvalidRequest,
  MethodNotAllowed,
  NotFound,
  ServiceUnavailable
} from "../domain/Errors.ts"
import { commonHeaders } from "./Answers.ts"
import { errorBody } from "./ErrorResponse.ts"
import { allowOf, entryOf, type PathMethods, pathOf } from "./pathTable.ts"
import { requestIdOf } from "./RequestContext.ts"

interface Refusal {
  readonly error: CodedError
  readonly headers?: Readonly<Record<string, string>>
}

interface ParseError {
  readonly code?: string
  readonly rawPacket?: Uint8Array
}

/** `METHOD target HTTP/1.x`, where the packet starts with one. */
const requestLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ (\S+) HTTP\/1\.[01]\r\n/

const refusalOf = (code: string | undefined, packet: string, table: ReadonlyArray<PathMethods>): Refusal => {
  if (code === "HPE_HEADER_OVERFLOW") return { error: new HeadersTooLarge() }
  const target = requestLine.exec(packet)?.[1]
  if (code === "HPE_INVALID_METHOD" && target !== undefined) {
    const entry = entryOf(table, pathOf(target))
    return entry === undefined
      ? { error: new NotFound() }
      : { error: new MethodNotAllowed(), headers: { allow: allowOf(entry) } }
  }
  return {
    error: new InvalidRequest({
      message: "The bytes are not a well-formed HTTP/1.1 request. Send it with a standard HTTP client."
    })
  }
}

const requestIdHeader = /\r\nx-request-id:[ \t]*([^\r\n]*?)[ \t]*\r\n/i

const bytesOf = ({ error, headers }: Refusal, requestId: string, baseUrl: string): string => {
  const { status } = errorCodes[error.code]
  const body = JSON.stringify({ error: errorBody(error, requestId, baseUrl) })
  const lines = Object.entries({
    ...commonHeaders(requestId, baseUrl),
    ...headers,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    connection: "close"
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${body}`
}

/** Before its routes are there, and after they have gone, the listener answers this. */
const unrouted = (baseUrl: string) => (request: Request) => {
  const requestId = requestIdOf(request.headers.get("x-request-id") ?? undefined)
  return Response.json(
    { error: errorBody(new ServiceUnavailable(), requestId, baseUrl) },
    {
      status: errorCodes.SERVICE_UNAVAILABLE.status,
      headers: { ...commonHeaders(requestId, baseUrl), "retry-after": "1" }
    }
  )
}

/** `Bun.serve`, with an answer of ours for what its parser refuses. The connection closes after it. */
export const serveAnsweringMalformed =
  (options: { readonly baseUrl: string; readonly table: ReadonlyArray<PathMethods> }): typeof Bun.serve =>
  <WebSocketData, R extends string>(given: Bun.Serve.Options<WebSocketData, R>) => {
    const handlers = { ...given, fetch: unrouted(options.baseUrl) }
    const listener = createServer({ requireHostHeader: false })
    listener.on("clientError", ({ code, rawPacket }: ParseError, socket: Duplex) => {
      const packet = Buffer.from(rawPacket ?? []).toString("latin1")
      const requestId = requestIdOf(requestIdHeader.exec(packet)?.[1])
      socket.end(bytesOf(refusalOf(code, packet, options.table), requestId, options.baseUrl))
    })
    // A port in use is thrown below, and told once.
    listener.on("error", () => {})

    const serve = Bun.serve
    let server: Bun.Server<WebSocketData> | undefined
    let refused: unknown
    Reflect.set(Bun, "serve", (own: object) => {
      try {
        server = serve<WebSocketData, R>(Object.assign({}, own, handlers))
        return server
      } catch (error) {
        refused = error
        throw error
      }
    })
    try {
      listener.listen()
    } finally {
      Reflect.set(Bun, "serve", serve)
    }
    if (server === undefined) throw refused ?? new Error("This Bun does not listen through Bun.serve.")
    server.reload(handlers)
    const reload = server.reload.bind(server)
    return Object.assign(server, {
      stop: stopWhenAnswered(server),
      reload: (next: typeof handlers) =>
        reload("fetch" in given && next.fetch === given.fetch ? handlers : next)
    })
  }

/** Longer than a request is given to end; a client that reads nothing must not hold the stop. */
const stopMillis = 12_000

/** A listener made by `node:http` waits for idle connections for ever: they are closed once nobody awaits an answer. */
const stopWhenAnswered = <WebSocketData>(server: Bun.Server<WebSocketData>) => {
  const stop = server.stop.bind(server)
  return async (closeActiveConnections?: boolean): Promise<void> => {
    if (closeActiveConnections !== true) {
      void stop()
      const deadline = performance.now() + stopMillis
      while (server.pendingRequests > 0 && performance.now() < deadline) await Bun.sleep(5)
    }
    await stop(true)
  }
}
