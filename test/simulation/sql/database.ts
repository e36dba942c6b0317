// The repositories' own SQL on a PGlite. Each world has a new one, because on an emptied one a seed depended on earlier
// seeds.
import { createHash } from "node:crypto"
import { rename } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PgClient } from "@effect/sql-pg"
import { PGlite } from "@electric-sql/pglite"
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import type { SecureRandom } from "effect/crypto"
import { toHex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { developmentMnemonic } from "../../../src/app/dev/LocalChain.ts"
import { parseAddress } from "../../../src/chain/Address.ts"
import type { ContractSignatures } from "../../../src/chain/ContractSignatures.ts"
import type { RpcPool } from "../../../src/chain/RpcPool.ts"
import { DerivedWallets } from "../../../src/chain/wallets/DerivedWallets.ts"
import { Address, TransactionHash } from "../../../src/domain/Chain.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { byEnv } from "../../../src/domain/networks.ts"
import { FailureReason, PaymentId, PaymentStatus } from "../../../src/domain/Payment.ts"
import { RefundFailure, RefundStatus } from "../../../src/domain/Refund.ts"
import { DeliveryStatus, EventType } from "../../../src/domain/Webhook.ts"
import { KeyAuth } from "../../../src/merchants/keys/KeyAuth.ts"
import { layerPaymentRepos } from "../../../src/payments/layerPaymentRepos.ts"
import { LinkRepo } from "../../../src/payments/links/LinkRepo.ts"
import type { PaymentRepo } from "../../../src/payments/PaymentRepo.ts"
import type { Payments } from "../../../src/payments/Payments.ts"
import type { AppConfig } from "../../../src/platform/AppConfig.ts"
import { Alerts } from "../../../src/platform/alerts/Alerts.ts"
import { migrate } from "../../../src/platform/database/migrate.ts"
import { migrations } from "../../../src/platform/database/migrations.ts"
import { WebhookRepo } from "../../../src/webhooks/WebhookRepo.ts"
import { Releases } from "../../../src/x402/agents/Releases.ts"
import { Facilitator } from "../../../src/x402/Facilitator.ts"
import { testConfig } from "../../support/memory.ts"
import { moneyNetwork } from "../../support/moneyNetwork.ts"
import type { FaultBoard } from "../faults.ts"
import type { Rows } from "../oracle/Look.ts"
import type { Shop } from "../People.ts"
import type { Owner, World } from "../World.ts"
import { SharedSession } from "./SharedSession.ts"

const clientOf = (session: SharedSession) =>
  PgClient.layer({
    host: "simulated",
    username: "postgres",
    database: "postgres",
    stream: () => session.connect(),
    maxConnections: 2,
    multiplex: true
  }).pipe(Layer.orDie)

/** With the usual 128 MB of buffers and 16 MB of log a database takes twice as long to start. */
const sizes = { postgresqlconf: "shared_buffers = 16MB", initDbStartParams: ["--wal-segsize=1"] }

/** A migrated data directory, kept with the system's other temporary files, because creating one takes seconds. */
const snapshotPath = async () => {
  const hash = createHash("sha256").update(JSON.stringify([sizes, ...Object.keys(migrations)]))
  for (const name of Object.keys(migrations))
    hash.update(await Bun.file(join(import.meta.dir, `../../../migrations/${name}.ts`)).text())
  return join(tmpdir(), `quittance-pglite-${hash.digest("hex").slice(0, 16)}.tar`)
}

const makeSnapshot = async (path: string) => {
  const pglite = await PGlite.create(sizes)
  await Effect.runPromise(
    Effect.provide(migrate(migrations, "of the simulation"), clientOf(new SharedSession(pglite)))
  )
  const unfinished = `${path}.${process.pid}`
  await Bun.write(unfinished, await pglite.dumpDataDir("none"))
  await pglite.close()
  await rename(unfinished, path)
}

const readSnapshot = async (): Promise<Blob> => {
  const path = await snapshotPath()
  if (!(await Bun.file(path).exists())) await makeSnapshot(path)
  return new Blob([await Bun.file(path).bytes()])
}

let snapshot: Promise<Blob> | undefined
/** The next world's session. */
let next: SharedSession | undefined
/** The last world's session. */
let used: SharedSession | undefined

/** A world has one network: no other network uses its wallets. */
export const walletMnemonics = byEnv(() => Option.some(Redacted.make(developmentMnemonic)))

/** The wallet that pays the gas of authorizations. */
export const relayer = Effect.runSync(
  Effect.gen(function* () {
    const { relayerKey } = yield* DerivedWallets
    return Address.make(privateKeyToAccount(toHex(Option.getOrThrow(relayerKey(moneyNetwork.env))())).address)
  }).pipe(Effect.provide(DerivedWallets.layer.pipe(Layer.provide(testConfig({ walletMnemonics })))))
)

/** Before each run. Always from the snapshot, because a session that has migrated is not the same run. */
export const openDatabase = async (): Promise<void> => {
  await used?.close()
  used = undefined
  snapshot ??= readSnapshot()
  next ??= new SharedSession(await PGlite.create({ loadDataDir: await snapshot }))
}

const NullableDate = Schema.NullOr(Schema.DateFromString)
const Row = Schema.fromJsonString(
  Schema.Struct({
    payments: Schema.Array(
      Schema.Struct({
        id: PaymentId,
        status: PaymentStatus,
        amount: Schema.String,
        createdAt: Schema.DateFromString,
        reportedAt: NullableDate,
        settledAt: NullableDate,
        failureReason: Schema.NullOr(FailureReason),
        transactionId: Schema.NullOr(TransactionHash),
        payer: Schema.NullOr(Schema.String)
      })
    ),
    deliveries: Schema.Array(
      Schema.Struct({
        id: Schema.String,
        type: EventType,
        status: DeliveryStatus,
        paymentId: Schema.NullOr(PaymentId),
        attempts: Schema.Array(
          Schema.Struct({
            number: Schema.Int,
            manual: Schema.Boolean,
            startedAt: Schema.DateFromString,
            durationMs: Schema.NullOr(Schema.Int)
          })
        )
      })
    ),
    settlements: Schema.Array(
      Schema.Struct({
        id: Schema.String,
        status: Schema.Literals(["pending", "settled", "failed"]),
        reason: Schema.NullOr(Schema.String),
        paymentId: PaymentId,
        payer: Schema.String,
        nonce: Schema.String,
        validBefore: Schema.Number,
        sent: Schema.Boolean
      })
    ),
    attempts: Schema.Array(
      Schema.Struct({
        paymentId: PaymentId,
        payer: Schema.String,
        since: Schema.DateFromString,
        nonce: Schema.NullOr(Schema.BigIntFromString)
      })
    ),
    refunds: Schema.Array(
      Schema.Struct({
        id: Schema.String,
        status: RefundStatus,
        amount: Schema.String,
        recipient: Schema.String,
        paymentId: Schema.NullOr(PaymentId),
        transactionId: Schema.NullOr(TransactionHash),
        failureReason: Schema.NullOr(RefundFailure),
        droppedAt: NullableDate
      })
    ),
    dropped: Schema.Record(Schema.String, Schema.String),
    transfers: Schema.Array(
      Schema.Struct({
        transactionId: TransactionHash,
        payer: Schema.String,
        amount: Schema.String,
        blockNumber: Schema.Number,
        blockTime: Schema.DateFromString,
        kind: Schema.NullOr(Schema.String),
        paymentId: Schema.NullOr(PaymentId),
        droppedAt: NullableDate,
        handledAt: NullableDate
      })
    )
  })
)
const decodeRow = Schema.decodeSync(Row)

const hex = (column: string) => `'0x' || encode(${column}, 'hex')`
const ofTenant = `merchant_id = $1 AND env = '${moneyNetwork.env}'`

/** Planned once for a world, because it runs after every write. */
const prepareRows = `SET plan_cache_mode = force_generic_plan; PREPARE simulated_rows (uuid) AS SELECT json_build_object(
    'payments', (SELECT coalesce(json_agg(json_build_object('id', id, 'status', status, 'amount', amount::text,
        'createdAt', created_at, 'reportedAt', reported_at, 'settledAt', settled_at, 'failureReason', failure_reason,
        'transactionId', ${hex("transaction_id")}, 'payer', ${hex("payer_address")}) ORDER BY id), '[]')
      FROM payments WHERE ${ofTenant}),
    'deliveries', (SELECT coalesce(json_agg(json_build_object('id', id, 'type', type, 'status', status,
        'paymentId', payment_id, 'attempts', (SELECT coalesce(json_agg(json_build_object('number', number,
            'manual', manual, 'startedAt', started_at, 'durationMs', duration_ms) ORDER BY number), '[]')
          FROM webhook_attempts WHERE delivery_id = webhook_deliveries.id)) ORDER BY id), '[]')
      FROM webhook_deliveries WHERE ${ofTenant}),
    'settlements', (SELECT coalesce(json_agg(json_build_object('id', id, 'status', status,
        'reason', coalesce(error_reason, told_reason), 'paymentId', payment_id, 'payer', ${hex("payer")},
        'nonce', ${hex("nonce")}, 'validBefore', valid_before, 'sent', EXISTS (
          SELECT 1 FROM wallet_transactions w WHERE w.reference = x402_settlements.id AND w.purpose = 'settle'
        )) ORDER BY id), '[]')
      FROM x402_settlements WHERE ${ofTenant}),
    'attempts', (SELECT coalesce(json_agg(json_build_object('paymentId', payment_id, 'payer', ${hex("payer_address")},
        'since', announced_at, 'nonce', nonce::text) ORDER BY payment_id, id), '[]')
      FROM payment_attempts WHERE closed_at IS NULL AND payment_id IN (SELECT id FROM payments WHERE ${ofTenant})),
    'refunds', (SELECT coalesce(json_agg(json_build_object('id', id, 'status', status, 'amount', amount::text,
        'recipient', ${hex("recipient")}, 'paymentId', payment_id, 'transactionId', ${hex("transaction_id")},
        'failureReason', failure_reason, 'droppedAt', dropped_at) ORDER BY created_at, id), '[]')
      FROM refunds WHERE ${ofTenant}),
    'dropped', (SELECT coalesce(json_object_agg(subject, message ORDER BY subject), '{}') FROM alerts
      WHERE ${ofTenant} AND kind = 'transfer_dropped' AND acknowledged_at IS NULL),
    'transfers', (SELECT coalesce(json_agg(json_build_object('transactionId', ${hex("transaction_id")},
        'payer', ${hex("payer")}, 'amount', amount::text, 'blockNumber', block_number, 'blockTime', block_time,
        'kind', kind, 'paymentId', payment_id, 'droppedAt', dropped_at, 'handledAt', handled_at) ORDER BY block_number, id), '[]')
      FROM incoming_transfers WHERE ${ofTenant}))`

/** In the service's spelling. */
const spelled = (address: string): Address => parseAddress(address) ?? Address.make(address)

const rowsOf = (session: SharedSession, shop: Shop): Rows => {
  const [text = "{}"] = session.run(`EXECUTE simulated_rows ('${shop.merchant.id}')`)
  const { attempts, deliveries, dropped, payments, refunds, settlements, transfers } = decodeRow(text)
  return {
    payments: payments.map(({ amount, payer, reportedAt: at, transactionId, ...payment }) => ({
      ...payment,
      amount: AtomicUsdc.make(BigInt(amount)),
      reported:
        payment.status !== "settled" || at === null || transactionId === null || payer === null
          ? null
          : { at, evidence: { transactionId, payer: spelled(payer) } }
    })),
    attempts: attempts.map((one) => ({ ...one, payer: spelled(one.payer) })),
    deliveries,
    refunds: refunds.map((one) => ({
      ...one,
      amount: AtomicUsdc.make(BigInt(one.amount)),
      recipient: spelled(one.recipient)
    })),
    dropped: new Map(Object.entries(dropped)),
    settlements: settlements.map((one) => ({ ...one, payer: spelled(one.payer) })),
    transfers: transfers.map(({ amount, blockNumber, payer, ...transfer }) => ({
      ...transfer,
      payer: spelled(payer),
      amount: BigInt(amount),
      blockNumber: BigInt(blockNumber)
    }))
  }
}

export interface Database {
  readonly layer: Layer.Layer<
    Layer.Success<typeof layerPaymentRepos> | WebhookRepo | KeyAuth | Alerts | LinkRepo,
    never,
    SecureRandom.SecureRandom
  >
  /** Signatures and the relayer. */
  readonly signing: Layer.Layer<
    Facilitator | Releases,
    never,
    AppConfig | RpcPool | ContractSignatures | PaymentRepo | Payments | Alerts | SecureRandom.SecureRandom
  >
  /** Undefined while a transaction is open. */
  readonly rows: (shop: Shop) => Rows | undefined
  /** Transactions of the relayer wallet that are in no block. */
  readonly openTransactions: () => number
  /** Payments for which the service itself has reported the transaction that used an authorization. */
  readonly reported: () => ReadonlyArray<string>
  /** The last block that has been read, -1 for none. */
  readonly readUpTo: () => number
  /** Rolls back the open transaction of an abandoned instance. */
  readonly abandon: (owner: Owner) => void
}

/** `openDatabase` has been called. */
export const databaseOf = (world: World, board: FaultBoard): Database => {
  const session = next
  if (session === undefined) throw new Error("the simulation's PGlite is not open")
  next = undefined
  used = session
  session.begin(world, () => {
    board.changed = true
    board.writes++
  })
  session.run(prepareRows)
  const client = clientOf(session)
  return {
    layer: Layer.mergeAll(
      layerPaymentRepos,
      WebhookRepo.layer,
      KeyAuth.layer,
      Alerts.layer,
      LinkRepo.layer
    ).pipe(Layer.provide(client)),
    signing: Layer.merge(Facilitator.layer, Releases.layer).pipe(Layer.provide(client)),
    rows: (shop) => (session.isIdle ? rowsOf(session, shop) : undefined),
    openTransactions: () =>
      Number(session.run("SELECT count(*) FROM wallet_transactions WHERE ended_at IS NULL")[0]),
    reported: () =>
      session.run(
        "SELECT DISTINCT s.payment_id FROM x402_settlements s JOIN payment_reports r ON r.payment_id = s.payment_id AND r.payer_address = s.payer"
      ),
    readUpTo: () => Number(session.run("SELECT max(block_number) FROM chain_cursors")[0] || -1),
    abandon: (owner) => session.abandon(owner)
  }
}
