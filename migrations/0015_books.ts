// In which time zone a merchant keeps its books, and what its addresses held when its periods began.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE merchants ADD COLUMN time_zone text NOT NULL DEFAULT 'UTC' CHECK (length(time_zone) BETWEEN 1 AND 64)`

  // Read from the chain once: what a block of the past says does not change.
  yield* sql`
    CREATE TABLE receiver_balances (
      env text NOT NULL CHECK (env IN ('test', 'live')),
      address bytea NOT NULL CHECK (length(address) = 20),
      at timestamptz NOT NULL,
      block_number bigint NOT NULL,
      balance numeric(78, 0) NOT NULL,
      PRIMARY KEY (env, address, at)
    )`
})

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP TABLE receiver_balances`
  yield* sql`ALTER TABLE merchants DROP COLUMN time_zone`
})
