// A worker: does its work for as long as its scope lives, whatever becomes of one round of it.
import { Effect, type Scope } from "effect"

/** `work` is repeated at once while it says that there is more, and otherwise after `pause`. */
export const supervised = <E, R>(
  what: string,
  pause: Effect.Effect<void>,
  work: Effect.Effect<boolean, E, R>
): Effect.Effect<void, never, R | Scope.Scope> =>
  work.pipe(
    Effect.repeat({ while: (more) => more }),
    Effect.catchCause((cause) => Effect.logError(`${what} failed; retrying`, cause)),
    Effect.andThen(pause),
    Effect.forever,
    Effect.forkScoped,
    Effect.asVoid
  )
