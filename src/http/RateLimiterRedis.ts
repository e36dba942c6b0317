// Request limits shared by instances through Redis: the same GCRA as in memory, as
// one atomic script. Without Redis each instance limits by itself.
import { RedisClient } from "bun"
import { Clock, Effect, Layer, Redacted, Schema } from "effect"
import { RateLimiter } from "./RateLimiter.ts"

// KEYS[1]; ARGV: now, interval and burst tolerance in milliseconds. Answers the wait in milliseconds.
const script = `
local now, interval, tolerance = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local arrival = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
local wait = arrival - now - tolerance
if wait > 0 then return tostring(wait) end
redis.call('SET', KEYS[1], tostring(arrival + interval), 'PX', math.ceil(arrival + interval - now) + 1000)
return '0'
`

const Wait = Schema.FiniteFromString

/** Needs `RateLimiter.layerMemory`'s behaviour at hand for when Redis does not answer. */
export const layerRedis = (url: Redacted.Redacted<string>): Layer.Layer<RateLimiter> =>
  Layer.effect(
    RateLimiter,
    Effect.gen(function* () {
      const local = yield* RateLimiter
      const client = yield* Effect.acquireRelease(
        Effect.sync(
          () =>
            new RedisClient(Redacted.value(url), {
              connectionTimeout: 2_000,
              enableOfflineQueue: false,
              autoReconnect: true,
              maxRetries: 1_000_000
            })
        ),
        (open) => Effect.sync(() => open.close())
      )
      yield* Effect.promise(() => client.connect().catch(() => undefined))
      const decode = Schema.decodeUnknownEffect(Wait)
      let down = false

      return RateLimiter.of({
        take: Effect.fnUntraced(function* (key, limit) {
          const now = yield* Clock.currentTimeMillis
          const interval = (limit.perSeconds * 1000) / limit.rate
          const answer = Effect.tryPromise(() =>
            client.send("EVAL", [
              script,
              "1",
              `quittance:limit:${key}`,
              String(now),
              String(interval),
              String(interval * (limit.burst - 1))
            ])
          ).pipe(Effect.timeout("250 millis"), Effect.flatMap(decode))
          return yield* answer.pipe(
            Effect.map((wait) => {
              down = false
              return Math.ceil(wait / 1000)
            }),
            Effect.catch((error) => {
              const first = !down
              down = true
              return Effect.andThen(
                first
                  ? Effect.logWarning(
                      "REDIS_URL does not answer; limits hold for this instance alone until it does",
                      error
                    )
                  : Effect.void,
                local.take(key, limit)
              )
            })
          )
        })
      })
    })
  ).pipe(Layer.provide(RateLimiter.layerMemory))
