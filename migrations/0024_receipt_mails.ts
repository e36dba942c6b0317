// Receipts that buyers have asked for by mail: of their addresses a hash alone.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE receipt_mails (
      receipt_id text NOT NULL REFERENCES receipts (id),
      address_hash bytea NOT NULL CHECK (length(address_hash) = 32),
      asked_at timestamptz NOT NULL,
      PRIMARY KEY (receipt_id, address_hash)
    )`
})

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP TABLE receipt_mails`
})
