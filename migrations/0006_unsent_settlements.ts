// Settled payments that no endpoint was sent are found without reading all deliveries.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const name = "webhook_deliveries_unsent"
const definition =
  "webhook_deliveries (merchant_id, env, created_at, id) WHERE status = 'cancelled' AND payment_id IS NOT NULL"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT 1 FROM webhook_deliveries LIMIT 1`
  // A new database has nothing to build it beside.
  if (rows.length === 0) yield* sql`CREATE INDEX IF NOT EXISTS ${sql.literal(`${name} ON ${definition}`)}`
})

export const indexes = { [name]: definition }
