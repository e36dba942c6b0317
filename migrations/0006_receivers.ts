// What merchants ask of buyers' tokens, and whose each receiving address is.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    ALTER TABLE merchants
    ADD COLUMN bound_tokens_only boolean NOT NULL DEFAULT false,
    ADD COLUMN token_lifetime_seconds integer NOT NULL DEFAULT 86400
      CHECK (token_lifetime_seconds BETWEEN 60 AND 31536000)`

  // An address stays its merchant's when another one takes its place: payments still point there.
  yield* sql`
    CREATE TABLE merchant_receivers (
      env text NOT NULL CHECK (env IN ('test', 'live')),
      address bytea NOT NULL CHECK (length(address) = 20),
      merchant_id uuid NOT NULL REFERENCES merchants (id),
      since timestamptz NOT NULL,
      PRIMARY KEY (env, address)
    )`
  yield* sql`CREATE INDEX merchant_receivers_merchant ON merchant_receivers (merchant_id, env)`

  // Where several merchants have one address, the oldest of those that receive at it at present.
  yield* sql`
    INSERT INTO merchant_receivers (env, address, merchant_id, since)
    SELECT DISTINCT ON (env, address) env, address, id, created_at
    FROM (
      SELECT 'test' AS env, receiver_test AS address, id, created_at FROM merchants
      UNION ALL SELECT 'live', receiver_live, id, created_at FROM merchants
    ) present
    ORDER BY env, address, created_at, id`
  yield* sql`
    INSERT INTO merchant_receivers (env, address, merchant_id, since)
    SELECT DISTINCT ON (p.env, p.receiver) p.env, p.receiver, p.merchant_id, p.since
    FROM (
      SELECT env, receiver, merchant_id, min(created_at) AS since
      FROM payments GROUP BY env, receiver, merchant_id
    ) p
    ORDER BY p.env, p.receiver, p.since, p.merchant_id
    ON CONFLICT DO NOTHING`
})

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP TABLE merchant_receivers`
  yield* sql`ALTER TABLE merchants DROP COLUMN bound_tokens_only, DROP COLUMN token_lifetime_seconds`
})
