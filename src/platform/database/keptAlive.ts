// Transactions of commands that hold locks while they wait for something else: neither a process that is
// suspended nor a path that carries nothing may hold them.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** A server of a copy that says nothing for so long is given up. */
export const copySilenceMillis = 20_000

/** Inside a transaction: the server ends it, with its locks, half a minute after the last sign of this process. */
export const endedWithoutSigns = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    SELECT set_config('idle_in_transaction_session_timeout', '30s', true),
      set_config('tcp_user_timeout', '30s', true)`
)

/**
 * Inside a transaction that `endedWithoutSigns` has bounded: asks the server for a sign of life all along, and
 * fails when there is none. Work that goes back to a savepoint is not for it: what is asked between a
 * statement that failed and the way back fails too.
 */
export const keptAlive = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const signs = sql`SELECT 1`.pipe(Effect.delay("5 seconds"), Effect.forever)
    return yield* Effect.raceFirst(work, signs)
  })
