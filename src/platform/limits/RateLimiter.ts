// Request limits by GCRA: each key of a limit may burst, then continues at the rate. Per instance in memory, or shared
// through Redis.
import { Clock, Context, Effect, Layer, Option, type Redacted } from "effect"
import { AppConfig } from "../AppConfig.ts"
import { checkRedis, makeRateLimiterRedis } from "./RateLimiter/RateLimiterRedis.ts"
import type { RequestLimits } from "./RequestLimits.ts"

export class RateLimiter extends Context.Service<RateLimiter, RequestLimits>()(
  "quittance/platform/RateLimiter"
) {
  static readonly layerMemory: Layer.Layer<RateLimiter> = Layer.sync(RateLimiter, () => {
    // Theoretical arrival times in milliseconds, dropped once they are past.
    const arrivals = new Map<string, number>()
    let nextSweep = 0
    const sweep = (now: number) => {
      if (now < nextSweep) return
      nextSweep = now + 10_000
      for (const [key, arrival] of arrivals) if (arrival < now) arrivals.delete(key)
    }
    return RateLimiter.of({
      take: (key, { rate, perSeconds, burst }) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          sweep(now)
          const interval = (perSeconds * 1000) / rate
          const before = arrivals.get(key) ?? now
          // Never further ahead than a full burst leaves it, so a clock that is set back limits nobody for long.
          const arrival = Math.min(Math.max(before, now), now + interval * burst)
          const wait = arrival - now - interval * (burst - 1)
          if (wait > 0) {
            if (arrival < before) arrivals.set(key, arrival)
            return Math.ceil(wait / 1000)
          }
          arrivals.set(key, arrival + interval)
          return 0
        })
    })
  })

  /** Shared by all instances with the same Redis; per instance while it does not respond. */
  static readonly layerRedis = (url: Redacted.Redacted<string>): Layer.Layer<RateLimiter> =>
    Layer.effect(
      RateLimiter,
      Effect.flatMap(RateLimiter, (local) => makeRateLimiterRedis(url, local))
    ).pipe(Layer.provide(RateLimiter.layerMemory))

  /** Fails if Redis at the URL cannot hold limits. */
  static readonly checkRedis = checkRedis

  /** Through REDIS_URL, if it is set. */
  static readonly layer: Layer.Layer<RateLimiter, never, AppConfig> = Layer.unwrap(
    Effect.map(AppConfig, ({ redisUrl }) =>
      Option.match(redisUrl, {
        onNone: () => RateLimiter.layerMemory,
        onSome: RateLimiter.layerRedis
      })
    )
  )
}
