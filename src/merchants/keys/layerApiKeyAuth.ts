// Authenticates the request and checks the endpoint's access before anything else of the request is decoded.

import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import {
  KeyKindNotAllowed,
  LiveModeNoTestFunds,
  ManagePermissionRequired,
  RateLimited
} from "../../domain/Errors.ts"
import type { Principal } from "../../domain/Merchant.ts"
import { hasFaucet } from "../../domain/networks.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { type Access, accessOf } from "../../platform/http/Access.ts"
import { ApiKeyAuth, CurrentPrincipal, TestRail } from "../../platform/http/ApiKeyAuth.ts"
import { makePublishableLimit } from "../../platform/http/makePublishableLimit.ts"
import { RateLimiter } from "../../platform/limits/RateLimiter.ts"
import type { Limit } from "../../platform/limits/RequestLimits.ts"
import { KeyAuth } from "./KeyAuth.ts"

/** The reason why the principal may not call an endpoint with this access; undefined if it may. */
export const refusal = (access: Access, principal: Principal) => {
  const kinds = access.by === "key" ? access.kinds : []
  const { manage, testRail } = access.by === "key" ? access : {}
  if (testRail === true && !hasFaucet(principal.env)) return undefined
  if (!kinds.includes(principal.kind)) {
    return new KeyKindNotAllowed({
      details: [
        {
          path: "authorization",
          message: "This endpoint requires another kind of key.",
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

/** Ignores the case of the scheme (RFC 9110, 11.1). Empty if there is no such credential. */
const bearerOf = (authorization = "") => /^bearer +(.+)$/i.exec(authorization)?.[1] ?? ""

export const layerApiKeyAuth: Layer.Layer<ApiKeyAuth, never, KeyAuth | RateLimiter | AppConfig> =
  Layer.effect(
    ApiKeyAuth,
    Effect.gen(function* () {
      const keys = yield* KeyAuth
      const limiter = yield* RateLimiter
      const { rateLimitPerKey } = yield* AppConfig
      const limit: Limit = { rate: rateLimitPerKey, perSeconds: 1, burst: rateLimitPerKey }
      const publishableWaitOf = yield* makePublishableLimit
      const waitOf = ({ keyId, kind }: Principal) =>
        kind === "publishable" ? publishableWaitOf(keyId) : limiter.take(keyId, limit)

      /** Runs the request if the endpoint admits the principal, within its limits. */
      const admitted = <A, E>(
        principal: Principal,
        access: Access,
        handler: Effect.Effect<A, E, CurrentPrincipal>
      ): Effect.Effect<A, E | Refusal, HttpServerRequest.HttpServerRequest> =>
        Effect.flatMap(waitOf(principal), (wait): Effect.Effect<A, E | Refusal> => {
          const refused = wait > 0 ? new RateLimited({ retryAfter: wait }) : refusal(access, principal)
          return refused === undefined
            ? Effect.provideService(handler, CurrentPrincipal, principal)
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

/** Runs inside ApiKeyAuth, so that a key without test funds is refused before its request is decoded. */
export const layerTestRail: Layer.Layer<TestRail> = Layer.succeed(
  TestRail,
  Effect.fnUntraced(function* (httpEffect) {
    const principal = yield* CurrentPrincipal
    if (!hasFaucet(principal.env)) return yield* new LiveModeNoTestFunds()
    return yield* httpEffect
  })
)
