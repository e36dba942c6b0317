// Authentication and the route table, before anything of the request is decoded.
import { Effect, Layer, Redacted } from "effect"
import { AppConfig } from "../AppConfig.ts"
import {
  InvalidApiKey,
  KeyKindNotAllowed,
  LiveModeNoTestFunds,
  ManagePermissionRequired,
  RateLimited
} from "../domain/Errors.ts"
import type { Principal } from "../domain/Merchant.ts"
import { KeyAuth } from "../keys/KeyAuth.ts"
import { Authorization, CurrentPrincipal, TestRail } from "./Authorization.ts"
import { RateLimiter } from "./RateLimiter.ts"
import { type Access, access } from "./routes.ts"

/** Why the principal may not call an endpoint of this access, or undefined where it may. */
export const refusal = (rule: Access | undefined, principal: Principal) => {
  if (rule?.testRail === true && principal.env === "live") return undefined
  if (rule === undefined || !rule.kinds.includes(principal.kind)) {
    return new KeyKindNotAllowed({
      details: [
        {
          path: "authorization",
          message: "Another kind of key calls this endpoint.",
          expected: rule?.kinds.join(" or ") ?? "none",
          actual: principal.kind
        }
      ]
    })
  }
  if (rule.manage === true && principal.permission !== "manage") return new ManagePermissionRequired()
  return undefined
}

export const layer: Layer.Layer<Authorization, never, KeyAuth | RateLimiter | AppConfig> = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const keys = yield* KeyAuth
    const limiter = yield* RateLimiter
    const { rateLimitPerKey } = yield* AppConfig
    const limit = { rate: rateLimitPerKey, perSeconds: 1, burst: rateLimitPerKey }

    return Authorization.of({
      bearer: Effect.fnUntraced(function* (httpEffect, { credential, endpoint, group }) {
        const key = Redacted.value(credential)
        if (key === "") return yield* new InvalidApiKey()
        const principal = yield* keys.authenticate(key)
        const wait = yield* limiter.take(principal.keyId, limit)
        if (wait > 0) return yield* new RateLimited({ retryAfter: wait })
        const refused = refusal(access[`${group.identifier}.${endpoint.identifier}`], principal)
        if (refused !== undefined) return yield* refused
        return yield* Effect.provideService(httpEffect, CurrentPrincipal, principal)
      })
    })
  })
)

/** Runs inside Authorization, so that a live key is refused before its request is decoded. */
export const layerTestRail: Layer.Layer<TestRail> = Layer.succeed(
  TestRail,
  Effect.fnUntraced(function* (httpEffect) {
    const principal = yield* CurrentPrincipal
    if (principal.env !== "test") return yield* new LiveModeNoTestFunds()
    return yield* httpEffect
  })
)
