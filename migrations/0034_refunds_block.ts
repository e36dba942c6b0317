// The chain's height when a refund was announced: what its wallet sends is found whatever the clocks say.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`ALTER TABLE refunds ADD COLUMN created_block bigint`
)

export const down = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`ALTER TABLE refunds DROP COLUMN created_block`
)
