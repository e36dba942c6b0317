// Whether a wallet has reported a transaction that the chain has not decided is found by the wallet.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.void

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP INDEX IF EXISTS payment_reports_payer`
})

export const indexes = {
  payment_reports_payer: "payment_reports (payer_address) WHERE next_check_at IS NOT NULL"
}
