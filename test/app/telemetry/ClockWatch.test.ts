// A wrong clock raises an alert: compared with the database's in both directions, and with the chain's by its newest
// blocks, but never because a chain halts.
import { describe, expect, test } from "bun:test"
import { Clock, DateTime, Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as ClockWatch from "../../../src/app/telemetry/ClockWatch.ts"
import { ChainVerifier } from "../../../src/chain/ChainVerifier.ts"
import { Alerts } from "../../../src/platform/alerts/Alerts.ts"
import { ClockRepo } from "../../../src/platform/database/ClockRepo.ts"
import { secondsAhead } from "../../../src/platform/database/DatabaseClock.ts"
import { testEffect } from "../../support/run.ts"

const start = 1_800_000_000

const watch = Effect.fnUntraced(function* (
  times: { database: number; block: number },
  raisedAt = new Map<string, Date>()
) {
  const open = new Map<string, string>()
  let height = 1n
  const verifier = yield* Layer.build(ChainVerifier.layerMemory)
  const services = Layer.mergeAll(
    Layer.succeed(Alerts, {
      raise: ({ subject, message }) =>
        Effect.map(DateTime.nowAsDate, (at) => {
          open.set(subject, message)
          if (!raisedAt.has(subject)) raisedAt.set(subject, at)
        }),
      resolve: (_kind, subject, before) =>
        Effect.sync(() => {
          const at = raisedAt.get(subject)
          if (at !== undefined && before !== undefined && at >= before) return
          raisedAt.delete(subject)
          open.delete(subject)
        })
    }),
    Layer.succeed(ClockRepo, {
      now: Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis + times.database * 1000))
    }),
    Layer.effect(
      ChainVerifier,
      Effect.map(ChainVerifier, (chain) =>
        ChainVerifier.of({
          ...chain,
          headBlock: () =>
            Effect.map(Clock.currentTimeMillis, (millis) => ({
              number: height,
              time: BigInt(Math.floor(millis / 1000) + times.block)
            }))
        })
      )
    ).pipe(Layer.provide(Layer.succeedContext(verifier)))
  )
  yield* Layer.build(ClockWatch.layer.pipe(Layer.provide(services)))
  return {
    open,
    /** Lets ten seconds pass, with blocks or without. */
    look: (blocks: bigint) =>
      Effect.suspend(() => {
        height += blocks
        return TestClock.adjust("30 seconds")
      })
  }
})

describe("clocks", () => {
  testEffect("a right clock raises nothing", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(start * 1000)
      const { look, open } = yield* watch({ database: 0, block: -2 })
      for (let round = 0; round < 5; round++) yield* look(5n)
      expect([...open]).toEqual([])
    })
  )

  testEffect(
    "a clock more than 20 s from the database's raises an alert, which closes once the clock is right",
    () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(start * 1000)
        const times = { database: -25, block: 0 }
        const { look, open } = yield* watch(times)
        yield* look(5n)
        expect(open.get("database")).toContain("25 s ahead of")
        times.database = 40
        yield* look(5n)
        expect(open.get("database")).toContain("40 s behind")
        times.database = 19
        yield* look(5n)
        expect(open.has("database")).toBe(false)
      })
  )

  testEffect(
    "of two instances that share an alert, a right one closes it after the wrong one has stopped",
    () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(start * 1000)
        const shared = new Map<string, Date>()
        const wrong = yield* Scope.make()
        yield* Scope.provide(watch({ database: -60, block: 0 }, shared), wrong)
        const right = yield* watch({ database: 0, block: 0 }, shared)
        // While the wrong instance runs, a right one hardly hides it: closed at most four times a day, raised again
        // within half a minute.
        let closed = 0
        for (let half = 0; half < 2 * 60 * 24; half++) {
          yield* right.look(5n)
          if (!shared.has("database")) closed += 1
        }
        expect(closed).toBeLessThanOrEqual(4)
        yield* Scope.close(wrong, Exit.void)
        for (let half = 0; half < 2 * 60 * 7; half++) yield* right.look(5n)
        expect(shared.has("database")).toBeFalse()
      })
  )

  testEffect("new blocks that are old or in the future raise an alert; a halted chain does not", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(start * 1000)
      const times = { database: 0, block: -90 }
      const { look, open } = yield* watch(times)
      yield* look(0n)
      yield* look(0n)
      expect(open.has("chain test")).toBe(false)
      yield* look(5n)
      expect(open.get("chain test")).toContain("ahead of")
      times.block = 60
      yield* look(5n)
      expect(open.get("chain test")).toContain("behind")
    })
  )

  test("the time between two readings of our own clock is no difference", () => {
    expect(secondsAhead(1_000, 5_000, 3_000)).toBe(0)
    expect(secondsAhead(10_000, 11_000, 4_000)).toBe(6)
    expect(secondsAhead(1_000, 2_000, 9_000)).toBe(-7)
  })
})
