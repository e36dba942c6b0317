// The reconciler's statements on Postgres: take due payments under a lease, record the outcome, fail payments that
// were never paid.

import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { AddressBytes, HashBytes, toBytes } from "../../chain/ChainBytes.ts"
import { Env } from "../../domain/Chain.ts"
import { MerchantId } from "../../domain/Merchant.ts"
import { AtomicUsdc } from "../../domain/Money.ts"
import { envs, networks } from "../../domain/networks.ts"
import { type Evidence, FailureReason, PaymentId } from "../../domain/Payment.ts"
import { TokenChange } from "../../domain/TokenChange.ts"
import type { Networks } from "../../platform/Networks.ts"
import { PaymentRow, paymentColumns, toPayment } from "../PaymentRow.ts"
import { evidenceKey } from "./evidenceKey.ts"
import type { ReconcilerStore, Verdict, WatchedTransfer } from "./PaymentStore.ts"
import { failPayments } from "./paymentStatusSql.ts"

const AtomicFromNumeric = Schema.BigIntFromString.pipe(Schema.decodeTo(AtomicUsdc))

const decodeDueReports = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      ...PaymentRow.fields,
      attempt_block: Schema.NullOr(Schema.BigInt),
      report_transaction_id: HashBytes,
      report_payer_address: AddressBytes,
      report_token_changes: Schema.Array(TokenChange),
      report_reported_at: Schema.Date,
      checks: Schema.Int
    })
  )
)
const decodeExpired = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ id: PaymentId, failure_reason: FailureReason }))
)
const decodeIds = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ id: PaymentId })))
const decodeWatched = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      payment_id: PaymentId,
      merchant_id: MerchantId,
      env: Env,
      chain_id: Schema.Int,
      transaction_id: HashBytes,
      log_position: Schema.Int,
      ordinal: Schema.Int,
      block_number: Schema.BigInt,
      block_hash: HashBytes,
      dropped_at: Schema.NullOr(Schema.Date),
      is_replacement: Schema.Boolean,
      payer_address: AddressBytes,
      receiver: AddressBytes,
      amount: AtomicFromNumeric
    })
  )
)

/** The number of changed verdicts stored for a payment; the oldest are evicted first. */
const maxVerdicts = 50

const reportOf = (sql: SqlClient.SqlClient, paymentId: PaymentId, evidence: Evidence) => sql`
  SELECT payment_id, evidence, outcome FROM payment_reports
  WHERE payment_id = ${paymentId} AND evidence = ${evidenceKey(evidence)}`

/** Completes a statement whose `updated_report` holds the report and its `former` outcome: stores the change. */
const history = (sql: SqlClient.SqlClient, paymentId: PaymentId, verdict: Verdict) => sql`
  stored_verdict AS (
    INSERT INTO payment_verdicts
      (payment_id, at, evidence, reported_at, transaction_id, payer_address, verdict, expected, actual)
    SELECT payment_id, ${verdict.at}::timestamptz, evidence, reported_at, transaction_id, payer_address, outcome,
      ${verdict.expected ?? null}::text, ${verdict.actual ?? null}::text
    FROM updated_report WHERE former IS DISTINCT FROM outcome
    RETURNING payment_id
  )
  DELETE FROM payment_verdicts WHERE EXISTS (SELECT 1 FROM stored_verdict) AND payment_id = ${paymentId}
    AND at < (SELECT at FROM payment_verdicts WHERE payment_id = ${paymentId}
      ORDER BY at DESC OFFSET ${maxVerdicts - 2} LIMIT 1)`

/** The part of PaymentRepo that works without a request. */
export const makeReconcilerSql = (sql: SqlClient.SqlClient, { executing }: Networks): ReconcilerStore => ({
  recordCheck: Effect.fn("PaymentRepo.recordCheck")(function* (
    paymentId,
    evidence,
    verdict,
    { leaseUntil, nextCheckAt }
  ) {
    yield* sql`
        WITH locked_report AS (${reportOf(sql, paymentId, evidence)} AND next_check_at = ${leaseUntil} FOR UPDATE), updated_report AS (
          UPDATE payment_reports r SET outcome = ${verdict.reason}, checks = r.checks + 1,
            next_check_at = ${nextCheckAt}
          FROM locked_report WHERE r.payment_id = locked_report.payment_id AND r.evidence = locked_report.evidence
          RETURNING r.*, locked_report.outcome AS former
        ), ${history(sql, paymentId, verdict)}`
  }, Effect.orDie),
  recordVerdict: Effect.fn("PaymentRepo.recordVerdict")(function* (paymentId, evidence, verdict) {
    yield* sql`
        WITH locked_report AS (${reportOf(sql, paymentId, evidence)} FOR UPDATE), updated_report AS (
          UPDATE payment_reports r SET outcome = ${verdict.reason}
          FROM locked_report WHERE r.payment_id = locked_report.payment_id AND r.evidence = locked_report.evidence
            AND locked_report.outcome IS DISTINCT FROM ${verdict.reason}
          RETURNING r.*, locked_report.outcome AS former
        ), ${history(sql, paymentId, verdict)}`
  }, Effect.orDie),
  requeueRecordedReports: Effect.fn("PaymentRepo.requeueRecordedReports")(function* (env, at) {
    const rows = yield* sql`
        UPDATE payment_reports r SET next_check_at = ${at} FROM payments p
        WHERE p.id = r.payment_id AND p.env = ${env} AND p.status <> 'settled'
          AND r.next_check_at IS NULL AND r.checks = 0 AND r.outcome IS NULL
        RETURNING r.payment_id`
    return rows.length
  }, Effect.orDie),
  takeDueReports: Effect.fn("PaymentRepo.takeDueReports")(function* (env, at, leaseUntil, limit) {
    const rows = yield* sql`
        WITH waiting AS (
          -- Merchants take turns. Within a merchant, the reports with the fewest checks come first.
          SELECT r.payment_id, r.evidence, row_number() OVER (
              PARTITION BY p.merchant_id ORDER BY r.checks, r.next_check_at) AS turn, r.next_check_at
          FROM payment_reports r JOIN payments p ON p.id = r.payment_id
          WHERE p.env = ${env} AND r.next_check_at <= ${at}
        ), due AS (
          SELECT r.payment_id, r.evidence FROM payment_reports r
          WHERE (r.payment_id, r.evidence) IN (
            SELECT payment_id, evidence FROM waiting ORDER BY turn, next_check_at LIMIT ${limit}
          ) AND r.next_check_at <= ${at}
          FOR UPDATE SKIP LOCKED
        ), leased AS (
          -- A report that was stored while its payment settled needs no check.
          UPDATE payment_reports r
          SET next_check_at = CASE WHEN p.status <> 'settled' THEN ${leaseUntil}::timestamptz END
          FROM due JOIN payments p ON p.id = due.payment_id
          WHERE r.payment_id = due.payment_id AND r.evidence = due.evidence
          RETURNING r.*
        )
        SELECT ${sql.literal(paymentColumns("p."))}, t.transaction_id AS report_transaction_id, t.payer_address AS report_payer_address,
          t.token_changes AS report_token_changes, t.reported_at AS report_reported_at, t.checks, (
            SELECT min(a.block_number) FROM payment_attempts a
            WHERE a.payment_id = t.payment_id AND a.payer_address = t.payer_address) AS attempt_block
        FROM leased t JOIN payments p ON p.id = t.payment_id AND p.status <> 'settled'`
    return (yield* decodeDueReports(rows)).map((row) => ({
      payment: toPayment(row),
      attemptBlock: row.attempt_block,
      evidence: {
        transactionId: row.report_transaction_id,
        payer: row.report_payer_address,
        tokenChanges: row.report_token_changes
      },
      reportedAt: row.report_reported_at,
      checks: row.checks,
      leaseUntil
    }))
  }, Effect.orDie),
  expire: Effect.fn("PaymentRepo.expire")(
    function* ({ openedBefore, reportedBefore, at, limit = 500 }) {
      const mayFail = sql`
        p.status = 'pending' AND p.reported_at IS NULL
        AND ${sql.or(envs.map((env) => sql`(p.env = ${env} AND p.created_at < ${openedBefore[env]})`))}
        AND NOT EXISTS (
          SELECT 1 FROM payment_reports r WHERE r.payment_id = p.id
            AND (p.env <> ALL (${executing}::text[]) OR r.reported_at >= ${reportedBefore} OR r.next_check_at IS NOT NULL))
        AND NOT EXISTS (
          SELECT 1 FROM x402_settlements s WHERE s.payment_id = p.id AND s.status = 'pending')
        -- A transfer that could pay it has arrived and is not matched yet.
        AND NOT EXISTS (
          SELECT 1 FROM incoming_transfers t
          WHERE t.match_at IS NOT NULL AND t.payment_id IS NULL AND t.dropped_at IS NULL
            AND t.env = p.env AND t.receiver = p.receiver AND t.amount = p.amount)`
      // Lock first, so that the next statement sees every settlement registered before. A payment that is just being
      // reported is locked by the report's foreign key, and skipped.
      const locked = yield* decodeIds(
        yield* sql`
          SELECT p.id FROM payments p WHERE ${mayFail}
          ORDER BY p.created_at LIMIT ${limit} FOR UPDATE OF p SKIP LOCKED`
      )
      if (locked.length === 0) return []
      const rows = yield* sql`
        ${failPayments(
          sql,
          at,
          sql`CASE WHEN EXISTS (SELECT 1 FROM payment_reports r WHERE r.payment_id = p.id)
            THEN 'unverified' ELSE 'expired' END`,
          sql`p.id = ANY(${locked.map(({ id }) => id)}::uuid[]) AND ${mayFail}`
        )}
        RETURNING p.id, p.failure_reason`
      return (yield* decodeExpired(rows)).map((row) => ({ id: row.id, reason: row.failure_reason }))
    },
    (effect) => sql.withTransaction(effect),
    Effect.orDie
  ),
  pruneReports: Effect.fn("PaymentRepo.pruneReports")(function* (reportedBefore, limit) {
    const rows = yield* sql`
        DELETE FROM payment_reports r USING (
          SELECT o.payment_id, o.evidence FROM payment_reports o JOIN payments p ON p.id = o.payment_id
          WHERE o.next_check_at IS NULL AND o.reported_at < ${reportedBefore} AND p.env = ANY (${executing}::text[])
            AND p.status <> 'pending'
          ORDER BY o.reported_at LIMIT ${limit}
        ) ended
        WHERE r.payment_id = ended.payment_id AND r.evidence = ended.evidence
          -- A report that was repeated in the meantime is checked again.
          AND r.next_check_at IS NULL AND r.reported_at < ${reportedBefore}
        RETURNING r.payment_id`
    return rows.length
  }, Effect.orDie),
  takeWatched: Effect.fn("PaymentRepo.takeWatched")(function* (env, at, leaseUntil, limit) {
    const rows = yield* sql`
        WITH due AS (
          SELECT payment_id FROM claimed_transfers
          WHERE chain_id = ${networks[env].chainId} AND watch_at <= ${at}
          ORDER BY watch_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
        ), leased AS (
          UPDATE claimed_transfers c SET watch_at = ${leaseUntil} FROM due
          WHERE c.payment_id = due.payment_id RETURNING c.*
        )
        SELECT t.payment_id, p.merchant_id, p.env, t.chain_id, t.transaction_id, t.log_position, t.ordinal,
          t.block_number, t.block_hash, t.dropped_at, p.payer_address, p.receiver, p.amount,
          t.transaction_id <> p.transaction_id AS is_replacement
        FROM leased t JOIN payments p ON p.id = t.payment_id`
    return (yield* decodeWatched(rows)).map(
      (row): WatchedTransfer => ({
        paymentId: row.payment_id,
        merchantId: row.merchant_id,
        env: row.env,
        chainId: row.chain_id,
        transactionId: row.transaction_id,
        logPosition: row.log_position,
        ordinal: row.ordinal,
        blockNumber: row.block_number,
        blockHash: row.block_hash,
        transfer: {
          payer: row.payer_address,
          receiver: row.receiver,
          amount: row.amount,
          ordinal: row.ordinal
        },
        droppedAt: row.dropped_at,
        isReplacement: row.is_replacement,
        leaseUntil
      })
    )
  }, Effect.orDie),
  recordWatched: Effect.fn("PaymentRepo.recordWatched")(function* (
    { leaseUntil, paymentId },
    { moved, droppedAt, watchAt }
  ) {
    const updateClaim = sql`
        UPDATE claimed_transfers SET dropped_at = ${droppedAt}, watch_at = ${watchAt},
          block_number = coalesce(${moved?.blockNumber.toString() ?? null}::bigint, block_number),
          block_hash = coalesce(${moved === undefined ? null : toBytes(moved.blockHash)}::bytea, block_hash),
          log_position = coalesce(${moved?.logPosition ?? null}::integer, log_position)
        WHERE payment_id = ${paymentId} AND watch_at = ${leaseUntil}`
    const rows =
      droppedAt === null
        ? yield* sql`${updateClaim} RETURNING payment_id`
        : yield* sql`
            WITH updated_claim AS (${updateClaim} RETURNING payment_id, chain_id, payer, receiver, amount), rematched AS (
              UPDATE incoming_transfers t SET match_at = coalesce(t.match_at, ${droppedAt}) FROM updated_claim
              WHERE t.payer = updated_claim.payer AND t.receiver = updated_claim.receiver AND t.amount = updated_claim.amount
                AND t.chain_id = updated_claim.chain_id AND t.payment_id IS NULL AND t.dropped_at IS NULL
                AND t.handled_at IS NULL
            )
            SELECT payment_id FROM updated_claim`
    return rows.length > 0
  }, Effect.orDie)
})
