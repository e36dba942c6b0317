// Who has acknowledged an alert.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`ALTER TABLE alerts ADD COLUMN acknowledged_by text`
)

export const down = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`ALTER TABLE alerts DROP COLUMN acknowledged_by`
)
