// Claims of an earlier release name a log's position; each moves to its ordinal among equal transfers.
import { expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../src/Database.ts"
import { Migrations, migrations } from "../../src/database/migrations.ts"
import { testConfig } from "../support/memory.ts"

const merchant = "01a1fc34-7205-710e-9410-874fee9a4991"
const paymentOf = (index: number) => `01a1fc34-7205-710e-9410-874fee9a50${String(index).padStart(2, "0")}`

test("equal transfers of one transaction keep their order, others begin again", async () => {
  const directory = mkdtempSync(join(tmpdir(), "quittance-claims-"))
  const within = <A>(wanted: typeof migrations, effect: Effect.Effect<A, unknown, SqlClient.SqlClient>) =>
    Effect.runPromise(
      effect.pipe(
        Effect.provide(
          Layer.fresh(Database.layer).pipe(
            Layer.provide(Layer.succeed(Migrations, wanted)),
            Layer.provide(testConfig({ database: { _tag: "Embedded", directory } }))
          )
        )
      )
    )
  const before = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0004"))
  const claims = [
    { transaction: "01", payer: "aa", amount: 5, position: 7, ordinal: 1 },
    { transaction: "01", payer: "aa", amount: 5, position: 2, ordinal: 0 },
    { transaction: "01", payer: "aa", amount: 6, position: 3, ordinal: 0 },
    { transaction: "01", payer: "bb", amount: 5, position: 4, ordinal: 0 },
    { transaction: "02", payer: "aa", amount: 5, position: 9, ordinal: 0 }
  ]
  try {
    await within(
      before,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const address = Buffer.alloc(20, 1)
        yield* sql`INSERT INTO merchants (id, name, receiver_test, receiver_live, created_at)
          VALUES (${merchant}, 'M', ${address}, ${address}, now())`
        for (const [index, { amount, payer, position, transaction }] of claims.entries()) {
          const hash = Buffer.from(transaction.repeat(32), "hex")
          yield* sql`INSERT INTO payments (id, merchant_id, env, status, amount, ref_code, intent_url, receiver,
              payer_type, created_at, reported_at, settled_at, transaction_id, payer_address, token_changes)
            VALUES (${paymentOf(index)}, ${merchant}, 'test', 'settled', ${amount}, ${`PAY-0000000${index}`}, 'u',
              ${address}, 'human', now(), now(), now(), ${hash}, ${Buffer.from(payer.repeat(20), "hex")}, '[]')`
          yield* sql`INSERT INTO claimed_transfers (chain_id, transaction_id, log_position, payment_id, block_number, block_hash)
            VALUES (84532, ${hash}, ${position}, ${paymentOf(index)}, 1, ${hash})`
        }
      })
    )
    const rows = await within(
      migrations,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const claimed = yield* sql`
          SELECT payment_id, ordinal, amount::int AS amount FROM claimed_transfers ORDER BY payment_id`
        // An instance of the release before settles one more: the third equal transfer.
        const [hash, payer, address] = [
          Buffer.alloc(32, 1),
          Buffer.from("aa".repeat(20), "hex"),
          Buffer.alloc(20, 1)
        ]
        yield* sql`INSERT INTO payments (id, merchant_id, env, status, amount, ref_code, intent_url, receiver, payer_type,
            created_at)
          VALUES (${paymentOf(90)}, ${merchant}, 'test', 'pending', 5, 'PAY-00000090', 'u', ${address}, 'human', now())`
        yield* sql`INSERT INTO payment_reports (payment_id, evidence, payer_address, transaction_id, token_changes, reported_at)
          VALUES (${paymentOf(90)}, ${hash}, ${payer}, ${hash}, '[]', now())`
        yield* sql`
          WITH settled AS (
            UPDATE payments SET status = 'settled', settled_at = now(), reported_at = now(), transaction_id = ${hash},
              payer_address = ${payer}, token_changes = '[]' WHERE id = ${paymentOf(90)} RETURNING id
          ), dropped AS (DELETE FROM payment_reports WHERE payment_id IN (SELECT id FROM settled))
          INSERT INTO claimed_transfers (chain_id, transaction_id, log_position, payment_id, block_number, block_hash)
          SELECT 84532, ${hash}, 11, id, 1, ${hash} FROM settled`
        const [older] = yield* sql`
          SELECT ordinal, encode(payer, 'hex') AS payer, amount::int AS amount FROM claimed_transfers
          WHERE payment_id = ${paymentOf(90)}`
        expect(older).toEqual({ ordinal: 2, payer: "aa".repeat(20), amount: 5 })
        return claimed
      })
    )
    expect(rows.map(({ ordinal, amount }) => [amount, ordinal])).toEqual(
      claims.map(({ amount, ordinal }) => [amount, ordinal])
    )
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}, 180_000)
