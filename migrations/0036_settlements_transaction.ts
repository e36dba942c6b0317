// Whether a settlement has moved a transfer is found by its transaction, however many its wallet has signed.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.void

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP INDEX IF EXISTS x402_settlements_transaction`
})

export const indexes = {
  x402_settlements_transaction: "x402_settlements (transaction_id) WHERE transaction_id IS NOT NULL"
}
