// Two changes whose order a lock decides: one waits for a row, and the other overtakes it.
import { Deferred, Effect, Fiber, type Result } from "effect"
import { SqlClient, type Statement } from "effect/sql"

/**
 * The result of `attempt` if it waits for rows that `lock` locks, while `change` is made in the lock's transaction. An
 * attempt that does not wait ends before the change.
 */
export const overtaken = <A, E, R, E2, R2>(
  lock: Statement.Statement<unknown>,
  attempt: Effect.Effect<A, E, R>,
  change: Effect.Effect<unknown, E2, R2>
): Effect.Effect<Result.Result<A, E>, unknown, R | R2 | SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const locked = yield* Deferred.make<void>()
    const ended = yield* Deferred.make<void>()
    const isAwaited = Effect.map(
      sql`SELECT pid FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))`,
      (waiting) => waiting.length > 0
    )
    const changing = yield* Effect.forkChild(
      sql.withTransaction(
        Effect.gen(function* () {
          yield* lock
          yield* Deferred.succeed(locked, undefined)
          while (!(yield* isAwaited) && !(yield* Deferred.isDone(ended))) yield* Effect.sleep("10 millis")
          yield* change
        })
      )
    )
    yield* Effect.raceFirst(Deferred.await(locked), Fiber.join(changing))
    const outcome = yield* Effect.result(attempt).pipe(Effect.ensuring(Deferred.succeed(ended, undefined)))
    yield* Fiber.join(changing)
    return outcome
  })
