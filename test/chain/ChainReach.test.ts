// The block height that a payment stores when it opens.
import { expect, test } from "bun:test"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { ChainReach } from "../../src/chain/ChainReach.ts"

const run = <A>(effect: Effect.Effect<A, never, ChainReach>) =>
  Effect.runPromise(effect.pipe(Effect.provide(ChainReach.layer), Effect.provide(TestClock.layer())))

test("a height counts for half a minute after it was read, and no longer", () =>
  run(
    Effect.gen(function* () {
      const reach = yield* ChainReach
      expect(reach.openedBlock("test")).toEqual({})
      reach.reading("test")(70n, 0n)
      yield* TestClock.adjust("30 seconds")
      expect(reach.openedBlock("test")).toEqual({ openedBlock: 70n })
      expect(reach.openedBlock("live")).toEqual({})
      yield* TestClock.adjust("1 second")
      expect(reach.openedBlock("test")).toEqual({})
      reach.reading("test")(90n, 0n)
      expect(reach.openedBlock("test")).toEqual({ openedBlock: 90n })
    })
  ))

test("a late answer is as old as its request: after a suspension the process knows no height", () =>
  run(
    Effect.gen(function* () {
      const reach = yield* ChainReach
      const reached = reach.reading("test")
      yield* TestClock.adjust("31 seconds")
      reached(70n, 0n)
      expect(reach.openedBlock("test")).toEqual({})
    })
  ))

test("a chain whose newest block is five minutes old counts as halted until it makes another", () =>
  run(
    Effect.gen(function* () {
      const reach = yield* ChainReach
      yield* TestClock.setTime(1_000_000)
      reach.reading("live")(7n, 700n)
      expect(reach.haltedSince("live")).toBeUndefined()
      yield* TestClock.adjust("1 second")
      expect(reach.haltedSince("live")).toEqual(new Date(700_000))
      expect(reach.haltedSince("test")).toBeUndefined()
      reach.reading("live")(8n, 1_001n)
      expect(reach.haltedSince("live")).toBeUndefined()
      // A process that has read nothing for half a minute knows no height.
      reach.reading("live")(8n, 100n)
      yield* TestClock.adjust("31 seconds")
      expect(reach.haltedSince("live")).toBeUndefined()
    })
  ))
