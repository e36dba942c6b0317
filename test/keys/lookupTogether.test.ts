import { describe, expect, it } from "bun:test"
import { Deferred, Effect, Exit, Fiber, Option } from "effect"
import { lookupTogether } from "../../src/keys/lookupTogether.ts"

/** A lookup of lengths that keeps what each statement was asked for. */
const recorded = Effect.gen(function* () {
  const statements: Array<ReadonlyArray<string>> = []
  const find = yield* lookupTogether((keys) =>
    Effect.sync(() => {
      statements.push(keys)
      return new Map(keys.filter((key) => key !== "unknown").map((key) => [key, key.length]))
    })
  )
  return { statements, find }
})

describe("lookupTogether", () => {
  it("asks once for all of a turn, and for each key once", () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const { statements, find } = yield* recorded
        const asked = ["one", "three", "unknown", "one"]
        const found = yield* Effect.forEach(asked, find, { concurrency: "unbounded" })
        expect(found).toEqual([Option.some(3), Option.some(5), Option.none(), Option.some(3)])
        expect(statements).toEqual([["one", "three", "unknown"]])
      })
    ))

  it("keeps nothing: the same key is asked for again", () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const { statements, find } = yield* recorded
        yield* find("one")
        yield* find("one")
        expect(statements).toEqual([["one"], ["one"]])
      })
    ))

  it("sends a question that comes while a statement is under way by itself", () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const answer = yield* Deferred.make<void, never>()
        const statements: Array<ReadonlyArray<string>> = []
        const find = yield* lookupTogether((keys) => {
          statements.push(keys)
          const found = Effect.succeed(new Map(keys.map((key) => [key, statements.length])))
          return statements.length === 1 ? Effect.andThen(Deferred.await(answer), found) : found
        })
        const first = yield* Effect.forkChild(find("one"))
        while (statements.length === 0) yield* Effect.yieldNow
        expect(yield* find("one")).toEqual(Option.some(2))
        yield* Deferred.succeed(answer, undefined)
        yield* Fiber.join(first)
        expect(statements).toEqual([["one"], ["one"]])
      })
    ))

  it("fails all that wait for a statement that fails, and goes on", () =>
    Effect.runPromise(
      Effect.gen(function* () {
        let down = true
        const find = yield* lookupTogether((keys) =>
          Effect.suspend(() =>
            down ? Effect.die(new Error("down")) : Effect.succeed(new Map(keys.map((key) => [key, 1])))
          )
        )
        const exits = yield* Effect.forEach(["one", "two"], (key) => Effect.exit(find(key)), {
          concurrency: "unbounded"
        })
        expect(exits.map((exit) => Exit.hasDies(exit))).toEqual([true, true])
        down = false
        expect(yield* find("one")).toEqual(Option.some(1))
      })
    ))

  it("lets one that waits be interrupted without the others", () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const { find } = yield* recorded
        const gone = yield* Effect.forkChild(find("one"))
        const stays = yield* Effect.forkChild(find("one"))
        yield* Effect.yieldNow
        yield* Fiber.interrupt(gone)
        expect(yield* Fiber.join(stays)).toEqual(Option.some(3))
      })
    ))
})
