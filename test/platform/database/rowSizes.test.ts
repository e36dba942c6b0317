// The sizes that databases.md states under "What grows", compared with rows that the service itself writes.
import { expect } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { PaymentAttempts } from "../../../src/payments/PaymentAttempts.ts"
import { Payments } from "../../../src/payments/Payments.ts"
import { testDatabase } from "../../support/database.ts"
import { addressesFrom } from "../../support/freshAddress.ts"
import {
  memoryChain,
  newMerchant,
  openPayment,
  paid,
  reportOf,
  sqlStack
} from "../../support/paymentStack.ts"
import { payer, receiver } from "../../support/rawReceipts.ts"
import { liveEffect } from "../../support/run.ts"

const document = readFileSync(join(import.meta.dir, "../../../docs/databases.md"), "utf8")
const rows = 1_000
/** Tables with one row for each payment that is announced, reported and settled. */
const tables = ["payments", "claimed_transfers", "payment_attempts", "webhook_deliveries"]

const stated = (table: string) => {
  const cells = document.match(new RegExp(`^\\| \`${table}\` \\|.*$`, "mu"))?.[0].split("|") ?? []
  return Number(cells[4]?.replace(",", ""))
}

liveEffect("each table's bytes per row are within a quarter of the stated ones", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const attempts = yield* PaymentAttempts
    const payments = yield* Payments
    const { principal } = yield* newMerchant(receiver)
    const sizeOf = Effect.fnUntraced(function* (table: string) {
      yield* sql.unsafe(`VACUUM FULL ${table}`)
      const [row] = yield* sql<{ count: number; bytes: number }>`
        SELECT count(*)::int AS count, pg_total_relation_size(${table}::regclass)::int AS bytes FROM ${sql(table)}`
      return row ?? { bytes: 0, count: 0 }
    })
    // Each index has a page of its own before the first row.
    const empty = new Map<string, number>()
    for (const table of tables) empty.set(table, (yield* sizeOf(table)).bytes)
    const nextPayer = addressesFrom(payer)
    yield* Effect.forEach(
      Array.from({ length: rows }, nextPayer),
      Effect.fnUntraced(function* (buyer) {
        const payment = yield* openPayment(principal, receiver, 1_000_000n)
        yield* attempts.announce(principal, payment.id, {
          buyerDidToken: `buyer:${buyer}:${payment.id}`,
          method: "transfer",
          client: ""
        })
        yield* payments.report(principal, payment.id, reportOf(payment, buyer, yield* paid(buyer, payment)))
      }),
      { concurrency: 8 }
    )
    for (const table of tables) {
      const { bytes, count } = yield* sizeOf(table)
      expect(count).toBe(rows)
      const perRow = (bytes - (empty.get(table) ?? 0)) / rows
      expect(Math.abs(perRow / stated(table) - 1), `${table}: ${perRow}`).toBeLessThan(0.25)
    }
  }).pipe(
    Effect.provide(sqlStack.pipe(Layer.provideMerge(memoryChain), Layer.provideMerge(testDatabase.layer))),
    Effect.orDie
  )
)
