// Wraps every route: request id, common headers, and the responses for unknown paths, methods and preflights.
import { Cause, Effect, Predicate } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { InvalidRequest, MethodNotAllowed, NotFound, PayloadTooLarge } from "../../domain/Errors.ts"
import { AppConfig } from "../AppConfig.ts"
import { Readiness } from "../workers/Readiness.ts"
import { RequestId, requestIdOf } from "./RequestContext.ts"
import { unexpectedFailure } from "./ResponseEnvelope/unexpectedFailure.ts"
import { commonHeaders, crossOriginHeaders, envelopeResponse } from "./ResponseEnvelope.ts"
import { namedRequest } from "./Routing/namedRequest.ts"
import {
  allowOf,
  type ContractEndpoint,
  entryOf,
  type PathMethods,
  pathOf,
  pathTable
} from "./Routing/pathTable.ts"
import { timedRoute } from "./Routing/timedRoute.ts"
import { unexpectedQuery } from "./Routing/unexpectedQuery.ts"
import { systemPaths } from "./System.ts"

/** True if a person opened the address: a program sends its key. */
const isForBrowser = ({ headers, method, url }: HttpServerRequest.HttpServerRequest) =>
  (method === "GET" || method === "HEAD") &&
  headers["accept"]?.includes("text/html") === true &&
  headers["authorization"] === undefined &&
  !url.startsWith("/api/")

/** The response of a known path; undefined if the path is unknown. */
const unrouted = (
  request: HttpServerRequest.HttpServerRequest,
  requestId: string,
  baseUrl: string,
  table: ReadonlyArray<PathMethods>
): HttpServerResponse.HttpServerResponse | undefined => {
  const entry = entryOf(table, pathOf(request.url))
  if (entry === undefined) return undefined
  if (entry.methods.has(request.method)) {
    // The path has the right form but cannot be decoded: a broken percent-encoding.
    const details = [{ path: "path", message: "Percent-encode the path as UTF-8." }]
    return envelopeResponse(new InvalidRequest({ details }), requestId, baseUrl)
  }
  const open = [...entry.crossOrigin]
  if (request.method === "OPTIONS" && open.length > 0) {
    return HttpServerResponse.empty({
      status: 204,
      headers: {
        ...crossOriginHeaders,
        "access-control-allow-methods": open.join(", "),
        // x402 clients in browsers send the last of these as a request header.
        "access-control-allow-headers":
          "authorization, content-type, x-request-id, payment-signature, x-payment, access-control-expose-headers",
        "access-control-max-age": "86400"
      }
    })
  }
  return envelopeResponse(new MethodNotAllowed(), requestId, baseUrl, {
    allow: allowOf(entry)
  })
}

/**
 * Surrounds every route of the router: the contract's endpoints and the GET `paths` outside it, of which
 * `withoutQuery` accept no query. At an unknown address browsers get `notFoundPage`, and programs the envelope.
 */
export const layer = (
  endpoints: ReadonlyArray<ContractEndpoint>,
  paths: ReadonlyArray<string>,
  withoutQuery: ReadonlyArray<string>,
  notFoundPage?: HttpServerResponse.HttpServerResponse
) =>
  HttpRouter.middleware(
    Effect.gen(function* () {
      const table = pathTable(endpoints, paths)
      const config = yield* AppConfig
      const { baseUrl } = config
      const timed = timedRoute(config, "unrouted")
      const withRequestName = namedRequest(config)
      const { stopping } = yield* Readiness

      const withCommonHeaders = (response: HttpServerResponse.HttpServerResponse, requestId: string) => {
        const headers = commonHeaders(requestId, baseUrl)
        // Browsers cache it and revalidate it by its ETag.
        if (response.headers["cache-control"] === "no-cache") headers["cache-control"] = "no-cache"
        if (stopping()) headers["connection"] = "close"
        return HttpServerResponse.setHeaders(response, headers)
      }

      const notFound = (request: HttpServerRequest.HttpServerRequest, requestId: string) =>
        notFoundPage !== undefined && isForBrowser(request)
          ? notFoundPage
          : envelopeResponse(new NotFound(), requestId, baseUrl)

      const failed = (
        cause: Cause.Cause<unknown>,
        request: HttpServerRequest.HttpServerRequest,
        requestId: string
      ): Effect.Effect<HttpServerResponse.HttpServerResponse, unknown> => {
        if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
        const error = Cause.squash(cause)
        if (isRouteNotFound(error))
          return timed(
            Effect.succeed(unrouted(request, requestId, baseUrl, table) ?? notFound(request, requestId))
          )
        if (isUnreadable(error))
          return Effect.succeed(envelopeResponse(new PayloadTooLarge(), requestId, baseUrl))
        return Effect.map(unexpectedFailure(cause, requestId), (failure) =>
          envelopeResponse(failure, requestId, baseUrl)
        )
      }

      return (httpEffect) => {
        // Created once, because anything created per request adds to the cost of each request.
        const answered = Effect.catchCause(httpEffect, (cause) =>
          Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
            Effect.flatMap(RequestId, (requestId) => failed(cause, request, requestId))
          )
        )
        return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
          const requestId = requestIdOf(request.headers["x-request-id"])
          const refusal = refusedUnrouted(request, withoutQuery)
          const response =
            refusal === undefined
              ? Effect.provideService(withRequestName(answered, requestId, request.url), RequestId, requestId)
              : timed(
                  Effect.succeed(
                    refusal === "not_found"
                      ? notFound(request, requestId)
                      : envelopeResponse(refusal, requestId, baseUrl)
                  )
                )
          return Effect.map(response, (answer) => withCommonHeaders(answer, requestId))
        })
      }
    }),
    { global: true }
  )

/** Refuses requests before a route is looked up. */
const refusedUnrouted = (
  request: HttpServerRequest.HttpServerRequest,
  withoutQuery: ReadonlyArray<string>
): InvalidRequest | "not_found" | undefined => {
  // Health checks send any host or none.
  if (hasNoHost(request) && !systemPaths.includes(pathOf(request.url))) {
    return new InvalidRequest({
      message: "Send one Host header: the service's name, and its port if it has one (RFC 9112, 3.2)."
    })
  }
  // The router would read `/payments/` as a payment with an empty id.
  if (endsInSlash(request.url)) return "not_found"
  return request.url.includes("?") && withoutQuery.includes(pathOf(request.url))
    ? unexpectedQuery(request)
    : undefined
}

/** RFC 3986, 3.2: a name or address and a port; no user, no path, no second host after a comma. */
const host = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+;=%-]*)(?::\d*)?$/i

/** A request built in code has a full URL and no Host header; a request from the network has a bare path. */
const hasNoHost = ({ headers, source }: HttpServerRequest.HttpServerRequest) => {
  const hostHeader = headers["host"]
  return hostHeader === undefined
    ? Predicate.hasProperty(source, "url") && Predicate.isString(source.url) && source.url.startsWith("/")
    : !host.test(hostHeader)
}

const endsInSlash = (url: string) => {
  const query = url.indexOf("?")
  const end = query === -1 ? url.length : query
  return end > 1 && url.charCodeAt(end - 1) === 47
}

const hasReason = (error: unknown, tag: string) =>
  typeof error === "object" &&
  error !== null &&
  "reason" in error &&
  typeof error.reason === "object" &&
  error.reason !== null &&
  "_tag" in error.reason &&
  error.reason._tag === tag

const isRouteNotFound = (error: unknown) => hasReason(error, "RouteNotFound")
const isUnreadable = (error: unknown) => hasReason(error, "RequestParseError")
