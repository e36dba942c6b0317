// Mutations: no Idempotency-Key, JSON content type, at most 64 KiB of UTF-8 JSON
// that arrives in time.
import { Effect, Layer, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import {
  IdempotencyKeyNotAccepted,
  InvalidJson,
  PayloadTooLarge,
  RequestTimeout,
  UnsupportedMediaType
} from "../domain/Errors.ts"
import { BodyRules } from "./RequestRules.ts"

const maxBytes = 65_536
const mutations = new Set(["POST", "PATCH", "PUT", "DELETE"])
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const isJson = (bytes: Uint8Array): boolean => {
  try {
    JSON.parse(utf8.decode(bytes))
    return true
  } catch {
    return false
  }
}

const tooLarge = () => Effect.fail(new PayloadTooLarge())

/** Reads a body of unknown length up to the limit and no further. */
const readChunked = (request: HttpServerRequest.HttpServerRequest) =>
  request.stream.pipe(
    Stream.runFoldEffect(
      () => new Uint8Array(0),
      (all, chunk) =>
        all.length + chunk.length > maxBytes ? tooLarge() : Effect.succeed(Buffer.concat([all, chunk]))
    )
  )

/** The request to decode: itself, or one that holds the chunked body that has been read. */
const readBody = Effect.fnUntraced(
  function* (request: HttpServerRequest.HttpServerRequest) {
    if (request.headers["content-length"] !== undefined) {
      // The text that is decoded later comes from these bytes; they are read once.
      return [request, new Uint8Array(yield* request.arrayBuffer)] as const
    }
    const body = yield* readChunked(request)
    const headers = { "content-type": "application/json" }
    const read = HttpServerRequest.fromWeb(
      new Request("http://localhost/", { method: "POST", headers, body })
    )
    return [
      read.modify({ url: request.url, headers: request.headers, remoteAddress: request.remoteAddress }),
      body
    ] as const
  },
  Effect.catchTag("HttpServerError", tooLarge),
  Effect.timeoutOrElse({ duration: "10 seconds", orElse: () => Effect.fail(new RequestTimeout()) })
)

const checkedBody = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  const contentType = request.headers["content-type"]
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(contentType ?? "")) {
    return yield* new UnsupportedMediaType()
  }
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return yield* new PayloadTooLarge()
  const [read, bytes] = yield* readBody(request)
  if (bytes.byteLength > maxBytes) return yield* new PayloadTooLarge()
  if (!isJson(bytes)) return yield* new InvalidJson()
  return read
})

export const layer: Layer.Layer<BodyRules> = Layer.succeed(
  BodyRules,
  Effect.fnUntraced(function* (httpEffect, { endpoint }) {
    if (!mutations.has(endpoint.method)) return yield* httpEffect
    const request = yield* HttpServerRequest.HttpServerRequest
    if (request.headers["idempotency-key"] !== undefined) return yield* new IdempotencyKeyNotAccepted()
    if (endpoint.payload.size === 0) return yield* httpEffect
    const read = yield* checkedBody(request)
    return yield* read === request
      ? httpEffect
      : Effect.provideService(httpEffect, HttpServerRequest.HttpServerRequest, read)
  })
)
