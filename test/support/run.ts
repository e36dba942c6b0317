// Runs an Effect as a bun test: `testEffect` under TestClock, `liveEffect` in real time.
import { test } from "bun:test"
import { Effect, type Scope } from "effect"
import { TestClock } from "effect/testing"

/** Time stands still until the test moves it with `TestClock.adjust`. */
export const testEffect = <E>(
  name: string,
  effect: () => Effect.Effect<unknown, E, Scope.Scope>,
  timeoutMillis = 180_000
): void =>
  test(
    name,
    () => Effect.runPromise(Effect.scoped(effect()).pipe(Effect.provide(TestClock.layer()), Effect.asVoid)),
    timeoutMillis
  )

/** Like `liveEffect`, only with FAULTS=all: its waits are too long for every run. */
export const longFault = <E>(
  name: string,
  effect: () => Effect.Effect<unknown, E, Scope.Scope>,
  timeoutMillis = 180_000
): void =>
  process.env["FAULTS"] === "all"
    ? liveEffect(name, effect, timeoutMillis)
    : test.skip(`${name} (FAULTS=all: it waits for long)`, () => {})

export const liveEffect = <E>(
  name: string,
  effect: () => Effect.Effect<unknown, E, Scope.Scope>,
  timeoutMillis = 180_000
): void => test(name, () => Effect.runPromise(Effect.scoped(effect()).pipe(Effect.asVoid)), timeoutMillis)
