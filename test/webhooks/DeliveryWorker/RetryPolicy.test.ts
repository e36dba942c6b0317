import { describe, expect } from "bun:test"
import { Clock, Duration, Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import { delayAfter, retryPolicy } from "../../../src/webhooks/DeliveryWorker/RetryPolicy.ts"
import { testEffect } from "../../support/run.ts"

describe("the retry policy", () => {
  testEffect("makes three attempts: at once, after one minute, after four more", () =>
    Effect.gen(function* () {
      const at: Array<number> = []
      const attempt = Effect.andThen(
        Effect.map(Clock.currentTimeMillis, (now) => at.push(now)),
        Effect.fail("refused")
      )
      const fiber = yield* Effect.forkChild(Effect.exit(Effect.retry(attempt, retryPolicy)))
      yield* TestClock.adjust("1 hour")
      yield* Fiber.join(fiber)
      expect(at.map((one) => one - (at[0] ?? 0))).toEqual([0, 60_000, 300_000])
    })
  )

  testEffect("stores the same delays", () =>
    Effect.gen(function* () {
      const delays = yield* Effect.forEach([1, 2, 3, 4], delayAfter)
      expect(delays.map((delay) => Option.getOrUndefined(Option.map(delay, Duration.toMillis)))).toEqual([
        60_000,
        240_000,
        undefined,
        undefined
      ])
    })
  )
})
