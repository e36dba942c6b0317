// Storage of refunds on Postgres: finds, checks and ends them. refundCreationSql.ts creates and proves them.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AddressBytes, HashBytes, toBytes } from "../../chain/ChainBytes.ts"
import type { Tenant } from "../../domain/Merchant.ts"
import { networks } from "../../domain/networks.ts"
import { blockTolerance } from "../AttemptRepo/AttemptStore.ts"
import { chainIdSql } from "../PaymentRepo/chainIdSql.ts"
import { decodeRefundRows, refundColumns } from "./RefundRepo/RefundRow.ts"
import type { RefundStore } from "./RefundRepo/RefundStore.ts"
import { isRefundOf, makeRefundCreationSql } from "./RefundRepo/refundCreationSql.ts"

const decodeBlocks = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ block_number: Schema.BigInt })))
const decodeAddresses = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ address: AddressBytes })))
const decodeHashes = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ transaction_id: HashBytes })))

const make = (sql: SqlClient.SqlClient): RefundStore => {
  const columns = sql.literal(refundColumns())
  const ofTenant = ({ merchantId, env }: Tenant) => sql`merchant_id = ${merchantId} AND env = ${env}`

  return {
    ...makeRefundCreationSql(sql),

    findRefund: Effect.fn("RefundRepo.findRefund")(function* (tenant, id) {
      const [refund] = yield* decodeRefundRows(
        sql`SELECT ${columns} FROM refunds WHERE id = ${id} AND ${ofTenant(tenant)}`
      )
      return Option.fromUndefinedOr(refund)
    }, Effect.orDie),

    listRefunds: Effect.fn("RefundRepo.listRefunds")(function* (tenant, { limit, of, startingAfter }) {
      const only = of === undefined ? sql`` : sql`AND ${isRefundOf(sql, of)}`
      const after =
        startingAfter === undefined
          ? sql``
          : sql`AND (created_at, id) < (
              SELECT last.created_at, last.id FROM refunds last
              WHERE last.id = ${startingAfter} AND last.merchant_id = ${tenant.merchantId} AND last.env = ${tenant.env})`
      const refunds = yield* decodeRefundRows(sql`
        SELECT ${columns} FROM refunds WHERE ${ofTenant(tenant)} ${only} ${after}
        ORDER BY created_at DESC, id DESC LIMIT ${limit}`)
      if (refunds.length === 0 && startingAfter !== undefined) {
        const last = yield* sql`SELECT 1 FROM refunds WHERE id = ${startingAfter} AND ${ofTenant(tenant)}`
        if (last.length === 0) return Option.none()
      }
      return Option.some(refunds)
    }, Effect.orDie),

    provenRefunds: Effect.fn("RefundRepo.provenRefunds")(function* (paymentId) {
      return yield* decodeRefundRows(sql`
        SELECT ${columns} FROM refunds
        WHERE payment_id = ${paymentId} AND status = 'proven' AND dropped_at IS NULL ORDER BY proven_at, id`)
    }, Effect.orDie),

    settledBlock: Effect.fn("RefundRepo.settledBlock")(function* (paymentId) {
      const [claim] = yield* decodeBlocks(
        yield* sql`SELECT block_number FROM claimed_transfers WHERE payment_id = ${paymentId}`
      )
      return Option.map(Option.fromUndefinedOr(claim), ({ block_number }) => block_number)
    }, Effect.orDie),

    isReceiver: Effect.fn("RefundRepo.isReceiver")(function* (env, address) {
      const rows =
        yield* sql`SELECT 1 FROM merchant_receivers WHERE env = ${env} AND address = ${toBytes(address)}`
      return rows.length > 0
    }, Effect.orDie),

    senderFor: Effect.fn("RefundRepo.senderFor")(function* ({ env, merchantId }, came) {
      const receiverColumn = sql.literal(`receiver_${env}`)
      const [own] = yield* decodeAddresses(
        yield* sql`
          SELECT r.address FROM merchant_receivers r JOIN merchants m ON m.id = r.merchant_id
          WHERE r.merchant_id = ${merchantId} AND r.env = ${env}
          ORDER BY r.address = ${toBytes(came)} DESC,
            r.address = m.${receiverColumn} DESC,
            r.since DESC, r.address LIMIT 1`
      )
      return Option.map(Option.fromUndefinedOr(own), ({ address }) => address)
    }, Effect.orDie),

    sendersOf: Effect.fn("RefundRepo.sendersOf")(function* ({ env, merchantId }, transactionId) {
      const receiverColumn = sql.literal(`receiver_${env}`)
      const rows = yield* decodeAddresses(
        yield* sql`
          WITH sent AS (
            SELECT payer, merchant_id FROM outgoing_transfers
            WHERE chain_id = ${networks[env].chainId} AND transaction_id = ${toBytes(transactionId)}
          )
          SELECT address FROM (
            SELECT DISTINCT payer AS address, true AS present, NULL::timestamptz AS since FROM sent
            WHERE merchant_id = ${merchantId}
            UNION ALL
            SELECT r.address, r.address = m.${receiverColumn}, r.since
            FROM merchant_receivers r JOIN merchants m ON m.id = r.merchant_id
            WHERE r.merchant_id = ${merchantId} AND r.env = ${env}
              AND NOT EXISTS (SELECT 1 FROM sent WHERE sent.payer = r.address)
          ) senders
          ORDER BY present DESC, since DESC, address`
      )
      return new Set(rows.map(({ address }) => address))
    }, Effect.orDie),

    reportRefundTransaction: Effect.fn("RefundRepo.reportRefundTransaction")(function* (
      id,
      transactionId,
      at,
      checkAt
    ) {
      const rows = yield* sql`
          UPDATE refunds SET transaction_id = ${toBytes(transactionId)}, named_at = ${at}, next_look_at = ${checkAt}
          WHERE id = ${id} AND status = 'pending' RETURNING id`
      return rows.length > 0
    }, Effect.orDie),

    endRefund: Effect.fn("RefundRepo.endRefund")(
      function* (id, end, at) {
        // Refunds of one transfer are created and ended one at a time.
        yield* sql`
        SELECT 1 FROM incoming_transfers WHERE id = (SELECT transfer_id FROM refunds WHERE id = ${id})
        FOR NO KEY UPDATE`
        const checked = end.status === "failed" ? end.transactionId : undefined
        const named =
          checked === undefined
            ? sql``
            : sql`AND transaction_id IS NOT DISTINCT FROM ${checked === null ? null : toBytes(checked)}::bytea`
        const rows = yield* sql`
        WITH ended_refund AS (
          UPDATE refunds SET status = ${end.status}, ended_at = ${at}, next_look_at = NULL,
            failure_reason = ${end.status === "failed" ? end.reason : null}
          WHERE id = ${id} AND (status = 'pending' OR (status = 'proven' AND dropped_at IS NOT NULL)) ${named}
          RETURNING ${columns}, took_transfer
        ), next_holder AS (
          -- Another refund of the transfer keeps it handled, and releases it when that one ends.
          UPDATE refunds SET took_transfer = true WHERE id = (
            SELECT o.id FROM refunds o JOIN ended_refund e ON o.transfer_id = e.transfer_id AND o.id <> e.id
            WHERE e.took_transfer AND o.status IN ('pending', 'proven') ORDER BY o.id LIMIT 1)
        ), deleted_claim AS (
          DELETE FROM claimed_transfers c USING ended_refund e
          WHERE c.refund_id = e.id AND c.transaction_id = e.transaction_id AND c.payer = e.sender
            AND c.receiver = e.recipient AND c.amount = e.amount AND c.ordinal = e.ordinal
            AND c.chain_id = ${chainIdSql(sql, "e.env")}
        ), reopened_transfer AS (
          UPDATE incoming_transfers t SET handled_at = NULL, handled_by = NULL, note = NULL, match_at = ${at}
          FROM ended_refund e WHERE t.id = e.transfer_id AND e.took_transfer AND t.payment_id IS NULL AND NOT EXISTS (
            SELECT 1 FROM refunds o WHERE o.transfer_id = t.id AND o.id <> e.id AND o.status IN ('pending', 'proven'))
        )
        SELECT id FROM ended_refund`
        return rows.length > 0
      },
      (effect) => sql.withTransaction(effect),
      Effect.orDie
    ),

    takeDueRefunds: Effect.fn("RefundRepo.takeDueRefunds")(function* (env, at, leaseUntil, limit) {
      const refunds = yield* decodeRefundRows(sql`
        WITH due AS (
          SELECT id FROM refunds WHERE env = ${env} AND next_look_at <= ${at} ORDER BY next_look_at LIMIT ${limit}
          FOR UPDATE SKIP LOCKED
        )
        UPDATE refunds r SET next_look_at = ${leaseUntil} FROM due WHERE r.id = due.id
        RETURNING ${sql.literal(refundColumns("r."))}`)
      return refunds.map((refund) => ({ ...refund, leaseUntil }))
    }, Effect.orDie),

    transfersMatching: Effect.fn("RefundRepo.transfersMatching")(function* (refund) {
      const height = refund.createdBlock?.toString() ?? null
      const hashes = yield* decodeHashes(
        yield* sql`
          SELECT t.transaction_id FROM outgoing_transfers t
          WHERE t.receiver = ${toBytes(refund.recipient)} AND t.amount = ${refund.amount.toString()}::numeric
            AND t.merchant_id = ${refund.merchantId} AND t.env = ${refund.env} AND t.dropped_at IS NULL
            AND (t.block_number > ${height}::bigint
              OR (t.block_time > ${refund.createdAt}::timestamptz - interval '1 minute'
                AND coalesce(t.block_number >= ${height}::bigint - ${blockTolerance}, true)))
            AND NOT EXISTS (
              SELECT 1 FROM claimed_transfers c WHERE c.chain_id = t.chain_id
                AND c.transaction_id = t.transaction_id AND c.payer = t.payer AND c.receiver = t.receiver
                AND c.amount = t.amount AND c.ordinal = t.ordinal)
            -- Excludes a transaction that was reported for another pending refund of the merchant.
            AND NOT EXISTS (
              SELECT 1 FROM refunds o WHERE o.transaction_id = t.transaction_id AND o.id <> ${refund.id}
                AND o.status = 'pending' AND o.merchant_id = t.merchant_id AND o.env = t.env)
          ORDER BY t.block_number, t.ordinal LIMIT 10`
      )
      return [...new Set(hashes.map((row) => row.transaction_id))]
    }, Effect.orDie),

    recordRefundCheck: Effect.fn("RefundRepo.recordRefundCheck")(function* ({ id, transactionId }, checkAt) {
      const transactionBytes = transactionId === null ? null : toBytes(transactionId)
      yield* sql`
        UPDATE refunds SET next_look_at = ${checkAt}
        WHERE id = ${id} AND status = 'pending' AND transaction_id IS NOT DISTINCT FROM ${transactionBytes}::bytea`
    }, Effect.orDie),

    recordRefundWatched: Effect.fn("RefundRepo.recordRefundWatched")(function* (
      { leaseUntil, id },
      { droppedAt, moved, watchAt }
    ) {
      const number = moved?.blockNumber.toString() ?? null
      const hash = moved === undefined ? null : toBytes(moved.blockHash)
      const rows = yield* sql`
          WITH updated_refund AS (
            UPDATE refunds SET dropped_at = ${droppedAt}, next_look_at = ${watchAt},
              block_number = coalesce(${number}::bigint, block_number),
              block_hash = coalesce(${hash}::bytea, block_hash)
            WHERE id = ${id} AND status = 'proven' AND next_look_at = ${leaseUntil} RETURNING ${columns}
          ), updated_claim AS (
            UPDATE claimed_transfers c SET dropped_at = n.dropped_at, block_number = n.block_number,
              block_hash = n.block_hash, log_position = coalesce(${moved?.logPosition ?? null}::integer, log_position)
            FROM updated_refund n
            WHERE c.refund_id = n.id AND c.transaction_id = n.transaction_id AND c.payer = n.sender
              AND c.receiver = n.recipient AND c.amount = n.amount AND c.ordinal = n.ordinal
              AND c.chain_id = ${chainIdSql(sql, "n.env")}
          )
          SELECT id FROM updated_refund`
      return rows.length > 0
    }, Effect.orDie)
  }
}

export class RefundRepo extends Context.Service<RefundRepo, RefundStore>()("quittance/payments/RefundRepo") {
  static readonly layer: Layer.Layer<RefundRepo, never, SqlClient.SqlClient> = Layer.effect(
    RefundRepo,
    Effect.map(SqlClient.SqlClient, make)
  )
  /** Stores no refunds, and knows nothing to refund. */
  static readonly layerNone: Layer.Layer<RefundRepo> = Layer.succeed(RefundRepo, {
    createRefund: () => Effect.succeed({ _tag: "Unknown" }),
    findRefund: () => Effect.succeedNone,
    listRefunds: (_, { startingAfter }) =>
      Effect.succeed(startingAfter === undefined ? Option.some([]) : Option.none()),
    provenRefunds: () => Effect.succeed([]),
    refundBalance: () => Effect.succeed({ paid: 0n, refunded: 0n }),
    settledBlock: () => Effect.succeedNone,
    isReceiver: () => Effect.succeed(false),
    senderFor: () => Effect.succeedNone,
    sendersOf: () => Effect.succeed(new Set()),
    reportRefundTransaction: () => Effect.succeed(false),
    proveRefund: () => Effect.succeedNone,
    endRefund: () => Effect.succeed(false),
    takeDueRefunds: () => Effect.succeed([]),
    transfersMatching: () => Effect.succeed([]),
    recordRefundCheck: () => Effect.void,
    recordRefundWatched: () => Effect.succeed(false)
  })
}
