// Request limits that instances share through Redis: the same GCRA as in memory, as one atomic script. Without Redis,
// each instance limits by itself, and no request waits for Redis.

import { RedisClient } from "bun"
import { Context, Duration, Effect, Metric, Redacted, Schema } from "effect"
import type { RequestLimits } from "../RequestLimits.ts"

// KEYS[1]; ARGV: interval and burst tolerance in milliseconds. Returns the wait in milliseconds. Uses Redis's own
// clock: instances whose clocks differ by more than a burst would see each other's requests in the future.
const script = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000
local interval, tolerance = tonumber(ARGV[1]), tonumber(ARGV[2])
local known = tonumber(redis.call('GET', KEYS[1]) or now)
local arrival = math.min(math.max(known, now), now + interval + tolerance)
local wait = arrival - now - tolerance
local next = wait > 0 and arrival or arrival + interval
if wait <= 0 or arrival < known then
  redis.call('SET', KEYS[1], string.format('%.17g', next), 'PX', math.ceil(next - now) + 1000)
end
if wait > 0 then return tostring(wait) end
return '0'
`

const Wait = Schema.FiniteFromString

/** The time a request waits for Redis before it falls back to the local limit. A probe waits ten times as long. */
export const RedisTimeout = Context.Reference<Duration.Input>("quittance/platform/RedisTimeout", {
  defaultValue: () => "50 millis"
})
const probeEvery = "1 second"

const shared = Metric.gauge("quittance_limits_shared", {
  description: "1 while request limits are shared through Redis, 0 while each instance limits by itself."
})

type Shape = RequestLimits

/** Closed with the scope. */
const clientOf = (url: Redacted.Redacted<string>, autoReconnect: boolean) =>
  Effect.acquireRelease(
    Effect.sync(
      () =>
        new RedisClient(Redacted.value(url), {
          connectionTimeout: 2_000,
          enableOfflineQueue: false,
          autoReconnect,
          maxRetries: 1_000_000
        })
    ),
    (open) => Effect.sync(() => open.close())
  )

const askOf = (client: RedisClient) => (key: string, interval: number, tolerance: number) =>
  Effect.tryPromise(() =>
    client.send("EVAL", [script, "1", `quittance:limit:${key}`, String(interval), String(tolerance)])
  )

/** Always writes: a replica, or a full Redis, would still answer a PING. */
const probeOf = (client: RedisClient) => askOf(client)("probe", 1, 60_000)

/** Fails if Redis at the URL cannot hold limits. */
export const checkRedis = (url: Redacted.Redacted<string>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const client = yield* clientOf(url, false)
      yield* Effect.tryPromise(() => client.connect())
      yield* probeOf(client)
    })
  ).pipe(Effect.timeout("5 seconds"))

/** `local` limits while Redis does not respond. */
export const makeRateLimiterRedis = (url: Redacted.Redacted<string>, local: Shape) =>
  Effect.gen(function* () {
    const requestTimeout = Duration.fromInputUnsafe(yield* RedisTimeout)
    const probeTimeout = Duration.times(requestTimeout, 10)
    const client = yield* clientOf(url, true)
    // The client keeps trying without a limit; until it connects, limits are local.
    yield* Effect.promise(() => client.connect().catch(() => undefined)).pipe(
      Effect.timeoutOption(probeTimeout)
    )
    const decode = Schema.decodeUnknownEffect(Wait)
    let down = false

    const ask = askOf(client)
    const probe = Effect.timeout(probeOf(client), probeTimeout)

    /** Probes Redis until it limits again; until then, requests are limited locally. */
    const recover = probe.pipe(
      Effect.delay(probeEvery),
      Effect.eventually,
      Effect.andThen(
        Effect.suspend(() => {
          down = false
          return Metric.update(shared, 1)
        })
      ),
      Effect.andThen(
        Effect.logInfo("Redis at REDIS_URL is reachable again; rate limits are shared by all instances")
      )
    )
    const scope = yield* Effect.scope
    const lose = (error: unknown) =>
      Effect.suspend(() => {
        if (down) return Effect.void
        down = true
        return Effect.logWarning(
          "Redis at REDIS_URL is unreachable, or rejects writes; rate limits apply per instance until it recovers",
          error
        ).pipe(
          Effect.andThen(Metric.update(shared, 0)),
          Effect.andThen(Effect.forkIn(recover, scope)),
          Effect.asVoid
        )
      })
    yield* Metric.update(shared, 1)
    yield* Effect.catch(probe, lose)

    const shape: Shape = {
      take: Effect.fnUntraced(function* (key, limit) {
        if (down) return yield* local.take(key, limit)
        const interval = (limit.perSeconds * 1000) / limit.rate
        return yield* ask(key, interval, interval * (limit.burst - 1)).pipe(
          Effect.timeout(requestTimeout),
          Effect.flatMap(decode),
          Effect.map((wait) => Math.ceil(wait / 1000)),
          Effect.catch((error) => Effect.andThen(lose(error), local.take(key, limit)))
        )
      })
    }
    return shape
  })
