// The position up to which the chain is read, and the transfers of each range, on Postgres.
import { Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { AddressBytes, HashBytes, toBytes } from "../../chain/ChainBytes.ts"
import type { Address, Env } from "../../domain/Chain.ts"
import { MerchantId } from "../../domain/Merchant.ts"
import { networks } from "../../domain/networks.ts"
import { plusMillis } from "../../domain/plusMillis.ts"
import {
  type ChainCursor,
  type ChainReadingStore,
  type CursorLease,
  latestPlausibleEnd,
  reappearanceDelayMillis
} from "./TransferStore.ts"

const decodeCursors = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ block_number: Schema.BigInt, block_hash: HashBytes, block_time: Schema.Date }))
)
const decodeReceivers = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ address: AddressBytes, merchant_id: MerchantId, since: Schema.Date }))
)

const decodeAddresses = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ address: AddressBytes })))

export const makeChainReadingSql = (sql: SqlClient.SqlClient): ChainReadingStore => {
  const chainOf = (env: Env) => networks[env].chainId
  const oneCursor = (statement: Effect.Effect<ReadonlyArray<unknown>, unknown>) =>
    Effect.flatMap(statement, decodeCursors).pipe(
      Effect.map(([row]) =>
        Option.map(
          Option.fromUndefinedOr(row),
          ({ block_number, block_hash, block_time }): ChainCursor => ({
            blockNumber: block_number,
            blockHash: block_hash,
            blockTime: block_time
          })
        )
      )
    )

  /** Moves a cursor that is still where the caller left it, under the caller's lease, and renews the lease. */
  const advanceCursor = (env: Env, lease: CursorLease, from: ChainCursor, to: ChainCursor) => sql`
    UPDATE chain_cursors SET block_number = ${to.blockNumber.toString()}::bigint,
      block_hash = ${toBytes(to.blockHash)}, block_time = ${to.blockTime},
      leased_until = ${lease.until}, closed_at = NULL
    WHERE chain_id = ${chainOf(env)} AND lease_id = ${lease.id}
      AND block_number = ${from.blockNumber.toString()}::bigint AND block_hash = ${toBytes(from.blockHash)}
    RETURNING chain_id`

  return {
    cursor: Effect.fn("TransferRepo.cursor")(function* (env) {
      return yield* oneCursor(
        sql`SELECT block_number, block_hash, block_time FROM chain_cursors WHERE chain_id = ${chainOf(env)}`
      )
    }, Effect.orDie),

    closeCursor: Effect.fn("TransferRepo.closeCursor")(function* (env, at) {
      yield* sql`
        UPDATE chain_cursors SET closed_at = ${at} WHERE chain_id = ${chainOf(env)} AND closed_at IS NULL`
    }, Effect.orDie),

    startCursor: Effect.fn("TransferRepo.startCursor")(function* (env, cursor) {
      yield* sql`
        INSERT INTO chain_cursors (chain_id, block_number, block_hash, block_time)
        VALUES (${chainOf(env)}, ${cursor.blockNumber.toString()}::bigint, ${toBytes(cursor.blockHash)},
          ${cursor.blockTime})
        ON CONFLICT DO NOTHING`
    }, Effect.orDie),

    leaseCursor: Effect.fn("TransferRepo.leaseCursor")(function* (env, lease) {
      return yield* oneCursor(sql`
        UPDATE chain_cursors SET lease_id = ${lease.id}, leased_until = ${lease.until}
        WHERE chain_id = ${chainOf(env)}
          AND (lease_id IS NULL OR lease_id = ${lease.id} OR leased_until <= ${lease.at}
            -- The lease was taken while the clock was ahead.
            OR leased_until > ${latestPlausibleEnd(lease)})
        RETURNING block_number, block_hash, block_time`)
    }, Effect.orDie),

    releaseCursor: Effect.fn("TransferRepo.releaseCursor")(function* (env, leaseId) {
      yield* sql`
        UPDATE chain_cursors SET lease_id = NULL, leased_until = NULL
        WHERE chain_id = ${chainOf(env)} AND lease_id = ${leaseId}`
    }, Effect.orDie),

    receivers: Effect.fn("TransferRepo.receivers")(function* (env, limit) {
      const rows = yield* decodeAddresses(
        yield* sql`SELECT address FROM merchant_receivers WHERE env = ${env} LIMIT ${limit}`
      )
      return rows.map(({ address }) => address)
    }, Effect.orDie),

    receiversAmong: Effect.fn("TransferRepo.receiversAmong")(function* (env, addresses) {
      const rows = yield* decodeReceivers(
        yield* sql`
          SELECT address, merchant_id, watched_since AS since FROM merchant_receivers
          WHERE env = ${env} AND address = ANY(${addresses.map(toBytes)}::bytea[])`
      )
      return new Map(
        rows.map(({ address, merchant_id, since }): [Address, { merchantId: MerchantId; since: Date }] => [
          address,
          { merchantId: merchant_id, since }
        ])
      )
    }, Effect.orDie),

    recordRange: Effect.fn("TransferRepo.recordRange")(function* ({
      env,
      lease,
      from,
      outgoing,
      to,
      transfers
    }) {
      const lookAt = plusMillis(lease.at, reappearanceDelayMillis)
      const rows = yield* sql`
        WITH advanced_cursor AS (${advanceCursor(env, lease, from, to)}), read_incoming AS (
          SELECT * FROM unnest(
            ${transfers.map((transfer) => transfer.id)}::uuid[], ${transfers.map((transfer) => toBytes(transfer.transactionId))}::bytea[],
            ${transfers.map((transfer) => toBytes(transfer.payer))}::bytea[],
            ${transfers.map((transfer) => toBytes(transfer.receiver))}::bytea[],
            ${transfers.map((transfer) => transfer.amount.toString())}::numeric[],
            ${transfers.map((transfer) => transfer.ordinal)}::integer[], ${transfers.map((transfer) => transfer.merchantId)}::uuid[],
            ${transfers.map((transfer) => transfer.blockNumber.toString())}::bigint[],
            ${transfers.map((transfer) => toBytes(transfer.blockHash))}::bytea[],
            ${transfers.map((transfer) => transfer.blockTime)}::timestamptz[]
          ) AS read_incoming (id, transaction_id, payer, receiver, amount, ordinal, merchant_id, block_number, block_hash,
            block_time)
        ), stored_incoming AS (
          INSERT INTO incoming_transfers AS t
            (id, chain_id, transaction_id, payer, receiver, amount, ordinal, merchant_id, env, block_number,
             block_hash, block_time, payment_id, match_at, created_at)
          SELECT s.id, advanced_cursor.chain_id, s.transaction_id, s.payer, s.receiver, s.amount, s.ordinal,
            coalesce(p.merchant_id, s.merchant_id), ${env}::text, s.block_number, s.block_hash, s.block_time, c.payment_id,
            CASE WHEN c.payment_id IS NULL THEN ${lease.at}::timestamptz END, ${lease.at}::timestamptz
          FROM advanced_cursor CROSS JOIN read_incoming s LEFT JOIN claimed_transfers c
            ON c.chain_id = advanced_cursor.chain_id AND c.transaction_id = s.transaction_id AND c.payer = s.payer
              AND c.receiver = s.receiver AND c.amount = s.amount AND c.ordinal = s.ordinal
            LEFT JOIN payments p ON p.id = c.payment_id
          ON CONFLICT (chain_id, transaction_id, payer, receiver, amount, ordinal) DO UPDATE SET
            block_number = excluded.block_number, block_hash = excluded.block_hash,
            block_time = excluded.block_time, dropped_at = NULL,
            match_at = CASE
              WHEN t.payment_id IS NULL AND (t.handled_at IS NULL OR t.attached_to IS NOT NULL)
              THEN excluded.created_at ELSE t.match_at END
        ), dropped_incoming AS (
          UPDATE incoming_transfers t SET dropped_at = ${lease.at}, match_at = NULL
          FROM advanced_cursor WHERE t.chain_id = advanced_cursor.chain_id AND t.dropped_at IS NULL
            AND t.block_number > ${from.blockNumber.toString()}::bigint
            AND t.block_number <= ${to.blockNumber.toString()}::bigint
            AND NOT EXISTS (
              SELECT 1 FROM read_incoming s WHERE s.transaction_id = t.transaction_id AND s.payer = t.payer
                AND s.receiver = t.receiver AND s.amount = t.amount AND s.ordinal = t.ordinal)
        ), read_outgoing AS (
          SELECT * FROM unnest(
            ${outgoing.map((transfer) => toBytes(transfer.transactionId))}::bytea[],
            ${outgoing.map((transfer) => toBytes(transfer.payer))}::bytea[],
            ${outgoing.map((transfer) => toBytes(transfer.receiver))}::bytea[],
            ${outgoing.map((transfer) => transfer.amount.toString())}::numeric[],
            ${outgoing.map((transfer) => transfer.ordinal)}::integer[], ${outgoing.map((transfer) => transfer.merchantId)}::uuid[],
            ${outgoing.map((transfer) => transfer.blockNumber.toString())}::bigint[],
            ${outgoing.map((transfer) => toBytes(transfer.blockHash))}::bytea[],
            ${outgoing.map((transfer) => transfer.blockTime)}::timestamptz[]
          ) AS read_outgoing (transaction_id, payer, receiver, amount, ordinal, merchant_id, block_number, block_hash,
            block_time)
        ), stored_outgoing AS (
          INSERT INTO outgoing_transfers
            (chain_id, transaction_id, payer, receiver, amount, ordinal, merchant_id, env, block_number, block_hash,
             block_time)
          SELECT advanced_cursor.chain_id, s.transaction_id, s.payer, s.receiver, s.amount, s.ordinal,
            -- A transfer that proves a refund belongs to the refund's merchant, whoever has the address now.
            coalesce(r.merchant_id, s.merchant_id), ${env}::text, s.block_number, s.block_hash, s.block_time
          FROM advanced_cursor CROSS JOIN read_outgoing s LEFT JOIN claimed_transfers c
            ON c.chain_id = advanced_cursor.chain_id AND c.transaction_id = s.transaction_id AND c.payer = s.payer
              AND c.receiver = s.receiver AND c.amount = s.amount AND c.ordinal = s.ordinal
            LEFT JOIN refunds r ON r.id = c.refund_id
          ON CONFLICT (chain_id, transaction_id, payer, receiver, amount, ordinal) DO UPDATE SET
            block_number = excluded.block_number, block_hash = excluded.block_hash,
            block_time = excluded.block_time, dropped_at = NULL
        ), rewatched_claims AS (
          -- Transfers that were given up as lost are watched again.
          UPDATE claimed_transfers c SET watch_at = ${lookAt}
          FROM advanced_cursor, read_incoming s WHERE c.chain_id = advanced_cursor.chain_id AND c.transaction_id = s.transaction_id
            AND c.payer = s.payer AND c.receiver = s.receiver AND c.amount = s.amount AND c.ordinal = s.ordinal
            AND c.payment_id IS NOT NULL AND c.dropped_at IS NOT NULL AND c.watch_at IS NULL
        ), rewatched_refunds AS (
          UPDATE refunds r SET next_look_at = ${lookAt}
          FROM advanced_cursor, read_outgoing s WHERE r.transaction_id = s.transaction_id AND r.sender = s.payer
            AND r.recipient = s.receiver AND r.amount = s.amount AND r.ordinal = s.ordinal AND r.env = ${env}
            AND r.status = 'proven' AND r.dropped_at IS NOT NULL AND r.next_look_at IS NULL
        ), dropped_outgoing AS (
          UPDATE outgoing_transfers t SET dropped_at = ${lease.at}
          FROM advanced_cursor WHERE t.chain_id = advanced_cursor.chain_id AND t.dropped_at IS NULL
            AND t.block_number > ${from.blockNumber.toString()}::bigint
            AND t.block_number <= ${to.blockNumber.toString()}::bigint
            AND NOT EXISTS (
              SELECT 1 FROM read_outgoing s WHERE s.transaction_id = t.transaction_id AND s.payer = t.payer
                AND s.receiver = t.receiver AND s.amount = t.amount AND s.ordinal = t.ordinal)
        )
        SELECT chain_id FROM advanced_cursor`
      return rows.length > 0
    }, Effect.orDie),

    rewindCursor: Effect.fn("TransferRepo.rewindCursor")(function* (env, lease, from, to) {
      return (yield* advanceCursor(env, lease, from, to)).length > 0
    }, Effect.orDie)
  }
}
