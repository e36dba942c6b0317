// effect as it is patched: contexts, services and handlers behave as they do without the patch.
import { describe, expect, test } from "bun:test"
import { Cause, Context, Effect, Exit, Fiber, References } from "effect"
import fc from "fast-check"

const keys = Array.from({ length: 8 }, (_, at) => Context.Service<number, number>(`test/patches/${at}`))
const [one, two] = [Context.Service<"one", string>("test/one"), Context.Service<"two", string>("test/two")]

/** A context, and what it holds. */
interface Modelled {
  readonly context: Context.Context<never>
  readonly held: ReadonlyMap<string, unknown>
}

const added = ({ context, held }: Modelled, at: number, value: number): Modelled => {
  const key = keys[at % keys.length]
  if (key === undefined) throw new Error("no key")
  return { context: Context.add(context, key, value), held: new Map(held).set(key.key, value) }
}

/** Each step makes a context of earlier ones: one more service, or a merge. */
const step = fc.record({
  merge: fc.boolean(),
  first: fc.nat(30),
  second: fc.nat(30),
  key: fc.nat(7),
  value: fc.nat(3)
})

describe("contexts", () => {
  test("hold what was added and merged last, however they were made", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
        const made: Array<Modelled> = [{ context: Context.empty(), held: new Map() }]
        for (const { first, key, merge, second, value } of steps) {
          const self = made[first % made.length] ?? made[0]
          const that = made[second % made.length] ?? made[0]
          if (self === undefined || that === undefined) throw new Error("no context")
          made.push(
            merge
              ? {
                  context: Context.merge(self.context, that.context),
                  held: new Map([...self.held, ...that.held])
                }
              : added(self, key, value)
          )
          const { context, held } = made.at(-1) ?? self
          for (const one of keys)
            expect(Context.getOrUndefined(context, one)).toBe(held.get(one.key) as never)
          expect(new Map(context.mapUnsafe)).toEqual(new Map(held))
        }
      }),
      { numRuns: 2_000 }
    )
  })

  test("what fibers keep of a context is the merged one's", () => {
    const level = Effect.withFiber((fiber) => Effect.succeed(fiber.cache.minimumLogLevel))
    const base = Context.make(one, "base")
    const handlers = Context.make(References.MinimumLogLevel, "Error").pipe(Context.add(two, "handlers"))
    const request = Context.add(base, one, "request")
    const seen = (context: Context.Context<"one">) =>
      Effect.runSyncWith(context)(
        Effect.all([level, Effect.provideContext(Effect.all([level, two, one]), handlers), level])
      )
    expect(seen(base)).toEqual(["Info", ["Error", "handlers", "base"], "Info"])
    for (const _ of [1, 2]) expect(seen(request)).toEqual(["Info", ["Error", "handlers", "request"], "Info"])
    const verbose = Context.add(request, References.MinimumLogLevel, "Debug")
    expect(seen(verbose)).toEqual(["Debug", ["Error", "handlers", "request"], "Debug"])
    const quiet = Context.add(request, References.CurrentLogLevel, "Warn")
    expect(
      Effect.runSyncWith(quiet)(
        Effect.provideContext(
          Effect.withFiber((fiber) => Effect.succeed(fiber.cache.logLevel)),
          handlers
        )
      )
    ).toBe("Warn")
  })
})

describe("a provided service", () => {
  const outer = Effect.provideService(one, "outer")
  const inner = <A, E>(effect: Effect.Effect<A, E, "one">) => Effect.provideService(effect, one, "inner")

  test("is given in each way of calling", () => {
    expect(Effect.runSync(Effect.provideService(one, one, "first"))).toBe("first")
    expect(Effect.runSync(one.pipe(Effect.provideService(one, "last")))).toBe("last")
    expect(Effect.runSync(Effect.provideService(one)(one, "curried"))).toBe("curried")
    expect(Effect.runSync(one.pipe(Effect.provideService(one)("piped")))).toBe("piped")
    expect(Effect.runSync(Effect.provideService(Effect.succeed(1), one, "unused"))).toBe(1)
  })

  test.each<[string, Effect.Effect<unknown, unknown, "one">]>([
    ["succeeds", one],
    ["fails", Effect.andThen(one, Effect.fail("failed"))],
    ["dies", Effect.andThen(one, Effect.die("died"))],
    [
      "throws",
      Effect.map(one, () => {
        throw new Error("thrown")
      })
    ],
    ["waits", Effect.andThen(Effect.yieldNow, one)]
  ])("is gone once what it was given to %s", async (_, effect) => {
    const after = Effect.flatMap(Effect.exit(inner(effect)), () => one)
    expect(await Effect.runPromise(outer(after))).toBe("outer")
  })

  test("is gone where what it was given to is interrupted", async () => {
    const seen: Array<string> = []
    const told = (name: string) =>
      Effect.onInterrupt(() => Effect.map(one, (value) => void seen.push(`${name} ${value}`)))
    const waiting = inner(Effect.never.pipe(told("within"))).pipe(told("without"))
    const fiber = Effect.runFork(outer(waiting))
    await Effect.runPromise(Effect.yieldNow)
    await Effect.runPromise(Fiber.interrupt(fiber))
    expect(seen).toEqual(["within inner", "without outer"])
    expect(Exit.hasInterrupts(await Effect.runPromise(Fiber.await(fiber)))).toBe(true)
  })

  test("is the fiber's own: one that is forked keeps it", async () => {
    const forked = inner(Effect.forkChild(Effect.andThen(Effect.yieldNow, one)))
    expect(await Effect.runPromise(outer(Effect.flatMap(forked, Fiber.join)))).toBe("inner")
  })
})

describe("handlers", () => {
  const counted = (...given: ReadonlyArray<unknown>) => given.length

  test("get what they handle, and nothing else", () => {
    expect(Effect.runSync(Effect.map(Effect.succeed("value"), counted))).toBe(1)
    const caught = Effect.catchCause(Effect.fail("failed"), (...given) => Effect.succeed(counted(...given)))
    expect(Effect.runSync(caught)).toBe(1)
    expect(Effect.runSync(Effect.catchCause(Effect.fail("failed"), () => Effect.succeed("none")))).toBe(
      "none"
    )
    expect(
      Effect.runSync(Effect.catch(Effect.fail("failed"), (...given) => Effect.succeed(counted(...given))))
    ).toBe(1)
  })

  test("what a handler throws is a defect", () => {
    const thrown = new Error("thrown")
    const failing = () => {
      throw thrown
    }
    const effects: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
      Effect.map(Effect.succeed(1), failing),
      Effect.catchCause(Effect.fail("failed"), failing),
      Effect.provideService(Effect.map(one, failing), one, "given")
    ]
    for (const effect of effects) {
      const exit = Effect.runSyncExit(effect)
      expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toBe(thrown)
    }
  })

  test("functions are called data first and data last", () => {
    const plus = (that: number) => (self: number) => self + that
    expect(Effect.runSync(Effect.succeed(1).pipe(Effect.map(plus(2))))).toBe(3)
    expect(Effect.runSync(Effect.map(Effect.succeed(1), plus(2)))).toBe(3)
    expect(Context.get(Context.add(one, "last")(Context.empty()), one)).toBe("last")
    expect(Context.get(Context.add(Context.empty(), one, "first"), one)).toBe("first")
  })
})
