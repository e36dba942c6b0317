// The block height that a payment stores when it opens.
import { expect, test } from "bun:test"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { ChainHeights } from "../../src/chain/ChainHeights.ts"

const run = <A>(effect: Effect.Effect<A, never, ChainHeights>) =>
  Effect.runPromise(effect.pipe(Effect.provide(ChainHeights.layer), Effect.provide(TestClock.layer())))

test("a height counts for half a minute after it was read, and no longer", () =>
  run(
    Effect.gen(function* () {
      const chainHeights = yield* ChainHeights
      expect(chainHeights.openedBlock("test")).toEqual({})
      chainHeights.beginReading("test")(70n, 0n)
      yield* TestClock.adjust("30 seconds")
      expect(chainHeights.openedBlock("test")).toEqual({ openedBlock: 70n })
      expect(chainHeights.openedBlock("live")).toEqual({})
      yield* TestClock.adjust("1 second")
      expect(chainHeights.openedBlock("test")).toEqual({})
      chainHeights.beginReading("test")(90n, 0n)
      expect(chainHeights.openedBlock("test")).toEqual({ openedBlock: 90n })
    })
  ))

test("a late answer is as old as its request: after a suspension the process knows no height", () =>
  run(
    Effect.gen(function* () {
      const chainHeights = yield* ChainHeights
      const recordHeight = chainHeights.beginReading("test")
      yield* TestClock.adjust("31 seconds")
      recordHeight(70n, 0n)
      expect(chainHeights.openedBlock("test")).toEqual({})
    })
  ))

test("a chain whose newest block is five minutes old counts as halted until it makes another", () =>
  run(
    Effect.gen(function* () {
      const chainHeights = yield* ChainHeights
      yield* TestClock.setTime(1_000_000)
      chainHeights.beginReading("live")(7n, 700n)
      expect(chainHeights.haltedSince("live")).toBeUndefined()
      yield* TestClock.adjust("1 second")
      expect(chainHeights.haltedSince("live")).toEqual(new Date(700_000))
      expect(chainHeights.haltedSince("test")).toBeUndefined()
      chainHeights.beginReading("live")(8n, 1_001n)
      expect(chainHeights.haltedSince("live")).toBeUndefined()
      // A process that has read nothing for half a minute knows no height.
      chainHeights.beginReading("live")(8n, 100n)
      yield* TestClock.adjust("31 seconds")
      expect(chainHeights.haltedSince("live")).toBeUndefined()
    })
  ))
