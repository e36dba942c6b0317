// Which process has claimed a delivery, and that it lives.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE webhook_workers (
      id uuid PRIMARY KEY,
      beat bigint NOT NULL,
      beat_at timestamptz NOT NULL DEFAULT now()
    )`
  yield* sql`ALTER TABLE webhook_deliveries ADD COLUMN claimed_by uuid`
})

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP TABLE webhook_workers`
  yield* sql`ALTER TABLE webhook_deliveries DROP COLUMN claimed_by`
})
