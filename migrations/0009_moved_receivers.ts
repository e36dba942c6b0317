// A merchant whose receiving address became another's asks nobody to pay there any more.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE merchants ADD COLUMN moved_receivers text[] NOT NULL DEFAULT '{}'`
  yield* sql`
    UPDATE merchants m SET moved_receivers = moved.envs FROM (
      SELECT m.id, array_agg(r.env) AS envs FROM merchants m
      JOIN merchant_receivers r ON r.merchant_id <> m.id
        AND r.address = CASE r.env WHEN 'test' THEN m.receiver_test ELSE m.receiver_live END
      GROUP BY m.id
    ) moved WHERE moved.id = m.id`
})

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE merchants DROP COLUMN moved_receivers`
})
