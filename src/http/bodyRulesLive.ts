// Mutations: no Idempotency-Key, JSON content type, at most 64 KiB of UTF-8 JSON
// that arrives in time.
import { Effect, Layer } from "effect"
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

const isJson = (bytes: ArrayBuffer): boolean => {
  try {
    JSON.parse(utf8.decode(bytes))
    return true
  } catch {
    return false
  }
}

const checkBody = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  const contentType = request.headers["content-type"]
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(contentType ?? "")) {
    return yield* new UnsupportedMediaType()
  }
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return yield* new PayloadTooLarge()
  // The text that is decoded later comes from these bytes; they are read once.
  const bytes = yield* request.arrayBuffer.pipe(
    Effect.timeoutOrElse({ duration: "10 seconds", orElse: () => Effect.fail(new RequestTimeout()) }),
    Effect.catchTag("HttpServerError", () => Effect.fail(new PayloadTooLarge()))
  )
  if (bytes.byteLength > maxBytes) return yield* new PayloadTooLarge()
  if (!isJson(bytes)) return yield* new InvalidJson()
})

export const layer: Layer.Layer<BodyRules> = Layer.succeed(
  BodyRules,
  Effect.fnUntraced(function* (httpEffect, { endpoint }) {
    if (!mutations.has(endpoint.method)) return yield* httpEffect
    const request = yield* HttpServerRequest.HttpServerRequest
    if (request.headers["idempotency-key"] !== undefined) return yield* new IdempotencyKeyNotAccepted()
    if (endpoint.payload.size > 0) yield* checkBody(request)
    return yield* httpEffect
  })
)
