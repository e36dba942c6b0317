// What earlier releases have signed moves into the one outbox with its nonces, versions and ends.
import { expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../src/Database.ts"
import { Migrations, migrations } from "../../src/database/migrations.ts"
import { testConfig } from "../support/memory.ts"

const bytes = (byte: string, length: number) => Buffer.from(byte.repeat(length), "hex")
const wallet = bytes("aa", 20)
const relayer = bytes("bb", 20)
const merchant = "01a1fc34-7205-710e-9410-874fee9a4991"
const grant = "01a1fc34-7205-710e-9410-874fee9a4992"
const settlement = "01a1fc34-7205-710e-9410-874fee9a4993"
const at = new Date("2026-01-01T00:00:00Z")

test("rows of both old outboxes are copied, and stay where they were", async () => {
  const directory = mkdtempSync(join(tmpdir(), "quittance-outbox-"))
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
  try {
    await within(
      before,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`INSERT INTO merchants (id, name, receiver_test, receiver_live, created_at)
          VALUES (${merchant}, 'M', ${wallet}, ${wallet}, ${at})`
        yield* sql`INSERT INTO faucet_grants (id, merchant_id, recipient, client_address, status, usdc_atomic, gas_wei, created_at)
          VALUES (${grant}, ${merchant}, ${wallet}, 'c', 'reserved', 1, 1, ${at})`
        yield* sql`INSERT INTO faucet_transactions (wallet, nonce, grant_id, asset, raw, transaction_id, outcome, created_at, mined_at)
          VALUES (${wallet}, 7, ${grant}, 'gas', ${bytes("01", 3)}, ${bytes("11", 32)}, 'moved', ${at}, ${at})`
        yield* sql`INSERT INTO faucet_transactions (wallet, nonce, grant_id, asset, raw, transaction_id, earlier_ids, created_at)
          VALUES (${wallet}, 8, ${grant}, 'filler', ${bytes("02", 3)}, ${bytes("12", 32)}, ARRAY[${bytes("13", 32)}::bytea], ${at})`
        yield* sql`INSERT INTO relayer_transactions (wallet, nonce, purpose, reference, raw, transaction_id, created_at)
          VALUES (${relayer}, 7, 'settle', ${settlement}, ${bytes("03", 3)}, ${bytes("14", 32)}, ${at})`
        yield* sql`INSERT INTO x402_settlements (id, merchant_id, env, payment_id, opens_payment, chain_id, asset, payer, nonce,
            receiver, amount, valid_after, valid_before, signature, resource, status, transaction_id, created_at, finished_at)
          VALUES (${settlement}, ${merchant}, 'test', ${settlement}, true, 84532, ${wallet}, ${wallet}, ${bytes("15", 32)},
            ${wallet}, 1, 0, 1, ${bytes("16", 65)}, 'https://a.example/', 'settled', ${bytes("14", 32)}, ${at}, ${at})`
      })
    )
    const rows = await within(
      migrations,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const copied = yield* sql`
          SELECT encode(wallet, 'hex') AS wallet, nonce::int AS nonce, purpose, reference, encode(versions[1], 'hex') AS raw,
            cardinality(earlier_ids) AS earlier, outcome, transaction_id IS NOT NULL AS mined
          FROM wallet_transactions ORDER BY wallet, nonce`
        const old = yield* sql`SELECT count(*)::int AS count FROM faucet_transactions`
        // What settled before was answered before: nobody is served by it again.
        const answered = yield* sql`SELECT answered_at IS NOT NULL AS answered FROM x402_settlements`
        return { copied, old, answered }
      })
    )
    expect(rows.copied).toEqual([
      {
        wallet: "aa".repeat(20),
        nonce: 7,
        purpose: "gas",
        reference: grant,
        raw: "010101",
        earlier: 0,
        outcome: "moved",
        mined: true
      },
      {
        wallet: "aa".repeat(20),
        nonce: 8,
        purpose: "filler",
        reference: grant,
        raw: "020202",
        earlier: 1,
        outcome: null,
        mined: false
      },
      {
        wallet: "bb".repeat(20),
        nonce: 7,
        purpose: "settle",
        reference: settlement,
        raw: "030303",
        earlier: 0,
        outcome: null,
        mined: false
      }
    ])
    expect(rows.old).toEqual([{ count: 2 }])
    expect(rows.answered).toEqual([{ answered: true }])
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}, 180_000)
