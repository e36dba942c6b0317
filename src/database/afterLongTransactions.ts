// Transactions that hold tables for long, as a backup does: a change that waits for their locks would keep
// everybody who comes after it waiting.
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"

const every = "1 second"

const decode = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ who: Schema.String })))

/** Others that have held a table of the service for a second. What a role may not see of others counts as long. */
const longTransactions = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.flatMap(
    sql`
      SELECT DISTINCT format('process %s of role %s, "%s"', a.pid, a.usename, a.application_name) AS who
      FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE l.locktype = 'relation' AND l.granted AND l.pid <> pg_backend_pid() AND a.usesysid IS NOT NULL
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
        AND coalesce(a.xact_start < clock_timestamp() - interval '1 second', true)
      ORDER BY 1`,
    decode
  )
)

/** Waits, without a lock, until there are none; says once for whom. */
export const afterLongTransactions = Effect.fnUntraced(function* (
  tell: (line: string) => Effect.Effect<void>
) {
  let told = ""
  for (;;) {
    const who = (yield* longTransactions).map((one) => one.who).join(", ")
    if (who === "") return
    if (who !== told) yield* tell(`… waits for the end of a transaction: ${who}`)
    told = who
    yield* Effect.sleep(every)
  }
})
