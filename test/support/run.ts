// Runs an Effect as a bun test: `testEffect` under TestClock, `liveEffect` in real time.
import { test } from "bun:test"
import { Effect, type Scope } from "effect"
import { TestClock } from "effect/testing"

/** Time stands still until the test moves it with `TestClock.adjust`. */
export const testEffect = <E>(
  name: string,
  effect: () => Effect.Effect<unknown, E, Scope.Scope>,
  timeoutMillis = 60_000
): void =>
  test(
    name,
    () => Effect.runPromise(Effect.scoped(effect()).pipe(Effect.provide(TestClock.layer()), Effect.asVoid)),
    timeoutMillis
  )

export const liveEffect = <E>(
  name: string,
  effect: () => Effect.Effect<unknown, E, Scope.Scope>,
  timeoutMillis = 60_000
): void => test(name, () => Effect.runPromise(Effect.scoped(effect()).pipe(Effect.asVoid)), timeoutMillis)
