// Identifies the signed-in user before any part of the request is decoded.

import { Effect, Layer, Option } from "effect"
import { HttpBody, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { CrossOriginRefused, NotFound, SignInRequired } from "../../../domain/Errors.ts"
import { isEnv, isTest } from "../../../domain/networks.ts"
import { Accounts } from "../../../merchants/accounts/Accounts.ts"
import type { SeenFrom } from "../../../merchants/accounts/Session.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { accessOf } from "../../../platform/http/Access.ts"
import { isLoopback } from "../../../platform/http/isLoopback.ts"
import { clientAddressOf } from "../../../platform/http/RequestContext.ts"
import { AlertPagesRepo } from "../alerts/AlertPagesRepo.ts"
import { openAlertsHeader } from "../alerts/openAlertsHeader.ts"
import { roleRequired } from "../roleRequired.ts"
import { CurrentMember, CurrentSession, MemberRequired, SameOrigin, SessionRequired } from "../Session.ts"
import { cookieName } from "../sessionCookie.ts"

const isRead = (method: string) => method === "GET" || method === "HEAD"

/**
 * True if a mutation comes from a page of this service. Browsers show this by `Sec-Fetch-Site`, and on plain http only
 * by `Origin`. Another site's page can set neither.
 */
const isSameOrigin = (headers: Readonly<Record<string, string | undefined>>, baseUrl: string) => {
  const site = headers["sec-fetch-site"]
  if (site !== undefined) return site === "same-origin"
  const origin = headers["origin"]
  if (origin === undefined) return false
  if (origin === baseUrl) return true
  // A foreign host name that resolves to this machine is not same-origin (DNS rebinding).
  const page = URL.parse(origin)
  return page !== null && page.host === headers["host"] && isLoopback(page.hostname)
}

const sameOrigin = Layer.effect(
  SameOrigin,
  Effect.map(AppConfig, ({ baseUrl }) =>
    SameOrigin.of(
      Effect.fnUntraced(function* (httpEffect) {
        const { method, headers } = yield* HttpServerRequest.HttpServerRequest
        if (!isRead(method) && !isSameOrigin(headers, baseUrl)) return yield* new CrossOriginRefused()
        return yield* httpEffect
      })
    )
  )
)

/** Pages ask again every few seconds; unchanged content is not sent again. */
const conditional = (
  response: HttpServerResponse.HttpServerResponse,
  request: HttpServerRequest.HttpServerRequest
) => {
  if (request.method !== "GET" || response.status !== 200 || response.body._tag !== "Uint8Array")
    return response
  const etag = `"${Bun.hash(response.body.body).toString(36)}"`
  const tagged = HttpServerResponse.setHeader(response, "etag", etag)
  return request.headers["if-none-match"] === etag
    ? HttpServerResponse.setStatus(HttpServerResponse.setBody(tagged, HttpBody.empty), 304)
    : tagged
}

const seenFrom = (request: HttpServerRequest.HttpServerRequest, hops: number): SeenFrom => ({
  userAgent: request.headers["user-agent"]?.replace(/[^ -~]/gu, "").slice(0, 300) ?? null,
  address: clientAddressOf(request, hops)
})

const sessionRequired = Layer.effect(
  SessionRequired,
  Effect.gen(function* () {
    const { baseUrl, trustedProxyHops } = yield* AppConfig
    const accounts = yield* Accounts
    const name = cookieName(baseUrl)

    return SessionRequired.of(
      Effect.fnUntraced(function* (httpEffect) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const token = request.cookies[name]
        const session =
          token === undefined
            ? Option.none()
            : yield* accounts.find(token, seenFrom(request, trustedProxyHops))
        if (Option.isNone(session)) return yield* new SignInRequired()
        const response = yield* Effect.provideService(httpEffect, CurrentSession, session.value)
        return conditional(response, request)
      })
    )
  })
)

/** A page's response contains the number of open alerts, for the navigation's badge. */
const withOpenAlerts = <E, R, R2>(
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  countOpen: Effect.Effect<number, never, R2>
) =>
  Effect.map(Effect.all([answer, countOpen], { concurrency: 2 }), ([response, count]) =>
    HttpServerResponse.setHeader(response, openAlertsHeader, String(count))
  )

const memberRequired = Layer.effect(
  MemberRequired,
  Effect.map(AlertPagesRepo, ({ countOpen }) =>
    MemberRequired.of(
      Effect.fnUntraced(function* (httpEffect, { endpoint }) {
        const { user, merchants } = yield* CurrentSession
        const { merchantId, env } = yield* HttpRouter.params
        const merchant = merchants.find(({ id }) => id === merchantId)
        if (merchant === undefined || !isEnv(env)) return yield* new NotFound()
        const access = accessOf(endpoint)
        const roles = access.by !== "member" ? [] : isTest(env) ? access.roles : (access.live ?? access.roles)
        if (!roles.includes(merchant.role)) {
          return yield* roleRequired(roles, merchant.role)
        }
        return yield* Effect.provideService(
          isRead(endpoint.method) ? withOpenAlerts(httpEffect, countOpen) : httpEffect,
          CurrentMember,
          { user, merchant, role: merchant.role, tenant: { merchantId: merchant.id, env } }
        )
      })
    )
  )
)

export const layerSession: Layer.Layer<
  SameOrigin | SessionRequired | MemberRequired,
  never,
  AppConfig | Accounts | AlertPagesRepo
> = Layer.mergeAll(sameOrigin, sessionRequired, memberRequired)
