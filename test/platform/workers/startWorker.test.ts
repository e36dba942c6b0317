import { describe, expect } from "bun:test"
import { Effect, Scope } from "effect"
import { TestClock } from "effect/testing"
import { startPeriodic, startWorker } from "../../../src/platform/workers/startWorker.ts"
import { testEffect } from "../../support/run.ts"

const pause = Effect.sleep("10 seconds")

describe("a worker", () => {
  testEffect("continues at once while there is more, and otherwise after the pause", () =>
    Effect.gen(function* () {
      let rounds = 0
      yield* startWorker(
        "Working",
        pause,
        Effect.sync(() => ++rounds % 3 !== 0)
      )
      yield* TestClock.adjust("0 millis")
      expect(rounds).toBe(3)
      yield* TestClock.adjust("9 seconds")
      expect(rounds).toBe(3)
      yield* TestClock.adjust("1 second")
      expect(rounds).toBe(6)
    })
  )

  testEffect("survives a failure and a defect, and pauses after each", () =>
    Effect.gen(function* () {
      let rounds = 0
      yield* startPeriodic(
        "Working",
        pause,
        Effect.suspend(() => {
          rounds += 1
          return rounds === 1 ? Effect.fail("lost") : Effect.die(new Error("unexpected"))
        }),
        "Debug"
      )
      yield* TestClock.adjust("0 millis")
      expect(rounds).toBe(1)
      yield* TestClock.adjust("20 seconds")
      expect(rounds).toBe(3)
    })
  )

  testEffect("ends with its scope", () =>
    Effect.gen(function* () {
      let rounds = 0
      const scope = yield* Scope.make()
      yield* Scope.provide(
        startPeriodic(
          "Working",
          pause,
          Effect.sync(() => rounds++)
        ),
        scope
      )
      yield* TestClock.adjust("10 seconds")
      yield* Scope.close(scope, yield* Effect.exit(Effect.void))
      yield* TestClock.adjust("1 minute")
      expect(rounds).toBe(2)
    })
  )
})
