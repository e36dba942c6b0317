// PaymentRepo on Postgres: what requests do to payments. What the reconciler does is in
// ReconcilerRepoSql.ts.
import { Effect, Layer, Option, Schema } from "effect"
import type { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { toBytes } from "../chain/ChainBytes.ts"
import { IntentTokenExpired } from "../domain/Errors.ts"
import type { Payment, PaymentId } from "../domain/Payment.ts"
import { evidenceKey, keptReports } from "./evidenceKey.ts"
import { isUniqueViolation, makeOpenPayment } from "./OpeningRepoSql.ts"
import type { Page, Report, Settlement, Tenant } from "./PaymentRepo.ts"
import { PaymentRepo, TransferAlreadyUsed } from "./PaymentRepo.ts"
import {
  ownRows,
  PaymentRow,
  paymentColumns,
  SummaryRow,
  summaryColumns,
  toPayment,
  toSummary
} from "./PaymentRow.ts"
import { makeReconcilerStatements } from "./ReconcilerRepoSql.ts"

const decodePayment = Schema.decodeUnknownEffect(PaymentRow, ownRows)
const decodeSummaries = Schema.decodeUnknownEffect(Schema.Array(SummaryRow), ownRows)
const decodePositions = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ log_position: Schema.Int })))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal(paymentColumns())
  const summary = sql.literal(summaryColumns())

  const findRow = (tenant: Tenant, id: PaymentId) => sql`
    SELECT ${columns} FROM payments
    WHERE id = ${id} AND merchant_id = ${tenant.merchantId} AND env = ${tenant.env}`

  const find = Effect.fnUntraced(function* (tenant: Tenant, id: PaymentId) {
    const [row] = yield* findRow(tenant, id)
    return row === undefined ? Option.none<Payment>() : Option.some(toPayment(yield* decodePayment(row)))
  }, Effect.orDie)

  const openExpired = Effect.fnUntraced(function* (tenant: Tenant, id: PaymentId) {
    const found = yield* find(tenant, id)
    return Option.isSome(found) ? found.value : yield* new IntentTokenExpired()
  })

  const list = Effect.fnUntraced(function* (tenant: Tenant, { limit, startingAfter }: Page) {
    const rows = yield* startingAfter === undefined
      ? sql`
          SELECT ${summary} FROM payments WHERE merchant_id = ${tenant.merchantId} AND env = ${tenant.env}
          ORDER BY created_at DESC, id DESC LIMIT ${limit + 1}`
      : sql`
          SELECT ${summary} FROM payments
          WHERE merchant_id = ${tenant.merchantId} AND env = ${tenant.env}
            AND (created_at, id) < (SELECT last.created_at, last.id FROM payments last
              WHERE last.id = ${startingAfter} AND last.merchant_id = ${tenant.merchantId} AND last.env = ${tenant.env})
          ORDER BY created_at DESC, id DESC LIMIT ${limit + 1}`
    if (rows.length === 0 && startingAfter !== undefined) {
      const known = yield* findRow(tenant, startingAfter)
      if (known.length === 0) return Option.none()
    }
    const payments = (yield* decodeSummaries(rows.slice(0, limit))).map((row) => toSummary(row, tenant.env))
    return Option.some({ payments, hasMore: rows.length > limit })
  }, Effect.orDie)

  const keepReport = (report: Report) => sql`
    WITH found AS (
      SELECT ${columns} FROM payments
      WHERE id = ${report.paymentId} AND merchant_id = ${report.merchantId} AND env = ${report.env}
    ), kept AS (
      INSERT INTO payment_reports
        (payment_id, evidence, payer_address, payer_type, transaction_id, token_changes, reported_at, next_check_at)
      SELECT id, ${evidenceKey(report.evidence)}::bytea, ${toBytes(report.evidence.payer)}::bytea, ${report.payerType}::text,
        ${toBytes(report.evidence.transactionId)}::bytea,
        ${JSON.stringify(report.evidence.tokenChanges)}::text::jsonb, ${report.at}::timestamptz,
        ${report.nextCheckAt}::timestamptz
      FROM found WHERE status = 'pending'
      ON CONFLICT (payment_id, evidence) DO UPDATE SET
        reported_at = excluded.reported_at, checks = 0, next_check_at = excluded.next_check_at
    ), evicted AS (
      DELETE FROM payment_reports r USING (
        SELECT payment_id, evidence FROM payment_reports
        WHERE payment_id = (SELECT id FROM found) AND payer_address = ${toBytes(report.evidence.payer)}
          AND evidence <> ${evidenceKey(report.evidence)}
        ORDER BY (next_check_at IS NOT NULL) DESC, reported_at DESC OFFSET ${keptReports - 1}
      ) surplus
      WHERE r.payment_id = surplus.payment_id AND r.evidence = surplus.evidence
    )
    SELECT ${columns} FROM found`

  const recordLiveReport = (report: Report) => sql`
    WITH recorded AS (
      UPDATE payments SET reported_at = ${report.at}, transaction_id = ${toBytes(report.evidence.transactionId)},
        payer_address = ${toBytes(report.evidence.payer)},
        token_changes = ${JSON.stringify(report.evidence.tokenChanges)}::text::jsonb
      WHERE id = ${report.paymentId} AND merchant_id = ${report.merchantId} AND env = ${report.env}
        AND status = 'pending' AND reported_at IS NULL
      RETURNING ${columns}
    )
    SELECT ${columns} FROM recorded
    UNION ALL
    SELECT ${columns} FROM payments
    WHERE id = ${report.paymentId} AND merchant_id = ${report.merchantId} AND env = ${report.env}
      AND NOT EXISTS (SELECT 1 FROM recorded)`

  const report = Effect.fnUntraced(function* (input: Report) {
    const [row] = yield* input.env === "test" ? keepReport(input) : recordLiveReport(input)
    if (row === undefined) return Option.none<Payment>()
    const payment = toPayment(yield* decodePayment(row))
    // The live statement lost a race and read the row as it was before the winner's report.
    return input.env === "live" && payment.status === "pending" && payment.reported === null
      ? yield* find(input, input.paymentId)
      : Option.some(payment)
  }, Effect.orDie)

  const claimedLogs = Effect.fnUntraced(function* (
    chainId: number,
    transactionId: Settlement["transfer"]["transactionId"]
  ) {
    const rows = yield* sql`
      SELECT log_position FROM claimed_transfers
      WHERE chain_id = ${chainId} AND transaction_id = ${toBytes(transactionId)}`
    return (yield* decodePositions(rows)).map((row) => row.log_position)
  }, Effect.orDie)

  const settleStatement = ({ paymentId, evidence, transfer, delivery, ...times }: Settlement) => sql`
    WITH settled AS (
      UPDATE payments SET status = 'settled', settled_at = ${times.at}, reported_at = ${times.reportedAt},
        transaction_id = ${toBytes(evidence.transactionId)}, payer_address = ${toBytes(evidence.payer)},
        token_changes = ${JSON.stringify(evidence.tokenChanges)}::text::jsonb,
        payer_type = coalesce((
          SELECT min(r.payer_type) FROM payment_reports r
          WHERE r.payment_id = ${paymentId} AND r.payer_address = ${toBytes(evidence.payer)}
            AND r.transaction_id = ${toBytes(evidence.transactionId)}), payments.payer_type)
      WHERE id = ${paymentId} AND status = 'pending'
      RETURNING ${columns}
    ), claimed AS (
      INSERT INTO claimed_transfers
        (chain_id, transaction_id, log_position, payment_id, block_number, block_hash, watch_at)
      SELECT ${transfer.chainId}::integer, ${toBytes(transfer.transactionId)}::bytea, ${transfer.logPosition}::integer,
        id, ${transfer.blockNumber}::bigint, ${toBytes(transfer.blockHash)}::bytea, ${times.watchAt}::timestamptz
      FROM settled
    ), queued AS (
      INSERT INTO webhook_deliveries
        (id, merchant_id, env, endpoint_id, payment_id, type, body, status, due_at, created_at, finished_at)
      SELECT ${delivery.id}::uuid, s.merchant_id, s.env, e.id, s.id, 'payment.settled', ${delivery.body}::bytea,
        CASE WHEN e.id IS NULL THEN 'cancelled' ELSE 'pending' END,
        CASE WHEN e.id IS NULL THEN NULL ELSE ${times.at}::timestamptz END,
        ${times.at}::timestamptz,
        CASE WHEN e.id IS NULL THEN ${times.at}::timestamptz ELSE NULL END
      FROM settled s LEFT JOIN webhook_endpoints e
        ON e.merchant_id = s.merchant_id AND e.env = s.env AND e.deleted_at IS NULL
    ), dropped AS (
      DELETE FROM payment_reports WHERE payment_id IN (SELECT id FROM settled)
    )
    SELECT ${columns} FROM settled`

  const settle = Effect.fn("PaymentRepo.settle")(
    function* (settlement: Settlement) {
      const [row] = yield* settleStatement(settlement)
      return row === undefined ? Option.none<Payment>() : Option.some(toPayment(yield* decodePayment(row)))
    },
    Effect.catchTags({
      SqlError: (error) =>
        isUniqueViolation(error) ? Effect.fail(new TransferAlreadyUsed()) : Effect.die(error),
      SchemaError: Effect.die
    })
  )

  return PaymentRepo.of({
    open: yield* makeOpenPayment,
    openExpired,
    find,
    list,
    report,
    claimedLogs,
    settle,
    ...makeReconcilerStatements(sql)
  })
})

export const layerSql: Layer.Layer<PaymentRepo, never, SqlClient.SqlClient | SecureRandom.SecureRandom> =
  Layer.suspend(() => Layer.effect(PaymentRepo, make))
