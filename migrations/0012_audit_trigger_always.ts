// The audit log refuses changes also in sessions that replay or restore with `session_replication_role`.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE audit_entries ENABLE ALWAYS TRIGGER audit_entries_stay`
})

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE audit_entries ENABLE TRIGGER audit_entries_stay`
})
