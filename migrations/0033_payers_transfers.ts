// Transfers that no payment has claimed are found by their wallet, however many lie unexplained.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.void

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP INDEX IF EXISTS incoming_transfers_payer`
})

export const indexes = {
  incoming_transfers_payer:
    "incoming_transfers (payer, receiver, amount) WHERE payment_id IS NULL AND dropped_at IS NULL"
}
