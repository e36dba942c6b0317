// Which process has claimed a delivery, and that it lives.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE webhook_workers (
      id uuid PRIMARY KEY,
      beat bigint NOT NULL,
      beat_at timestamptz NOT NULL DEFAULT now()
    )`
  yield* sql`ALTER TABLE webhook_deliveries ADD COLUMN claimed_by uuid`
})
