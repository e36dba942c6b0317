// Payments are found by the beginning of an order's URL or of a payer's address, and by amount. Reference codes and
// transactions have indexes already.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.void

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP INDEX IF EXISTS payments_order, payments_payer, payments_amount`
})

export const indexes = {
  // The URL's beginning: a whole one may be longer than an index takes.
  payments_order: `payments (merchant_id, env, (left(intent_url, 300)) text_pattern_ops)`,
  payments_payer: "payments (merchant_id, env, payer_address) WHERE payer_address IS NOT NULL",
  payments_amount: "payments (merchant_id, env, amount, created_at, id)"
}
