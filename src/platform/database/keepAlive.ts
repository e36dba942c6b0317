// For commands whose transactions hold locks while they wait for something else: neither a suspended process nor a
// dead path may keep those locks.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** A copy's server that is silent for this long is abandoned. */
export const copySilenceMillis = 20_000

/** Inside a transaction: the server ends it, with its locks, half a minute after this process's last statement. */
export const boundIdleTransaction = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    SELECT set_config('idle_in_transaction_session_timeout', '30s', true),
      set_config('tcp_user_timeout', '30s', true)`
)

/**
 * Inside a transaction that `boundIdleTransaction` has bounded: pings the server continuously, and fails if it does not
 * respond. Not for work that returns to a savepoint: a ping between a failed statement and the rollback fails too.
 */
export const keepAlive = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const pings = sql`SELECT 1`.pipe(Effect.delay("5 seconds"), Effect.forever)
    return yield* Effect.raceFirst(work, pings)
  })
