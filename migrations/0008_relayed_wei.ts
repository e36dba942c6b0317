// What each transaction of the service's wallets may cost at most, and what it did cost.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const name = "wallet_transactions_spent"
const definition =
  "wallet_transactions (wallet, ended_at) INCLUDE (merchant_id, payer, gas, reserved_wei, spent_wei, outcome)"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Null in what an instance of an earlier release signs.
  yield* sql`
    ALTER TABLE wallet_transactions
      ADD COLUMN IF NOT EXISTS reserved_wei numeric CHECK (reserved_wei >= 0),
      ADD COLUMN IF NOT EXISTS spent_wei numeric CHECK (spent_wei >= 0)`
  const rows = yield* sql`SELECT 1 FROM wallet_transactions LIMIT 1`
  // A new database has nothing to build it beside.
  if (rows.length === 0) yield* sql`CREATE INDEX IF NOT EXISTS ${sql.literal(`${name} ON ${definition}`)}`
})

export const indexes = { [name]: definition }
