// The limit of a publishable key. Anyone can have the key, so it counts by client address.
import { Effect } from "effect"
import { AppConfig } from "../AppConfig.ts"
import { RateLimiter } from "../limits/RateLimiter.ts"
import { makeAddressLimit, perSecond } from "./makeAddressLimit.ts"

/** The number of client addresses that may use a publishable key to its full limit at once. */
const addressesPerKey = 50

/**
 * Takes one request of the key. Returns the seconds to wait, 0 for none. A request that is refused for its address
 * does not count towards the key's own, higher limit.
 */
export const makePublishableLimit = Effect.gen(function* () {
  const limiter = yield* RateLimiter
  const { rateLimitPerKey } = yield* AppConfig
  const waitOf = yield* makeAddressLimit
  const publicLimit = perSecond(rateLimitPerKey * addressesPerKey)
  return Effect.fnUntraced(function* (keyId: string) {
    const wait = yield* waitOf(keyId)
    return wait > 0 ? wait : yield* limiter.take(keyId, publicLimit)
  })
})
