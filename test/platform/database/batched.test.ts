import { describe, expect, it } from "bun:test"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { batched } from "../../../src/platform/database/batched.ts"

/** Computes lengths, and records the inputs of each run. */
const recorded = Effect.gen(function* () {
  const runs: Array<ReadonlyArray<string>> = []
  const lengthOf = yield* batched((inputs: ReadonlyArray<string>) =>
    Effect.sync(() => {
      runs.push(inputs)
      return inputs.map((input) => input.length)
    })
  )
  return { runs, lengthOf }
})

const together = { concurrency: "unbounded" } as const

describe("batched", () => {
  it("runs once for all calls of one turn, and gives each its own result", () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const { runs, lengthOf } = yield* recorded
        expect(yield* Effect.forEach(["one", "three", "one"], lengthOf, together)).toEqual([3, 5, 3])
        expect(runs).toEqual([["one", "three", "one"]])
      })
    ))

  it("caches nothing: the same input runs again in a later turn", () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const { runs, lengthOf } = yield* recorded
        yield* lengthOf("one")
        yield* lengthOf("one")
        expect(runs).toEqual([["one"], ["one"]])
      })
    ))

  it("does not wait for a running batch: later calls run on their own", () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const answer = yield* Deferred.make<void, never>()
        const runs: Array<ReadonlyArray<string>> = []
        const runOf = yield* batched((inputs: ReadonlyArray<string>) => {
          const run = runs.push(inputs)
          const outputs = Effect.succeed(inputs.map(() => run))
          return run === 1 ? Effect.andThen(Deferred.await(answer), outputs) : outputs
        })
        const first = yield* Effect.forkChild(runOf("one"))
        while (runs.length === 0) yield* Effect.yieldNow
        expect(yield* runOf("one")).toBe(2)
        yield* Deferred.succeed(answer, undefined)
        expect(yield* Fiber.join(first)).toBe(1)
      })
    ))

  it("fails all calls of a failed turn, and works again afterwards", () =>
    Effect.runPromise(
      Effect.gen(function* () {
        let down = true
        const run = yield* batched((inputs: ReadonlyArray<string>) =>
          Effect.suspend(() => (down ? Effect.fail("down") : Effect.succeed(inputs)))
        )
        const exits = yield* Effect.forEach(["one", "two"], (input) => Effect.exit(run(input)), together)
        expect(exits).toEqual([Exit.fail("down"), Exit.fail("down")])
        down = false
        expect(yield* run("one")).toBe("one")
      })
    ))

  it("lets one waiting call be interrupted without the others", () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const { lengthOf } = yield* recorded
        const gone = yield* Effect.forkChild(lengthOf("one"))
        const stays = yield* Effect.forkChild(lengthOf("three"))
        yield* Effect.yieldNow
        yield* Fiber.interrupt(gone)
        expect(yield* Fiber.join(stays)).toBe(5)
      })
    ))
})
