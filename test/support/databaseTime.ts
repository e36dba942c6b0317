// TestClock over a database: time moves in steps, and each step waits until the repositories are at rest.
import { Duration, Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { buildWithFaultPoints, type FaultPoint } from "./faultPoints.ts"

let running = 0
const counted: FaultPoint = (_, call) =>
  Effect.suspend(() => {
    running++
    return Effect.ensuring(
      call,
      Effect.sync(() => void running--)
    )
  })

/** Builds a layer whose statements `passes` waits for. */
export const buildOnDatabaseTime = <A, E, R>(layer: Layer.Layer<A, E, R>) =>
  buildWithFaultPoints(layer, counted)

/** The answer to a statement starts its next statement within this many turns of the event loop. */
const restingTurns = 5
const atRest = Effect.promise(async () => {
  for (let turns = 0; turns < restingTurns; turns = running === 0 ? turns + 1 : 0)
    await new Promise((resolve) => setImmediate(resolve))
})

/** Lets this much time pass. A sleep shorter than a step ends once in it. */
export const passes = (time: Duration.Input, step: Duration.Input = "1 second") =>
  Effect.gen(function* () {
    yield* atRest
    for (let left = Duration.toMillis(time); left > 0; left -= Duration.toMillis(step)) {
      yield* TestClock.adjust(Math.min(left, Duration.toMillis(step)))
      yield* atRest
    }
  })
