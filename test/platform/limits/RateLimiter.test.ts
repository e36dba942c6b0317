// GCRA in memory.

import { describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { RateLimiter } from "../../../src/platform/limits/RateLimiter.ts"
import { testEffect } from "../../support/run.ts"

const limit = { rate: 10, perSeconds: 60, burst: 10 }

const takeMany = (key: string, count: number) =>
  Effect.flatMap(RateLimiter, (limiter) =>
    Effect.forEach(Array.from({ length: count }), () => limiter.take(key, limit))
  )

describe("RateLimiter in memory", () => {
  testEffect("lets the burst pass, then returns the exact wait", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter
      expect(yield* takeMany("a", 10)).toEqual(Array.from({ length: 10 }, () => 0))
      const wait = yield* limiter.take("a", limit)
      expect(wait).toBe(6)
      yield* TestClock.adjust(`${wait - 1} seconds`)
      expect(yield* limiter.take("a", limit)).toBe(1)
      yield* TestClock.adjust("1 second")
      expect(yield* limiter.take("a", limit)).toBe(0)
      expect(yield* limiter.take("a", limit)).toBe(6)
    }).pipe(Effect.provide(RateLimiter.layerMemory))
  )

  testEffect("keys are independent, and a pause restores the burst", () =>
    Effect.gen(function* () {
      yield* takeMany("a", 10)
      expect((yield* takeMany("b", 1))[0]).toBe(0)
      yield* TestClock.adjust("60 seconds")
      expect(yield* takeMany("a", 10)).toEqual(Array.from({ length: 10 }, () => 0))
    }).pipe(Effect.provide(RateLimiter.layerMemory))
  )

  testEffect("a clock that is set back costs the burst and no more", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("1 hour")
      yield* takeMany("a", 5)
      yield* TestClock.setTime(0)
      expect(yield* takeMany("a", 1)).toEqual([6])
      yield* TestClock.adjust("6 seconds")
      expect(yield* takeMany("a", 2)).toEqual([0, 6])
    }).pipe(Effect.provide(RateLimiter.layerMemory))
  )

  testEffect("over a long time the rate is exact to the request", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter
      let passed = 0
      for (let second = 0; second < 600; second++) {
        for (let count = 0; count < 3; count++) if ((yield* limiter.take("a", limit)) === 0) passed++
        yield* TestClock.adjust("1 second")
      }
      expect(passed).toBe(10 + 99)
    }).pipe(Effect.provide(RateLimiter.layerMemory))
  )
})

test("a limit of one a second waits at most a second", async () => {
  const waits = await Effect.runPromise(
    Effect.flatMap(RateLimiter, (limiter) =>
      Effect.forEach([1, 2], () => limiter.take("k", { rate: 1, perSeconds: 1, burst: 1 }))
    ).pipe(Effect.provide(RateLimiter.layerMemory))
  )
  expect(waits).toEqual([0, 1])
})
