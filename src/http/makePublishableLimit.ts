// The limit of a publishable key. Everybody has it, so that it counts by the address that presents it.
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { AppConfig } from "../AppConfig.ts"
import { type Limit, RateLimiter } from "../limits/RateLimiter.ts"
import { clientAddressOf, siteOf } from "./RequestContext.ts"

/** How many client addresses may use a publishable key to the full at once. */
const addressesPerKey = 50

/** And a site of IPv6, which has 65,536 of them. */
const addressesPerSite = 10

const perSecond = (rate: number): Limit => ({ rate, perSeconds: 1, burst: rate })

/**
 * Takes one request of the key; seconds to wait, 0 for none. What is refused to an address takes nothing of the
 * key's own, higher limit.
 */
export const makePublishableLimit = Effect.gen(function* () {
  const limiter = yield* RateLimiter
  const { rateLimitPerKey, trustedProxyHops } = yield* AppConfig
  const limit = perSecond(rateLimitPerKey)
  const siteLimit = perSecond(rateLimitPerKey * addressesPerSite)
  const publicLimit = perSecond(rateLimitPerKey * addressesPerKey)
  return Effect.fnUntraced(function* (keyId: string) {
    const request = yield* HttpServerRequest.HttpServerRequest
    const client = clientAddressOf(request, trustedProxyHops)
    const site = siteOf(client)
    const wait = yield* limiter.take(`${keyId} ${client}`, limit)
    if (wait > 0) return wait
    const siteWait = site === client ? 0 : yield* limiter.take(`${keyId} ${site}`, siteLimit)
    return siteWait > 0 ? siteWait : yield* limiter.take(keyId, publicLimit)
  })
})
