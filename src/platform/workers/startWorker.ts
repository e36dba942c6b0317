// A worker: repeats its work for as long as its scope lives, whatever happens in one round.
import { Cause, Clock, Effect, type Scope } from "effect"
import { WorkerProgress } from "./WorkerProgress.ts"

const maxMessageLength = 200

const reasonOf = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return (error instanceof Error ? error.message : String(error)).slice(0, maxMessageLength)
}

const withProgress = <A, E, R>(what: string, work: Effect.Effect<A, E, R>) =>
  Effect.flatMap(WorkerProgress, (progress) =>
    work.pipe(
      Effect.tap(() => Effect.sync(() => progress.recordSuccess(what))),
      Effect.tapCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.void
          : Effect.map(Clock.currentTimeMillis, (now) => progress.recordFailure(what, now, reasonOf(cause)))
      )
    )
  )

/**
 * Repeats `work` immediately while it reports that there is more, and otherwise after `pause`. A failure is logged at
 * `level`, which is lower if others make up for it: only a failure at "Error" counts as a failure in `WorkerProgress`.
 */
export const startWorker = <E, R>(
  what: string,
  pause: Effect.Effect<void>,
  work: Effect.Effect<boolean, E, R>,
  level: "Error" | "Warn" | "Debug" = "Error"
): Effect.Effect<void, never, R | Scope.Scope> =>
  (level === "Error" ? withProgress(what, work) : work).pipe(
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

/** Like `startWorker`, for work that runs once per round. */
export const startPeriodic = <E, R>(
  what: string,
  pause: Effect.Effect<void>,
  work: Effect.Effect<unknown, E, R>,
  level?: "Error" | "Warn" | "Debug"
): Effect.Effect<void, never, R | Scope.Scope> => startWorker(what, pause, Effect.as(work, false), level)
