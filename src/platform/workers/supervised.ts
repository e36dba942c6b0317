// A worker: does its work for as long as its scope lives, whatever becomes of one round of it.
import { Cause, Effect, type Scope } from "effect"

/**
 * `work` is repeated at once while it says that there is more, and otherwise after `pause`. A failure is
 * logged at `level`, which is lower where others make up for it.
 */
export const supervised = <E, R>(
  what: string,
  pause: Effect.Effect<void>,
  work: Effect.Effect<boolean, E, R>,
  level: "Error" | "Warn" | "Debug" = "Error"
): Effect.Effect<void, never, R | Scope.Scope> =>
  work.pipe(
    Effect.repeat({ while: (more) => more }),
    Effect.catchCauseIf(
      (cause) => !Cause.hasInterruptsOnly(cause),
      (cause) => Effect.logWithLevel(level)(`${what} failed; retrying`, cause)
    ),
    Effect.andThen(pause),
    Effect.forever,
    Effect.forkScoped,
    Effect.asVoid
  )

/** As `supervised`, for work that is done once in each round. */
export const periodic = <E, R>(
  what: string,
  pause: Effect.Effect<void>,
  work: Effect.Effect<unknown, E, R>,
  level?: "Error" | "Warn" | "Debug"
): Effect.Effect<void, never, R | Scope.Scope> => supervised(what, pause, Effect.as(work, false), level)
