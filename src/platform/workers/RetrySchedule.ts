// Retries of work that is stored as a row: a worker takes the delay from a Schedule and stores when the row is due
// again, so that a restart loses nothing.
import { Duration, Effect, Option, Schedule } from "effect"
import { plusMillis } from "../../domain/plusMillis.ts"

export type RetrySchedule = Schedule.Schedule<unknown, unknown>

/** Retries once after each of these delays. */
export const afterDelays = (...delays: ReadonlyArray<Duration.Input>): RetrySchedule =>
  Schedule.addDelay(Schedule.recurs(delays.length), ({ attempt }) => Effect.succeed(delays[attempt - 1] ?? 0))

/** The delay after the `attempts`-th failed attempt, counted from its end; none if it was the last. */
export const delayAfter = (
  schedule: RetrySchedule,
  attempts: number
): Effect.Effect<Option.Option<Duration.Duration>> =>
  Effect.gen(function* () {
    const step = yield* Schedule.toStep(schedule)
    let delay = Duration.zero
    // Elapsed time as the schedule sees it, so that a schedule with a time limit ends.
    let elapsedMillis = 0
    for (let attempt = 1; attempt <= attempts; attempt++) {
      delay = (yield* step(elapsedMillis, undefined))[1]
      elapsedMillis += Duration.toMillis(delay)
    }
    return Option.some(delay)
  }).pipe(Effect.catch(() => Effect.succeedNone))

/** The time of the next attempt after the `attempts`-th failed at `at`; null after the last. */
export const dueAfter = (schedule: RetrySchedule, attempts: number, at: Date): Effect.Effect<Date | null> =>
  Effect.map(
    delayAfter(schedule, attempts),
    Option.match({ onNone: () => null, onSome: (delay) => plusMillis(at, Duration.toMillis(delay)) })
  )

/** The most delays shown of a schedule without an end. */
const maxShown = 20

/** The delays of a schedule in seconds, for documents. */
export const delaySeconds = (schedule: RetrySchedule): Effect.Effect<ReadonlyArray<number>> =>
  Effect.map(
    Effect.forEach(
      Array.from({ length: maxShown }, (_, index) => index + 1),
      (attempts) => delayAfter(schedule, attempts)
    ),
    (delays) =>
      delays.flatMap(Option.match({ onNone: () => [], onSome: (delay) => [Duration.toSeconds(delay)] }))
  )
