// The contents of every database before the HTTP loads: merchants with their own keys, and payments in every state. The
// rows are the same everywhere, so that answers can be compared.
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { Address } from "../../src/domain/Chain.ts"
import { networks } from "../../src/domain/networks.ts"
import { generateKey, hashKey } from "../../src/merchants/keys/KeyAuth/KeyFormat.ts"
import { buildIndexes } from "../../src/platform/database/buildIndexes.ts"
import { migrate } from "../../src/platform/database/migrate.ts"
import { migrations } from "../../src/platform/database/migrations.ts"
import { withoutMoves } from "../support/withoutMoves.ts"

const merchantCount = 20
const paymentsPerMerchant = 400

/** The receiving address of all merchants. */
export const receiver = Address.make("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")

export interface BenchMerchant {
  readonly id: string
  readonly secret: string
  readonly publishable: string
}

/** A payment's row, with its times in milliseconds. */
export interface BenchPayment {
  readonly id: string
  readonly merchant: BenchMerchant
  readonly status: "pending" | "settled" | "failed"
  readonly createdAt: number
  readonly refCode: string
  /** Only of settled payments: hex without 0x. */
  readonly payer?: string
  readonly transactionId?: string
}

export interface Dataset {
  readonly merchants: ReadonlyArray<BenchMerchant>
  /** Payments of the merchants in turn. */
  readonly payments: ReadonlyArray<BenchPayment>
  /** The payer of a third of all payments. */
  readonly buyer: ReturnType<typeof privateKeyToAccount>
}

export const amountAtomic = "10000000"

/** As the settlement stored it and a replay must repeat it. */
export const tokenChanges = [
  { amountAtomic, chainId: networks.test.chainId, receiver, tokenAddress: networks.test.usdc.address }
]

const randomHex = (bytes: number) =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("hex")

const makeMerchant = Effect.gen(function* () {
  const secret = yield* generateKey("secret", "test")
  const publishable = yield* generateKey("publishable", "test")
  return { id: Bun.randomUUIDv7(), secret, publishable }
}).pipe(Effect.provide(SecureRandom.layerWebCrypto))

export const makeDataset: Effect.Effect<Dataset> = Effect.gen(function* () {
  const merchants = yield* Effect.replicateEffect(makeMerchant, merchantCount)
  const buyer = privateKeyToAccount(generatePrivateKey())
  const count = merchantCount * paymentsPerMerchant
  const start = Date.now() - (count + 60) * 1000
  const payments: Array<BenchPayment> = []
  for (let turn = 0; turn < paymentsPerMerchant; turn++) {
    for (const merchant of merchants) {
      const createdAt = start + payments.length * 1000
      const common = {
        id: Bun.randomUUIDv7("hex", createdAt),
        merchant,
        createdAt,
        refCode: `PAY-${payments.length.toString(36).toUpperCase().padStart(8, "0")}`
      }
      const kind = turn % 6
      if (kind === 0) payments.push({ ...common, status: "pending" })
      else if (kind === 1) payments.push({ ...common, status: "failed" })
      else {
        const payer = kind < 4 ? buyer.address.slice(2).toLowerCase() : randomHex(20)
        payments.push({ ...common, status: "settled", payer, transactionId: randomHex(32) })
      }
    }
  }
  return { merchants, payments, buyer }
})

const bytea = (hex: string | undefined) => (hex === undefined ? null : `\\x${hex}`)
const time = (millis: number) => new Date(millis).toISOString()

const merchantRow = ({ id }: BenchMerchant, index: number) => ({
  id,
  name: `Merchant ${index}`,
  receiver_test: bytea(receiver.slice(2)),
  receiver_live: bytea(receiver.slice(2)),
  created_at: time(Date.now())
})

const keyRow = (merchant: BenchMerchant, kind: "secret" | "publishable") => ({
  id: Bun.randomUUIDv7(),
  merchant_id: merchant.id,
  kind,
  env: "test",
  permission: kind === "secret" ? "manage" : "read",
  hash: bytea(Buffer.from(hashKey(merchant[kind])).toString("hex")),
  prefix: merchant[kind].slice(0, 8),
  last_four: merchant[kind].slice(-4),
  created_at: time(Date.now())
})

const paymentRow = (payment: BenchPayment) => {
  const settled = payment.status === "settled"
  return {
    id: payment.id,
    merchant_id: payment.merchant.id,
    env: "test",
    status: payment.status,
    amount: amountAtomic,
    ref_code: payment.refCode,
    intent_url: "https://shop.example.com/orders/1042",
    receiver: bytea(receiver.slice(2)),
    payer_type: "human",
    created_at: time(payment.createdAt),
    reported_at: settled ? time(payment.createdAt + 20_000) : null,
    transaction_id: bytea(payment.transactionId),
    payer_address: bytea(payment.payer),
    token_changes: settled ? tokenChanges : null,
    settled_at: settled ? time(payment.createdAt + 21_000) : null,
    failed_at: payment.status === "failed" ? time(payment.createdAt + 30_000) : null,
    failure_reason: payment.status === "failed" ? "expired" : null
  }
}

/** Migrates an empty database and inserts the rows. */
const fill = Effect.fnUntraced(function* ({ merchants, payments }: Dataset) {
  yield* migrate(migrations, "of the tests")
  yield* buildIndexes(migrations, "of the tests")
  const sql = yield* SqlClient.SqlClient
  const insert = (table: string, rows: ReadonlyArray<Readonly<Record<string, unknown>>>) => {
    const columns = Object.keys(rows[0] ?? {}).join(", ")
    return sql.unsafe(
      `INSERT INTO ${table} (${columns})
       SELECT ${columns} FROM jsonb_populate_recordset(NULL::${table}, $1::text::jsonb)`,
      [JSON.stringify(rows)]
    )
  }
  yield* insert("merchants", merchants.map(merchantRow))
  yield* insert(
    "api_keys",
    merchants.flatMap((one) => [keyRow(one, "secret"), keyRow(one, "publishable")])
  )
  yield* withoutMoves(insert("payments", payments.map(paymentRow)))
})

/** Fills the empty Postgres at this address. */
export const fillPostgres = (url: string, dataset: Dataset) =>
  fill(dataset).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url) })), Effect.orDie)
