// Common parts of every response: the envelope for expected failures, common headers, and open CORS for the routes that
// buyers' browsers call.
import { Cause, Effect, Layer, Predicate } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"
import { errorCodes } from "../../domain/ErrorCode.ts"
import { type CodedError, InvalidRequest } from "../../domain/Errors.ts"
import { issueDetails } from "../../domain/issueDetails.ts"
import { AppConfig } from "../AppConfig.ts"
import { accessOf, isCrossOrigin } from "./Access.ts"
import { errorBody } from "./Envelope.ts"
import { jsonResponse } from "./jsonResponse.ts"
import { RequestId } from "./RequestContext.ts"
import { ResponseEnvelope } from "./RequestRules.ts"
import { unexpectedFailure } from "./ResponseEnvelope/unexpectedFailure.ts"
import { timedRoute } from "./Routing/timedRoute.ts"

/** True for the tagged errors of the catalogue. */
const isCodedError = (error: unknown): error is CodedError =>
  Predicate.hasProperty(error, "_tag") &&
  Predicate.hasProperty(error, "code") &&
  Predicate.isString(error.code) &&
  error.code in errorCodes

/** RFC 9110, 15.5.2: a 401 says how to authenticate. */
const unauthorized: Readonly<Record<string, string>> = { "www-authenticate": "Bearer" }

/** The envelope as a response. `headers` are added to those of the code. */
export const envelopeResponse = (
  error: CodedError,
  requestId: string,
  baseUrl: string,
  headers: Readonly<Record<string, string>> = {}
): HttpServerResponse.HttpServerResponse =>
  jsonResponse({ error: errorBody(error, requestId, baseUrl) }, errorCodes[error.code].status, {
    ...(errorCodes[error.code].status === 401 ? unauthorized : {}),
    ...(error.retryAfter === undefined ? {} : { "retry-after": String(error.retryAfter) }),
    ...headers
  })

const places = { Payload: "body", Query: "query", Params: "path", Headers: "header" } as const

/** Lists each place that breaks the contract, without echoing its content. */
const invalidRequest = (error: HttpApiError.HttpApiSchemaError): InvalidRequest =>
  new InvalidRequest({
    details: issueDetails(error.cause.issue, places[error.kind as keyof typeof places])
  })

/** Headers of every response. Under https, browsers enforce HSTS for a year (RFC 6797). */
export const commonHeaders = (requestId: string, baseUrl: string): Record<string, string> => {
  const headers: Record<string, string> = {
    "cache-control": "no-store",
    "x-request-id": requestId,
    "x-content-type-options": "nosniff"
  }
  if (baseUrl.startsWith("https:")) headers["strict-transport-security"] = "max-age=31536000"
  return headers
}

export const crossOriginHeaders = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "retry-after, x-request-id, payment-required, payment-response, x-payment-response"
}

export const layerResponseEnvelope: Layer.Layer<ResponseEnvelope, never, AppConfig> = Layer.effect(
  ResponseEnvelope,
  Effect.map(AppConfig, (config) => (httpEffect, { endpoint, group }) => {
    const { baseUrl } = config
    const name = `${group.identifier}.${endpoint.identifier}`
    const crossOrigin = isCrossOrigin(accessOf(endpoint))
    const withCors = (response: HttpServerResponse.HttpServerResponse) =>
      crossOrigin ? HttpServerResponse.setHeaders(response, crossOriginHeaders) : response
    const envelopeOf = (error: CodedError) =>
      Effect.map(RequestId, (requestId) => withCors(envelopeResponse(error, requestId, baseUrl)))

    // The request is completed even if the client disconnects: a buyer's report settles with the page closed.
    const answered = Effect.matchCauseEffect(Effect.uninterruptible(httpEffect), {
      onSuccess: (response) => Effect.succeed(withCors(response)),
      onFailure: (cause) => {
        if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
        const error = Cause.squash(cause)
        if (isCodedError(error)) return envelopeOf(error)
        if (HttpApiError.HttpApiSchemaError.is(error) && error.kind in places)
          return envelopeOf(invalidRequest(error))
        // Our own bug or an outage.
        return Effect.flatMap(RequestId, (requestId) =>
          Effect.flatMap(unexpectedFailure(cause, requestId, { endpoint: name }), envelopeOf)
        )
      }
    })
    return timedRoute(config, name)(answered)
  })
)
