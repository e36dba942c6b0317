import { describe, expect } from "bun:test"
import { Clock, Duration, Effect, Fiber, Option, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { attemptsInWords } from "../../src/domain/attemptsInWords.ts"
import { afterDelays, delayAfter, delaySeconds } from "../../src/platform/workers/RetrySchedule.ts"
import { RetryPolicy } from "../../src/webhooks/RetryPolicy.ts"
import { testEffect } from "../support/run.ts"

describe("the retry policy", () => {
  testEffect("makes three attempts: at once, after one minute, and after four more", () =>
    Effect.gen(function* () {
      const at: Array<number> = []
      const attempt = Effect.andThen(
        Effect.map(Clock.currentTimeMillis, (now) => at.push(now)),
        Effect.fail("refused")
      )
      const fiber = yield* Effect.forkChild(Effect.exit(Effect.retry(attempt, yield* RetryPolicy)))
      yield* TestClock.adjust("1 hour")
      yield* Fiber.join(fiber)
      expect(at.map((one) => one - (at[0] ?? 0))).toEqual([0, 60_000, 300_000])
    })
  )

  testEffect("computes the same delays in SQL", () =>
    Effect.gen(function* () {
      const policy = yield* RetryPolicy
      const delays = yield* Effect.forEach([1, 2, 3, 4], (attempts) => delayAfter(policy, attempts))
      expect(delays.map((delay) => Option.getOrUndefined(Option.map(delay, Duration.toMillis)))).toEqual([
        60_000,
        240_000,
        undefined,
        undefined
      ])
    })
  )

  testEffect("ends when its total time is over", () =>
    Effect.gen(function* () {
      const bounded = Schedule.upTo(Schedule.spaced("1 minute"), { duration: "5 minutes" })
      expect((yield* delaySeconds(bounded)).every((seconds) => seconds === 60)).toBeTrue()
      expect((yield* delaySeconds(bounded)).length).toBeWithin(4, 7)
    })
  )

  testEffect("is described in words, for documents and dashboard", () =>
    Effect.gen(function* () {
      const words = Effect.fnUntraced(function* (schedule: typeof RetryPolicy.Service) {
        return attemptsInWords(yield* delaySeconds(schedule))
      })
      expect(yield* words(yield* RetryPolicy)).toBe(
        "3 attempts: at once, after 1 minute, then after 4 minutes"
      )
      expect(yield* words(afterDelays())).toBe("1 attempt, at once")
      expect(yield* words(afterDelays("90 seconds", "2 hours"))).toBe(
        "3 attempts: at once, after 90 seconds, then after 2 hours"
      )
    })
  )
})
