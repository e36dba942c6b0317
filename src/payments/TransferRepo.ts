// Incoming transfers on Postgres: their owners, and how people resolve them.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AddressBytes, HashBytes } from "../chain/ChainBytes.ts"
import { Env } from "../domain/Chain.ts"
import { TransferKind } from "../domain/IncomingTransfer.ts"
import { MerchantId, type Tenant, Uuid } from "../domain/Merchant.ts"
import { PaymentId } from "../domain/Payment.ts"
import { plusMillis } from "../domain/plusMillis.ts"
import { attachLeaseMillis } from "./attachLeaseMillis.ts"
import { isNoticeable } from "./isNoticeableSql.ts"
import { makeChainReadingSql } from "./TransferRepo/chainReadingSql.ts"
import { makeMatchingSql, reservingSettlement } from "./TransferRepo/matchingSql.ts"
import type { IncomingTransfer, TransferStore } from "./TransferRepo/TransferStore.ts"

const TransferRow = Schema.Struct({
  id: Uuid,
  merchant_id: MerchantId,
  env: Env,
  transaction_id: HashBytes,
  payer: AddressBytes,
  receiver: AddressBytes,
  amount: Schema.BigIntFromString,
  ordinal: Schema.Int,
  block_number: Schema.BigInt,
  block_hash: HashBytes,
  block_time: Schema.Date,
  created_at: Schema.Date,
  kind: Schema.NullOr(TransferKind),
  payment_id: Schema.NullOr(PaymentId),
  dropped_at: Schema.NullOr(Schema.Date),
  handled_at: Schema.NullOr(Schema.Date),
  handled_by: Schema.NullOr(Schema.String),
  note: Schema.NullOr(Schema.String)
})
const columns = Object.keys(TransferRow.fields).join(", ")
const decodeTransfers = Schema.decodeUnknownEffect(Schema.Array(TransferRow))

const toTransfer = (row: typeof TransferRow.Type): IncomingTransfer => ({
  id: row.id,
  merchantId: row.merchant_id,
  env: row.env,
  transactionId: row.transaction_id,
  payer: row.payer,
  receiver: row.receiver,
  amount: row.amount,
  ordinal: row.ordinal,
  blockNumber: row.block_number,
  blockHash: row.block_hash,
  blockTime: row.block_time,
  storedAt: row.created_at,
  kind: row.kind,
  paymentId: row.payment_id,
  droppedAt: row.dropped_at,
  handledAt: row.handled_at,
  handledBy: row.handled_by,
  note: row.note
})

const decodeUnalerted = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ merchant_id: MerchantId, env: Env, count: Schema.Int }))
)

const make = (sql: SqlClient.SqlClient): TransferStore => {
  const all = sql.literal(columns)
  // A transfer that was leased for a payment but did not settle it, for example after a crash, is open as well.
  const isOpen = sql`payment_id IS NULL AND dropped_at IS NULL AND (handled_at IS NULL OR attached_to IS NOT NULL)`
  /** Open and not leased. */
  const isUnleased = (at: Date) => sql`
    payment_id IS NULL AND dropped_at IS NULL AND (handled_at IS NULL OR (
      attached_to IS NOT NULL AND handled_at <= ${plusMillis(at, -attachLeaseMillis)}::timestamptz))`
  const ofTenant = ({ merchantId, env }: Tenant) => sql`merchant_id = ${merchantId} AND env = ${env}`
  const decode = (statement: Effect.Effect<ReadonlyArray<unknown>, unknown>) =>
    Effect.flatMap(statement, decodeTransfers).pipe(Effect.map((rows) => rows.map(toTransfer)))
  const equalClaim = sql`
    FROM claimed_transfers c WHERE c.chain_id = t.chain_id AND c.transaction_id = t.transaction_id
      AND c.payer = t.payer AND c.receiver = t.receiver AND c.amount = t.amount AND c.ordinal = t.ordinal
      AND c.payment_id IS NOT NULL`
  /**
   * The payment that claims the transfer `t`. A transfer that proves a refund has none: its receiver resolves it.
   */
  const claimOf = sql`(SELECT c.payment_id ${equalClaim})`

  /** A claim that was written while its transfer was being stored has not seen it. */
  const isUnclaimed = sql`NOT EXISTS (SELECT 1 ${equalClaim})`

  /** The merchant that owns the transfer `t`: if a payment claims it, the payment's merchant. */
  const ownerOf = sql`coalesce((SELECT p.merchant_id FROM payments p WHERE p.id = ${claimOf}), t.merchant_id)`

  return {
    ...makeChainReadingSql(sql),
    ...makeMatchingSql(sql),

    takeUnmatched: Effect.fn("TransferRepo.takeUnmatched")(function* (env, at, leaseUntil, limit) {
      const transfers = yield* decode(sql`
        WITH due AS (
          SELECT id FROM incoming_transfers WHERE env = ${env} AND match_at <= ${at} AND ${isUnleased(at)}
          ORDER BY match_at, block_number, id LIMIT ${limit} FOR UPDATE SKIP LOCKED
        )
        UPDATE incoming_transfers t
        SET match_at = ${leaseUntil}, handled_at = NULL, handled_by = NULL, note = NULL, attached_to = NULL
        FROM due WHERE t.id = due.id
        RETURNING ${sql.literal(
          Object.keys(TransferRow.fields)
            .map((column) => `t.${column}`)
            .join(", ")
        )}`)
      return transfers.toSorted((left, right) => Number(left.blockNumber - right.blockNumber))
    }, Effect.orDie),

    recordMatch: Effect.fn("TransferRepo.recordMatch")(function* (id, outcome) {
      yield* "kind" in outcome
        ? sql`
            UPDATE incoming_transfers t SET kind = ${outcome.kind}, payment_id = ${claimOf},
              merchant_id = ${ownerOf},
              -- A transfer that a person took in the meantime is matched again after that lease.
              match_at = CASE WHEN t.attached_to IS NOT NULL THEN t.match_at END
            WHERE t.id = ${id} AND t.payment_id IS NULL`
        : sql`
            UPDATE incoming_transfers SET match_at = ${outcome.matchAt}
            WHERE id = ${id} AND payment_id IS NULL AND match_at IS NOT NULL`
    }, Effect.orDie),

    findTransfer: Effect.fn("TransferRepo.findTransfer")(function* (tenant, id) {
      const [transfer] = yield* decode(
        sql`SELECT ${all} FROM incoming_transfers WHERE id = ${id} AND ${ofTenant(tenant)}`
      )
      return Option.fromUndefinedOr(transfer)
    }, Effect.orDie),

    listTransfers: Effect.fn("TransferRepo.listTransfers")(function* (
      tenant,
      { status, limit, startingAfter }
    ) {
      const hasStatus =
        status === "open"
          ? sql`${isOpen} AND ${isNoticeable(sql)}`
          : status === "handled"
            ? sql`handled_at IS NOT NULL`
            : sql`true`
      const after =
        startingAfter === undefined
          ? sql``
          : sql`AND (block_time, id) < (
              SELECT block_time, id FROM incoming_transfers WHERE id = ${startingAfter} AND ${ofTenant(tenant)})`
      return yield* decode(sql`
        SELECT ${all} FROM incoming_transfers WHERE ${ofTenant(tenant)} AND ${hasStatus} ${after}
        ORDER BY block_time DESC, id DESC LIMIT ${limit}`)
    }, Effect.orDie),

    handleTransfer: Effect.fn("TransferRepo.handleTransfer")(function* (tenant, id, { person, note, at }) {
      const rows = yield* sql`
        UPDATE incoming_transfers t
        SET handled_at = ${at}, handled_by = ${person}, note = ${note}, attached_to = NULL, match_at = NULL
        WHERE id = ${id} AND ${ofTenant(tenant)} AND ${isUnleased(at)} AND ${isUnclaimed} RETURNING id`
      return rows.length > 0
    }, Effect.orDie),

    leaseForPayment: Effect.fn("TransferRepo.leaseForPayment")(
      function* (tenant, id, paymentId, by) {
        // Sending an authorization for the payment takes this lock as well, and sees the lease afterwards.
        yield* sql`SELECT 1 FROM payments WHERE id = ${paymentId} FOR NO KEY UPDATE`
        const rows = yield* sql`
        UPDATE incoming_transfers t
        SET handled_at = ${by.at}, handled_by = ${by.person}, note = ${by.note}, attached_to = ${paymentId},
          match_at = ${plusMillis(by.at, attachLeaseMillis)}
        WHERE id = ${id} AND ${ofTenant(tenant)} AND ${isUnleased(by.at)} AND ${isUnclaimed}
          AND NOT EXISTS (${reservingSettlement(sql, paymentId)}) RETURNING id`
        return rows.length > 0
      },
      (effect) => sql.withTransaction(effect),
      Effect.orDie
    ),

    releaseLease: Effect.fn("TransferRepo.releaseLease")(function* (id, paymentId, leasedAt) {
      yield* sql`
        UPDATE incoming_transfers
        SET match_at = handled_at, handled_at = NULL, handled_by = NULL, note = NULL, attached_to = NULL
        WHERE id = ${id} AND attached_to = ${paymentId} AND handled_at = ${leasedAt} AND payment_id IS NULL`
    }, Effect.orDie),

    tenantsToAlert: Effect.fn("TransferRepo.tenantsToAlert")(function* (storedBefore) {
      // A claim that was written while its transfer was being stored has not seen it.
      yield* sql`
        UPDATE incoming_transfers t SET payment_id = ${claimOf}, merchant_id = ${ownerOf}, match_at = NULL
        WHERE ${isOpen} AND created_at < ${storedBefore} AND EXISTS (SELECT 1 ${equalClaim})`
      const rows = yield* decodeUnalerted(
        yield* sql`
          SELECT merchant_id, env, count(*)::int AS count FROM incoming_transfers
          WHERE ${isOpen} AND alerted_at IS NULL AND created_at < ${storedBefore}
            AND ${isNoticeable(sql)}
          GROUP BY merchant_id, env LIMIT 500`
      )
      return rows.map(({ merchant_id, env, count }) => ({ merchantId: merchant_id, env, count }))
    }, Effect.orDie),

    recordAlerted: Effect.fn("TransferRepo.recordAlerted")(function* (tenant, storedBefore, at) {
      yield* sql`
        UPDATE incoming_transfers SET alerted_at = ${at}
        WHERE ${ofTenant(tenant)} AND ${isOpen} AND alerted_at IS NULL AND created_at < ${storedBefore}`
    }, Effect.orDie)
  }
}

export class TransferRepo extends Context.Service<TransferRepo, TransferStore>()(
  "quittance/payments/TransferRepo"
) {
  static readonly layer: Layer.Layer<TransferRepo, never, SqlClient.SqlClient> = Layer.effect(
    TransferRepo,
    Effect.map(SqlClient.SqlClient, make)
  )
  /** Reads no chain and stores no transfers: payments settle only by reports, and none expires on an open network. */
  static readonly layerNone: Layer.Layer<TransferRepo> = Layer.succeed(TransferRepo, {
    cursor: () => Effect.succeedNone,
    closeCursor: () => Effect.void,
    startCursor: () => Effect.void,
    leaseCursor: () => Effect.succeedNone,
    releaseCursor: () => Effect.void,
    receivers: () => Effect.succeed([]),
    receiversAmong: () => Effect.succeed(new Map()),
    recordRange: () => Effect.succeed(false),
    rewindCursor: () => Effect.succeed(false),
    takeUnmatched: () => Effect.succeed([]),
    awaitsSettlement: () => Effect.succeed(false),
    isReserved: () => Effect.succeed(false),
    paymentsOfNonces: () => Effect.succeed([]),
    paymentOfNonce: () => Effect.succeedNone,
    matchesOf: () => Effect.succeed([]),
    likelyPayments: () => Effect.succeed([]),
    recordMatch: () => Effect.void,
    findTransfer: () => Effect.succeedNone,
    listTransfers: () => Effect.succeed([]),
    handleTransfer: () => Effect.succeed(false),
    leaseForPayment: () => Effect.succeed(false),
    releaseLease: () => Effect.void,
    tenantsToAlert: () => Effect.succeed([]),
    recordAlerted: () => Effect.void
  })
}
