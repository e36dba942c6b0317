// Authentication, and the endpoint's access, before anything of the request is decoded.
import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { AppConfig } from "../../AppConfig.ts"
import {
  KeyKindNotAllowed,
  LiveModeNoTestFunds,
  ManagePermissionRequired,
  RateLimited
} from "../../domain/Errors.ts"
import type { Principal } from "../../domain/Merchant.ts"
import { KeyAuth } from "../../keys/KeyAuth.ts"
import { type Limit, RateLimiter } from "../../limits/RateLimiter.ts"
import { type Access, accessOf } from "../Access.ts"
import { ApiKeyAuth, CurrentPrincipal, TestRail } from "../ApiKeyAuth.ts"
import { clientAddressOf, siteOf } from "../RequestContext.ts"

/** Why the principal may not call an endpoint of this access, or undefined where it may. */
export const refusal = (access: Access, principal: Principal) => {
  const kinds = access.by === "key" ? access.kinds : []
  const { manage, testRail } = access.by === "key" ? access : {}
  if (testRail === true && principal.env === "live") return undefined
  if (!kinds.includes(principal.kind)) {
    return new KeyKindNotAllowed({
      details: [
        {
          path: "authorization",
          message: "Another kind of key calls this endpoint.",
          expected: kinds.join(" or "),
          actual: principal.kind
        }
      ]
    })
  }
  if (manage === true && principal.permission !== "manage") return new ManagePermissionRequired()
  return undefined
}

type Refusal = RateLimited | NonNullable<ReturnType<typeof refusal>>

/** How many client addresses may use a publishable key to the full at once. */
const addressesPerKey = 50

/** And a site of IPv6, which has 65,536 of them. */
const addressesPerSite = 10

/** The scheme's letter case does not count (RFC 9110, 11.1). Empty where there is no such credential. */
const bearerOf = (authorization = "") => /^bearer +(.+)$/i.exec(authorization)?.[1] ?? ""

const perSecond = (rate: number): Limit => ({ rate, perSeconds: 1, burst: rate })

export const layerApiKeyAuth: Layer.Layer<ApiKeyAuth, never, KeyAuth | RateLimiter | AppConfig> =
  Layer.effect(
    ApiKeyAuth,
    Effect.gen(function* () {
      const keys = yield* KeyAuth
      const limiter = yield* RateLimiter
      const { rateLimitPerKey, trustedProxyHops } = yield* AppConfig
      const limit = perSecond(rateLimitPerKey)
      const siteLimit = perSecond(rateLimitPerKey * addressesPerSite)
      const publicLimit = perSecond(rateLimitPerKey * addressesPerKey)

      /**
       * Seconds to wait, 0 for none. Everybody has a publishable key: it is limited by the address that
       * presents it, and what is refused there takes nothing of the key's own, higher limit.
       */
      const publicWaitOf = Effect.fnUntraced(function* (keyId: string) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const client = clientAddressOf(request, trustedProxyHops)
        const site = siteOf(client)
        const wait = yield* limiter.take(`${keyId} ${client}`, limit)
        if (wait > 0) return wait
        const siteWait = site === client ? 0 : yield* limiter.take(`${keyId} ${site}`, siteLimit)
        return siteWait > 0 ? siteWait : yield* limiter.take(keyId, publicLimit)
      })
      const waitOf = ({ keyId, kind }: Principal) =>
        kind === "publishable" ? publicWaitOf(keyId) : limiter.take(keyId, limit)

      /** What is asked for, where the endpoint admits the principal, within its limits. */
      const admitted = <A, E>(
        principal: Principal,
        access: Access,
        asked: Effect.Effect<A, E, CurrentPrincipal>
      ): Effect.Effect<A, E | Refusal, HttpServerRequest.HttpServerRequest> =>
        Effect.flatMap(waitOf(principal), (wait): Effect.Effect<A, E | Refusal> => {
          const refused = wait > 0 ? new RateLimited({ retryAfter: wait }) : refusal(access, principal)
          return refused === undefined
            ? Effect.provideService(asked, CurrentPrincipal, principal)
            : Effect.fail(refused)
        })

      return ApiKeyAuth.of((httpEffect, { endpoint }) => {
        const access = accessOf(endpoint)
        return Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
          Effect.flatMap(keys.authenticate(bearerOf(headers["authorization"])), (principal) =>
            admitted(principal, access, httpEffect)
          )
        )
      })
    })
  )

/** Runs inside ApiKeyAuth, so that a live key is refused before its request is decoded. */
export const layerTestRail: Layer.Layer<TestRail> = Layer.succeed(
  TestRail,
  Effect.fnUntraced(function* (httpEffect) {
    const principal = yield* CurrentPrincipal
    if (principal.env !== "test") return yield* new LiveModeNoTestFunds()
    return yield* httpEffect
  })
)
