// What surrounds every route: the request id, the common headers, and the answers
// for paths, methods and preflights that no endpoint takes.
import { Cause, Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi } from "effect/http-api"
import { Api } from "../Api.ts"
import { AppConfig } from "../AppConfig.ts"
import {
  InternalError,
  InvalidRequest,
  MethodNotAllowed,
  NotFound,
  PayloadTooLarge
} from "../domain/Errors.ts"
import { commonHeaders, crossOriginHeaders, errorAnswer } from "./Answers.ts"
import { RequestId, requestIdOf } from "./RequestContext.ts"
import { access } from "./routes.ts"

interface PathMethods {
  readonly pattern: RegExp
  readonly methods: Set<string>
  readonly crossOrigin: Set<string>
}

/** Path to methods, read off the contract. */
const pathTable = (systemPaths: ReadonlyArray<string>): ReadonlyArray<PathMethods> => {
  const table = new Map<string, PathMethods>()
  const entry = (path: string) => {
    const found = table.get(path) ?? {
      pattern: new RegExp(`^${path.replace(/:[A-Za-z]+/g, "[^/]+")}$`),
      methods: new Set<string>(),
      crossOrigin: new Set<string>()
    }
    table.set(path, found)
    return found
  }
  for (const path of systemPaths) entry(path).methods.add("GET").add("HEAD")
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const { methods, crossOrigin } = entry(endpoint.path)
      methods.add(endpoint.method)
      if (endpoint.method === "GET") methods.add("HEAD")
      const name = `${group.identifier}.${endpoint.identifier}`
      if (access[name]?.crossOrigin === true || group.identifier === "playground")
        crossOrigin.add(endpoint.method)
    }
  })
  return [...table.values()]
}

const unrouted = (
  request: HttpServerRequest.HttpServerRequest,
  requestId: string,
  baseUrl: string,
  table: ReadonlyArray<PathMethods>
): HttpServerResponse.HttpServerResponse => {
  const path = request.url.split("?")[0] ?? "/"
  const found = table.find((one) => one.pattern.test(path))
  if (found === undefined) return errorAnswer(new NotFound(), requestId, baseUrl)
  if (found.methods.has(request.method)) {
    // The path has the form but cannot be read: a broken percent-encoding.
    const details = [{ path: "path", message: "Percent-encode the path as UTF-8." }]
    return errorAnswer(new InvalidRequest({ details }), requestId, baseUrl)
  }
  const open = [...found.crossOrigin]
  if (request.method === "OPTIONS" && open.length > 0) {
    return HttpServerResponse.empty({
      status: 204,
      headers: {
        ...crossOriginHeaders,
        "access-control-allow-methods": open.join(", "),
        "access-control-allow-headers": "authorization, content-type, x-request-id",
        "access-control-max-age": "86400"
      }
    })
  }
  return errorAnswer(new MethodNotAllowed(), requestId, baseUrl, {
    allow: [...found.methods].sort().join(", ")
  })
}

/** Surrounds every route of the router; `systemPaths` are the GET paths outside the contract. */
export const layer = (systemPaths: ReadonlyArray<string>) =>
  HttpRouter.middleware(
    Effect.gen(function* () {
      const { baseUrl } = yield* AppConfig
      const table = pathTable(systemPaths)

      return (httpEffect) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
          const requestId = requestIdOf(request)
          // The router would read `/payments/` as a payment with an empty id.
          if (endsInSlash(request.url)) {
            return Effect.succeed(
              HttpServerResponse.setHeaders(
                errorAnswer(new NotFound(), requestId, baseUrl),
                commonHeaders(requestId)
              )
            )
          }
          return httpEffect.pipe(
            Effect.provideService(RequestId, requestId),
            Effect.catchCause((cause) => {
              if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
              const error = Cause.squash(cause)
              if (isRouteNotFound(error)) return Effect.succeed(unrouted(request, requestId, baseUrl, table))
              if (isUnreadable(error))
                return Effect.succeed(errorAnswer(new PayloadTooLarge(), requestId, baseUrl))
              return Effect.as(
                Effect.logError("Unexpected failure", cause).pipe(Effect.annotateLogs({ requestId })),
                errorAnswer(new InternalError(), requestId, baseUrl)
              )
            }),
            Effect.map(HttpServerResponse.setHeaders(commonHeaders(requestId)))
          )
        })
    }),
    { global: true }
  )

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
