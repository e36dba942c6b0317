// The work that runs in each turn of the event loop.
import { expect, test } from "bun:test"
import { Effect, Fiber } from "effect"
import { LoopTurns } from "../../../src/platform/workers/LoopTurns.ts"

/** Works for longer than recoveries may take of a turn. */
const work = () => {
  const until = performance.now() + 1.5
  while (performance.now() < until);
}

const turnOf = Effect.promise(() => new Promise<void>((done) => setImmediate(done)))

test("long work is split into turns, in order, and other work runs in between", () =>
  Effect.gen(function* () {
    const { take } = new LoopTurns()
    const seen: Array<string> = []
    const fibers = ["a", "b", "c"].map((name) =>
      Effect.runFork(
        Effect.andThen(
          take,
          Effect.sync(() => {
            seen.push(name)
            work()
          })
        )
      )
    )
    expect(seen).toEqual(["a"])
    for (let turn = 0; turn < 4; turn++) {
      seen.push("other")
      yield* turnOf
    }
    yield* Effect.forEach(fibers, Fiber.join)
    expect(seen.filter((name) => name !== "other")).toEqual(["a", "b", "c"])
    expect(seen.indexOf("b")).toBeGreaterThan(seen.indexOf("other"))
    expect(seen.slice(seen.indexOf("b") + 1, seen.indexOf("c"))).toContain("other")
  }).pipe(Effect.runPromise))

test("a cancelled caller delays nobody", () =>
  Effect.gen(function* () {
    const { take } = new LoopTurns()
    const first = Effect.runFork(Effect.andThen(take, Effect.sync(work)))
    const gone = Effect.runFork(take)
    const last = Effect.runFork(take)
    yield* Fiber.interrupt(gone)
    yield* Fiber.join(first)
    yield* Fiber.join(last)
  }).pipe(Effect.timeout("2 seconds"), Effect.runPromise))
