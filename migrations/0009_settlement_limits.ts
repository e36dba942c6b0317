// Merchants may let payments wait for more certainty than the operator asks for.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE IF NOT EXISTS merchant_settlement_limits (
      merchant_id uuid NOT NULL REFERENCES merchants (id),
      env text NOT NULL CHECK (env IN ('test', 'live')),
      finality text NOT NULL CHECK (finality IN ('confirmed', 'included', 'safe', 'finalized')),
      up_to numeric(20, 0) NOT NULL CHECK (up_to >= 0),
      PRIMARY KEY (merchant_id, env, finality)
    )`
})
