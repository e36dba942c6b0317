// What the reconciler does to payments in Postgres: takes due work under a lease,
// notes what it found, fails what was never paid.
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { AddressBytes, HashBytes, toBytes } from "../chain/ChainBytes.ts"
import { Env } from "../domain/Chain.ts"
import { MerchantId } from "../domain/Merchant.ts"
import { AtomicUsdc } from "../domain/Money.ts"
import { type Evidence, FailureReason, PaymentId } from "../domain/Payment.ts"
import { TokenChange } from "../domain/TokenChange.ts"
import { evidenceKey } from "./evidenceKey.ts"
import type { PaymentRepo, Verdict, WatchedTransfer } from "./PaymentRepo.ts"
import { PaymentRow, paymentColumns, toPayment } from "./PaymentRow.ts"

const AtomicFromNumeric = Schema.BigIntFromString.pipe(Schema.decodeTo(AtomicUsdc))

const decodeDueReports = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      ...PaymentRow.fields,
      kept_transaction_id: HashBytes,
      kept_payer_address: AddressBytes,
      kept_token_changes: Schema.Array(TokenChange),
      kept_reported_at: Schema.Date,
      checks: Schema.Int
    })
  )
)
const decodeExpired = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ id: PaymentId, failure_reason: FailureReason }))
)
const decodeWatched = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      payment_id: PaymentId,
      merchant_id: MerchantId,
      env: Env,
      chain_id: Schema.Int,
      transaction_id: HashBytes,
      log_position: Schema.Int,
      block_number: Schema.BigInt,
      block_hash: HashBytes,
      dropped_at: Schema.NullOr(Schema.Date),
      payer_address: AddressBytes,
      receiver: AddressBytes,
      amount: AtomicFromNumeric
    })
  )
)

/** How many changes of verdict are kept for a payment; the oldest go first. */
const keptVerdicts = 50

const reportOf = (sql: SqlClient.SqlClient, paymentId: PaymentId, evidence: Evidence) => sql`
  SELECT payment_id, evidence, outcome FROM payment_reports
  WHERE payment_id = ${paymentId} AND evidence = ${evidenceKey(evidence)} FOR UPDATE`

/** Ends a statement whose `noted` holds the report with its `former` outcome: keeps the change. */
const history = (sql: SqlClient.SqlClient, paymentId: PaymentId, verdict: Verdict) => sql`
  kept AS (
    INSERT INTO payment_verdicts
      (payment_id, at, evidence, reported_at, transaction_id, payer_address, verdict, expected, actual)
    SELECT payment_id, ${verdict.at}::timestamptz, evidence, reported_at, transaction_id, payer_address, outcome,
      ${verdict.expected ?? null}::text, ${verdict.actual ?? null}::text
    FROM noted WHERE former IS DISTINCT FROM outcome
    RETURNING payment_id
  )
  DELETE FROM payment_verdicts WHERE EXISTS (SELECT 1 FROM kept) AND payment_id = ${paymentId}
    AND at < (SELECT at FROM payment_verdicts WHERE payment_id = ${paymentId}
      ORDER BY at DESC OFFSET ${keptVerdicts - 2} LIMIT 1)`

/** The part of PaymentRepo that works without a request. */
export const makeReconcilerStatements = (
  sql: SqlClient.SqlClient
): Pick<
  PaymentRepo["Service"],
  "noteCheck" | "noteVerdict" | "takeDueReports" | "expire" | "takeWatched" | "noteWatched"
> => ({
  noteCheck: Effect.fn("PaymentRepo.noteCheck")(function* (paymentId, evidence, verdict, nextCheckAt) {
    yield* sql`
        WITH known AS (${reportOf(sql, paymentId, evidence)}), noted AS (
          UPDATE payment_reports r SET outcome = ${verdict.reason}, checks = r.checks + 1,
            next_check_at = ${nextCheckAt}
          FROM known WHERE r.payment_id = known.payment_id AND r.evidence = known.evidence
          RETURNING r.*, known.outcome AS former
        ), ${history(sql, paymentId, verdict)}`
  }, Effect.orDie),
  noteVerdict: Effect.fn("PaymentRepo.noteVerdict")(function* (paymentId, evidence, verdict) {
    yield* sql`
        WITH known AS (${reportOf(sql, paymentId, evidence)}), noted AS (
          UPDATE payment_reports r SET outcome = ${verdict.reason}
          FROM known WHERE r.payment_id = known.payment_id AND r.evidence = known.evidence
            AND known.outcome IS DISTINCT FROM ${verdict.reason}
          RETURNING r.*, known.outcome AS former
        ), ${history(sql, paymentId, verdict)}`
  }, Effect.orDie),
  takeDueReports: Effect.fn("PaymentRepo.takeDueReports")(function* (at, leaseUntil, limit) {
    const rows = yield* sql`
        WITH due AS (
          SELECT r.payment_id, r.evidence FROM payment_reports r
          WHERE r.next_check_at <= ${at} ORDER BY r.next_check_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
        ), taken AS (
          -- A report kept while its payment settled has nobody left to look for it.
          UPDATE payment_reports r
          SET next_check_at = CASE p.status WHEN 'pending' THEN ${leaseUntil}::timestamptz END
          FROM due JOIN payments p ON p.id = due.payment_id
          WHERE r.payment_id = due.payment_id AND r.evidence = due.evidence
          RETURNING r.*
        )
        SELECT ${sql.literal(paymentColumns("p."))}, t.transaction_id AS kept_transaction_id, t.payer_address AS kept_payer_address,
          t.token_changes AS kept_token_changes, t.reported_at AS kept_reported_at, t.checks
        FROM taken t JOIN payments p ON p.id = t.payment_id AND p.status = 'pending'`
    return (yield* decodeDueReports(rows)).map((row) => ({
      payment: toPayment(row),
      evidence: {
        transactionId: row.kept_transaction_id,
        payer: row.kept_payer_address,
        tokenChanges: row.kept_token_changes
      },
      reportedAt: row.kept_reported_at,
      checks: row.checks
    }))
  }, Effect.orDie),
  expire: Effect.fn("PaymentRepo.expire")(function* ({ openedBefore, reportedBefore, at, limit = 500 }) {
    const rows = yield* sql`
        WITH ripe AS (
          SELECT p.id, r.last_reported_at FROM payments p
          LEFT JOIN LATERAL (
            SELECT max(reported_at) AS last_reported_at FROM payment_reports WHERE payment_id = p.id
          ) r ON true
          WHERE p.status = 'pending' AND p.reported_at IS NULL AND p.created_at < ${openedBefore}
            AND (r.last_reported_at IS NULL OR r.last_reported_at < ${reportedBefore})
          ORDER BY p.created_at LIMIT ${limit} FOR UPDATE OF p SKIP LOCKED
        ), failed AS (
          UPDATE payments p SET status = 'failed', failed_at = ${at},
            failure_reason = CASE WHEN ripe.last_reported_at IS NULL THEN 'expired' ELSE 'unverified' END
          FROM ripe WHERE p.id = ripe.id AND p.status = 'pending'
          RETURNING p.id, p.failure_reason
        ), dropped AS (
          UPDATE payment_reports SET next_check_at = NULL WHERE payment_id IN (SELECT id FROM failed)
        )
        SELECT * FROM failed`
    return (yield* decodeExpired(rows)).map((row) => ({ id: row.id, reason: row.failure_reason }))
  }, Effect.orDie),
  takeWatched: Effect.fn("PaymentRepo.takeWatched")(function* (at, leaseUntil, limit) {
    const rows = yield* sql`
        WITH due AS (
          SELECT payment_id FROM claimed_transfers
          WHERE watch_at <= ${at} ORDER BY watch_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
        ), taken AS (
          UPDATE claimed_transfers c SET watch_at = ${leaseUntil} FROM due
          WHERE c.payment_id = due.payment_id RETURNING c.*
        )
        SELECT t.payment_id, p.merchant_id, p.env, t.chain_id, t.transaction_id, t.log_position,
          t.block_number, t.block_hash, t.dropped_at, p.payer_address, p.receiver, p.amount
        FROM taken t JOIN payments p ON p.id = t.payment_id`
    return (yield* decodeWatched(rows)).map(
      (row): WatchedTransfer => ({
        paymentId: row.payment_id,
        merchantId: row.merchant_id,
        env: row.env,
        chainId: row.chain_id,
        transactionId: row.transaction_id,
        logPosition: row.log_position,
        blockNumber: row.block_number,
        blockHash: row.block_hash,
        transfer: { payer: row.payer_address, receiver: row.receiver, amount: row.amount },
        droppedAt: row.dropped_at
      })
    )
  }, Effect.orDie),
  noteWatched: Effect.fn("PaymentRepo.noteWatched")(function* (paymentId, { moved, droppedAt, watchAt }) {
    const position = moved?.logPosition ?? null
    yield* sql`
        UPDATE claimed_transfers c SET dropped_at = ${droppedAt}, watch_at = ${watchAt},
          block_number = coalesce(${moved?.blockNumber.toString() ?? null}::bigint, block_number),
          block_hash = coalesce(${moved === undefined ? null : toBytes(moved.blockHash)}::bytea, block_hash),
          log_position = CASE
            WHEN EXISTS (
              SELECT 1 FROM claimed_transfers o
              WHERE o.chain_id = c.chain_id AND o.transaction_id = c.transaction_id
                AND o.log_position = ${position}::integer AND o.payment_id <> c.payment_id
            ) THEN log_position
            ELSE coalesce(${position}::integer, log_position)
          END
        WHERE payment_id = ${paymentId}`
  }, Effect.orDie)
})
