// Refuses a query where none is declared. For mutations: no Idempotency-Key, a JSON content type, at most 64 KiB of
// UTF-8 JSON that arrives in time, and only text that Postgres can store.
import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import {
  IdempotencyKeyNotAccepted,
  InvalidJson,
  type InvalidRequest,
  invalidField,
  PayloadTooLarge,
  RequestTimeout,
  UnsupportedMediaType
} from "../../../domain/Errors.ts"
import { BodyRules } from "../RequestRules.ts"
import { unexpectedQuery } from "../Routing/unexpectedQuery.ts"
import { hasUnstorableTarget, unstorableAdvice, unstorablePlace } from "../unstorableText.ts"

const maxBytes = 65_536
const deadlineMillis = 10_000
const mutations = new Set(["POST", "PATCH", "PUT", "DELETE"])
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

type BodyError = InvalidJson | InvalidRequest | PayloadTooLarge | RequestTimeout

const unstorable = (path: string) => invalidField(path, unstorableAdvice)

/** The body's bytes, up to the limit and no further. */
const readChunks = async (source: Request): Promise<Uint8Array | undefined> => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  for await (const chunk of source.body ?? []) {
    size += chunk.length
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const checkedText = (bytes: Uint8Array | undefined): Effect.Effect<string, BodyError> => {
  if (bytes === undefined || bytes.byteLength > maxBytes) return Effect.fail(new PayloadTooLarge())
  try {
    const text = utf8.decode(bytes)
    const place = unstorablePlace(text, JSON.parse(text))
    return place === undefined ? Effect.succeed(text) : Effect.fail(unstorable(place))
  } catch {
    return Effect.fail(new InvalidJson())
  }
}

/** The body's text. One timer and one promise, because a fiber with a timeout costs more than the read. */
const readText = (source: Request): Effect.Effect<string, BodyError> =>
  Effect.callback((resume) => {
    const timer = setTimeout(() => resume(Effect.fail(new RequestTimeout())), deadlineMillis)
    const answer = (text: Effect.Effect<string, BodyError>) => {
      clearTimeout(timer)
      resume(text)
    }
    const bytes = source.headers.has("content-length") ? source.bytes() : readChunks(source)
    bytes.then(
      (read) => answer(checkedText(read)),
      () => answer(Effect.fail(new InvalidJson()))
    )
    return Effect.sync(() => clearTimeout(timer))
  })

const jsonType = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i

/** The body's text, read and checked. */
const checkedBody = (
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<string, BodyError | UnsupportedMediaType> => {
  const contentType = request.headers["content-type"] ?? ""
  if (contentType !== "application/json" && !jsonType.test(contentType))
    return Effect.fail(new UnsupportedMediaType())
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return Effect.fail(new PayloadTooLarge())
  if (!(request.source instanceof Request)) return Effect.die(new Error("not a web request"))
  return readText(request.source)
}

/** A mutation without a payload accepts no body, or an empty object, which some clients always send. */
const noBody = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  const length = request.headers["content-length"]
  const chunked = request.headers["transfer-encoding"] !== undefined
  if (!chunked && (length === undefined || length === "0")) return
  const text = yield* checkedBody(request)
  if (text.replace(/\s/g, "") !== "{}") {
    return yield* invalidField("body", "This endpoint takes no body: send none.")
  }
})

/** The request with its body read, because Bun returns a body only once. */
const withText = (
  request: HttpServerRequest.HttpServerRequest,
  text: string
): HttpServerRequest.HttpServerRequest => Object.create(request, { text: { value: Effect.succeed(text) } })

/** Refuses a request that breaks the rules; returns the request with the body that was read. */
const checked = (
  request: HttpServerRequest.HttpServerRequest,
  { method, payload, query }: HttpApiEndpoint.Top
): Effect.Effect<
  HttpServerRequest.HttpServerRequest,
  BodyError | IdempotencyKeyNotAccepted | UnsupportedMediaType
> => {
  const unexpected = query === undefined ? unexpectedQuery(request) : undefined
  if (unexpected !== undefined) return Effect.fail(unexpected)
  if (hasUnstorableTarget(request.url)) return Effect.fail(unstorable("path"))
  if (!mutations.has(method)) return Effect.succeed(request)
  if (request.headers["idempotency-key"] !== undefined) return Effect.fail(new IdempotencyKeyNotAccepted())
  if (payload.size === 0) return Effect.as(noBody(request), request)
  return Effect.map(checkedBody(request), (text) => withText(request, text))
}

export const layerBodyRules: Layer.Layer<BodyRules> = Layer.succeed(BodyRules, (httpEffect, { endpoint }) =>
  HttpServerRequest.HttpServerRequest.pipe(
    Effect.flatMap((request) => checked(request, endpoint)),
    Effect.flatMap((request) =>
      Effect.provideService(httpEffect, HttpServerRequest.HttpServerRequest, request)
    )
  )
)
