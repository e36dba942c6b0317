// Rows in any state, as a restore or a long history would leave them: no trigger checks how they got there.
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

/** Runs `work` in a transaction without triggers, including foreign keys. */
export const withoutMoves = <A, E, R>(
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError.SqlError, R | SqlClient.SqlClient> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.withTransaction(Effect.andThen(sql`SET LOCAL session_replication_role = replica`, work))
  )
