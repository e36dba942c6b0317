// The height that a payment notes when it opens.
import { expect, test } from "bun:test"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { ChainReach } from "../../src/chain/ChainReach.ts"

const run = <A>(effect: Effect.Effect<A, never, ChainReach>) =>
  Effect.runPromise(effect.pipe(Effect.provide(ChainReach.layer), Effect.provide(TestClock.layer())))

test("a height is noted for half a minute after it was read, and no longer", () =>
  run(
    Effect.gen(function* () {
      const reach = yield* ChainReach
      expect(reach.openedBlock("test")).toEqual({})
      reach.reading("test")(70n)
      yield* TestClock.adjust("30 seconds")
      expect(reach.openedBlock("test")).toEqual({ openedBlock: 70n })
      expect(reach.openedBlock("live")).toEqual({})
      yield* TestClock.adjust("1 second")
      expect(reach.openedBlock("test")).toEqual({})
      reach.reading("test")(90n)
      expect(reach.openedBlock("test")).toEqual({ openedBlock: 90n })
    })
  ))

test("what is answered late is as old as the question: a process that was suspended meanwhile knows no height", () =>
  run(
    Effect.gen(function* () {
      const reach = yield* ChainReach
      const reached = reach.reading("test")
      yield* TestClock.adjust("31 seconds")
      reached(70n)
      expect(reach.openedBlock("test")).toEqual({})
    })
  ))
