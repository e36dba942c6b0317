// GCRA shared by instances through a real Redis. Needs the machine to itself, because 50 ms count.

import { describe, expect } from "bun:test"
import { RedisClient } from "bun"
import { Clock, type Context, Duration, Effect, Layer, Redacted, Schedule } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { freePort } from "../../../src/app/dev/freePort.ts"
import { RedisTimeout } from "../../../src/platform/limits/RateLimiter/RateLimiterRedis.ts"
import { RateLimiter } from "../../../src/platform/limits/RateLimiter.ts"
import { redisMissing, startRedis, startRedisAt } from "../../support/redis.ts"
import { liveEffect } from "../../support/run.ts"

const limit = { rate: 10, perSeconds: 60, burst: 10 }

/** However slow the machine is. */
const patient = Effect.provideService(RedisTimeout, "1 minute")

const takeMany = (key: string, count: number) =>
  Effect.flatMap(RateLimiter, (limiter) =>
    Effect.forEach(Array.from({ length: count }), () => limiter.take(key, limit))
  )

/**
 * The requests of both that one limit admits. Asked again with another key, because a busy machine may be too slow for
 * 50 ms, and each instance then limits by itself for a while.
 */
const admittedByBoth = (
  one: Context.Context<RateLimiter>,
  two: Context.Context<RateLimiter>
): Effect.Effect<number> => {
  let tries = 0
  return Effect.suspend(() => {
    const key = `shared ${tries++}`
    return Effect.all(
      [one, two].map((context) => Effect.provideContext(takeMany(key, 20), context)),
      { concurrency: 2 }
    )
  }).pipe(
    Effect.map((answers) => answers.flat().filter((wait) => wait === 0).length),
    Effect.delay("500 millis"),
    Effect.repeat({ until: (admitted) => admitted === 10, times: 10 })
  )
}

/** As an operator reads it. */
const limitsShared = Effect.map(
  PrometheusMetrics.format(),
  (text) => /^quittance_limits_shared (\d)/m.exec(text)?.[1]
)

describe.skipIf(redisMissing !== undefined)(
  `RateLimiter on Redis${redisMissing === undefined ? "" : `: ${redisMissing}`}`,
  () => {
    liveEffect("two instances share one limit to the request", () =>
      Effect.gen(function* () {
        const { url } = yield* startRedis
        const instance = Layer.build(RateLimiter.layerRedis(Redacted.make(url))).pipe(patient)
        const [one, two] = yield* Effect.all([instance, instance])
        const take = (context: typeof one) => Effect.provideContext(takeMany("shared", 20), context)
        const answers = (yield* Effect.all([take(one), take(two)], { concurrency: 2 })).flat()
        expect(answers.filter((wait) => wait === 0)).toHaveLength(10)
        expect(Math.max(...answers)).toBeLessThanOrEqual(6)
      })
    )

    liveEffect("an instance whose clock is behind another's admits as many as the other", () =>
      Effect.gen(function* () {
        const { url } = yield* startRedis
        const instance = Layer.build(RateLimiter.layerRedis(Redacted.make(url))).pipe(patient)
        const [one, two] = yield* Effect.all([instance, instance])
        const clock = yield* Clock.Clock
        const behind = (millis: number): Clock.Clock => ({
          sleep: (duration) => clock.sleep(duration),
          currentTimeNanos: clock.currentTimeNanos,
          currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
          monotonicTimeNanos: clock.monotonicTimeNanos,
          monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
          currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() - millis,
          currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now - millis)
        })
        const fast = { rate: 100, perSeconds: 1, burst: 100 }
        const take = Effect.flatMap(RateLimiter, (limiter) => limiter.take("skewed", fast))
        const late = take.pipe(Effect.provideContext(two), Effect.provideService(Clock.Clock, behind(5_000)))
        // In turns, as behind a balancer.
        const answers: Array<number> = []
        for (let turn = 0; turn < 20; turn++)
          answers.push(yield* Effect.provideContext(take, one), yield* late)
        expect(answers.filter((wait) => wait > 0)).toEqual([])
      })
    )

    liveEffect("a Redis whose clock was set back costs the burst and no more", () =>
      Effect.gen(function* () {
        const { url } = yield* startRedis
        const context = yield* Layer.build(RateLimiter.layerRedis(Redacted.make(url))).pipe(patient)
        const client = yield* Effect.acquireRelease(
          Effect.sync(() => new RedisClient(url)),
          (open) => Effect.sync(() => open.close())
        )
        const now = yield* Clock.currentTimeMillis
        yield* Effect.promise(() => client.set("quittance:limit:set back", String(now + 3_600_000)))
        const take = Effect.flatMap(RateLimiter, (limiter) =>
          limiter.take("set back", { rate: 10, perSeconds: 1, burst: 10 })
        )
        expect(yield* Effect.provideContext(take, context)).toBe(1)
        yield* Effect.sleep("120 millis")
        expect(yield* Effect.provideContext(take, context)).toBe(0)
      })
    )

    liveEffect("when Redis dies each instance still limits by itself", () =>
      Effect.gen(function* () {
        const { url, kill } = yield* startRedis
        const context = yield* Layer.build(RateLimiter.layerRedis(Redacted.make(url)))
        expect((yield* Effect.provideContext(takeMany("x", 1), context))[0]).toBe(0)
        yield* kill
        yield* Effect.sleep("100 millis")
        const answers = yield* Effect.provideContext(takeMany("x", 12), context)
        expect(answers.filter((wait) => wait === 0)).toHaveLength(10)
      })
    )

    liveEffect("a Redis that refuses writes is not reported as shared", () =>
      Effect.gen(function* () {
        const { url } = yield* startRedis
        const client = yield* Effect.acquireRelease(
          Effect.sync(() => new RedisClient(url)),
          (open) => Effect.sync(() => open.close())
        )
        // Like one that has become a replica in a failover, or is full.
        yield* Effect.promise(() => client.send("REPLICAOF", ["127.0.0.1", "1"]))
        const context = yield* Layer.build(RateLimiter.layerRedis(Redacted.make(url)))
        yield* Effect.provideContext(takeMany("x", 1), context)
        const seen: Array<string | undefined> = []
        for (let look = 0; look < 15; look++) {
          seen.push(yield* limitsShared)
          yield* Effect.sleep("100 millis")
        }
        expect(new Set(seen)).toEqual(new Set(["0"]))
        yield* Effect.promise(() => client.send("REPLICAOF", ["NO", "ONE"]))
        const shared = limitsShared.pipe(
          Effect.delay("100 millis"),
          Effect.repeat({ until: (said) => said === "1", times: 200 })
        )
        expect(yield* shared).toBe("1")
      })
    )

    liveEffect("an instance starts without Redis, limits by itself, and shares once Redis is back", () =>
      Effect.gen(function* () {
        const port = yield* freePort(0)
        const instance = Layer.build(RateLimiter.layerRedis(Redacted.make(`redis://127.0.0.1:${port}`)))
        const [started, [one, two]] = yield* Effect.timed(
          Effect.all([instance, instance], { concurrency: 2 })
        )
        expect(Duration.toMillis(started)).toBeLessThan(10_000)
        expect(yield* Effect.provideContext(takeMany("alone", 11), one)).toContain(6)
        expect(yield* limitsShared).toBe("0")
        yield* startRedisAt(port)
        yield* limitsShared.pipe(
          Effect.repeat({ until: (said) => said === "1", schedule: Schedule.spaced("100 millis") }),
          Effect.timeout("60 seconds")
        )
        yield* Effect.sleep("2 seconds")
        expect(yield* admittedByBoth(one, two)).toBe(10)
      })
    )

    liveEffect(
      "a Redis that freezes costs one request 50 ms, the next ones nothing, and is used again later",
      () =>
        Effect.gen(function* () {
          const { freeze, thaw, url } = yield* startRedis
          const instance = Layer.build(RateLimiter.layerRedis(Redacted.make(url)))
          const [one, two] = yield* Effect.all([instance, instance])
          const timed = (context: typeof one, key: string) =>
            Effect.timed(Effect.provideContext(takeMany(key, 1), context))
          yield* timed(one, "warm")
          yield* freeze
          const [first] = yield* timed(one, "a")
          expect(Duration.toMillis(first)).toBeWithin(40, 1_000)
          const next: Array<number> = []
          for (let request = 0; request < 20; request++) {
            const [took] = yield* timed(one, `b${request}`)
            next.push(Duration.toMillis(took))
          }
          // A busy machine may delay some of them.
          expect(next.toSorted((left, right) => left - right)[14]).toBeLessThan(45)
          yield* thaw
          yield* Effect.sleep("2500 millis")
          expect(yield* admittedByBoth(one, two)).toBe(10)
        })
    )
  }
)
