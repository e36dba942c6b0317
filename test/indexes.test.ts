// Every query of the hot path has its index: with sequential scans priced out, the
// planner finds one for each.
import { expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { testDatabase } from "./support/database.ts"
import { liveEffect } from "./support/run.ts"

const id = "'01a1fc34-7205-710e-9410-874fee9a4996'"
const queries: Readonly<Record<string, string>> = {
  "a key by its hash": "SELECT * FROM api_keys WHERE hash = '\\x00' AND revoked_at IS NULL",
  "a payment by its id": `SELECT * FROM payments WHERE id = ${id} AND merchant_id = ${id} AND env = 'test'`,
  "the newest payments": `SELECT * FROM payments WHERE merchant_id = ${id} AND env = 'test' ORDER BY created_at DESC, id DESC LIMIT 21`,
  "the next page": `SELECT * FROM payments WHERE merchant_id = ${id} AND env = 'test' AND (created_at, id) < (now(), ${id}) ORDER BY created_at DESC, id DESC LIMIT 21`,
  "pending payments by age":
    "SELECT * FROM payments WHERE status = 'pending' AND created_at < now() ORDER BY created_at LIMIT 500",
  "a kept report": `SELECT * FROM payment_reports WHERE payment_id = ${id} AND evidence = '\\x00'`,
  "due reports": "SELECT * FROM payment_reports WHERE next_check_at <= now() ORDER BY next_check_at LIMIT 20",
  "claimed logs": "SELECT * FROM claimed_transfers WHERE chain_id = 84532 AND transaction_id = '\\x00'",
  "watched transfers": "SELECT * FROM claimed_transfers WHERE watch_at <= now() ORDER BY watch_at LIMIT 20",
  "the active endpoint": `SELECT * FROM webhook_endpoints WHERE merchant_id = ${id} AND env = 'test' AND deleted_at IS NULL`,
  "an endpoint's due deliveries": `SELECT * FROM webhook_deliveries WHERE endpoint_id = ${id} AND due_at <= now() ORDER BY due_at LIMIT 8`,
  "a delivery's attempts": `SELECT * FROM webhook_attempts WHERE delivery_id = ${id} ORDER BY number`,
  "a recipient's grants":
    "SELECT * FROM faucet_grants WHERE status <> 'returned' AND recipient = '\\x00' AND created_at > now() ORDER BY created_at DESC"
}

for (const [name, query] of Object.entries(queries)) {
  liveEffect(`${name}: by index`, () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const plan = yield* sql.withTransaction(
        Effect.andThen(sql.unsafe("SET LOCAL enable_seqscan = off"), sql.unsafe(`EXPLAIN ${query}`))
      )
      const text = JSON.stringify(plan)
      expect(text).toMatch(/Index|Bitmap/)
      expect(text).not.toContain("Seq Scan")
    }).pipe(Effect.provide(testDatabase.layer))
  )
}
