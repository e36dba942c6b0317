// Rate limits for endpoints that need only a URL, counted by client address.
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { AppConfig } from "../AppConfig.ts"
import { RateLimiter } from "../limits/RateLimiter.ts"
import type { Limit } from "../limits/RequestLimits.ts"
import { clientAddressOf, siteOf } from "./RequestContext.ts"

/** The number of addresses of an IPv6 site (a /48 with 65,536 networks) that may use their full limit at once. */
const addressesPerSite = 10

export const perSecond = (rate: number): Limit => ({ rate, perSeconds: 1, burst: rate })

/** Takes one request of the current client under the name. Returns the seconds to wait, 0 for none. */
export const makeAddressLimit = Effect.gen(function* () {
  const limiter = yield* RateLimiter
  const { rateLimitPerKey, trustedProxyHops } = yield* AppConfig
  const limit = perSecond(rateLimitPerKey)
  const siteLimit = perSecond(rateLimitPerKey * addressesPerSite)
  return Effect.fnUntraced(function* (name: string) {
    const request = yield* HttpServerRequest.HttpServerRequest
    const client = clientAddressOf(request, trustedProxyHops)
    const site = siteOf(client)
    const wait = yield* limiter.take(`${name} ${client}`, limit)
    if (wait > 0) return wait
    return site === client ? 0 : yield* limiter.take(`${name} ${site}`, siteLimit)
  })
})
