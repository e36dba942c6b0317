// When a delivery is tried again: 1 minute after the first failure, 4 minutes after the second, then never
// (docs/contract.md 6.3): `finish` in ../WebhookRepo/claimsSql.ts raises `webhook_exhausted`. The delays are
// read off the Schedule and stored, so that a restart loses nothing.
import { Duration, Effect, Option, Schedule } from "effect"

/** Delays after the first and the second failed attempt. */
export const retryPolicy = Schedule.upTo(Schedule.exponential("1 minute", 4), { times: 2 })

/** The delay after a delivery's `attempts`-th attempt failed, counted from its end; none when it was the last. */
export const delayAfter = (attempts: number): Effect.Effect<Option.Option<Duration.Duration>> =>
  Effect.gen(function* () {
    const step = yield* Schedule.toStep(retryPolicy)
    let delay = Duration.zero
    for (let attempt = 1; attempt <= attempts; attempt++) {
      delay = (yield* step(0, undefined))[1]
    }
    return Option.some(delay)
  }).pipe(Effect.catch(() => Effect.succeedNone))
