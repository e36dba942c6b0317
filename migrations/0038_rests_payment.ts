// The payment that a transfer fell short of: nobody is asked for its rest by link once it is paid.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`ALTER TABLE payment_links ADD COLUMN rest_for uuid`
)

export const down = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`ALTER TABLE payment_links DROP COLUMN rest_for`
)
