// The feed of events: a delivery gets its position there when the feed is first read after it was committed.
// Payments are found by the order's URL.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE webhook_deliveries ADD COLUMN feed_position bigint`
})

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP INDEX IF EXISTS payments_intent_url`
  yield* sql`ALTER TABLE webhook_deliveries DROP COLUMN feed_position`
})

export const indexes = {
  webhook_deliveries_unplaced:
    "webhook_deliveries (merchant_id, env, created_at, id) WHERE feed_position IS NULL",
  webhook_deliveries_placed:
    "webhook_deliveries (merchant_id, env, feed_position) WHERE feed_position IS NOT NULL",
  payments_intent_url:
    "payments (merchant_id, env, hashtextextended(intent_url, 0), created_at DESC, id DESC)"
}
