// PaymentRepo on Postgres: the operations of requests. The reconciler's are in reconcilerSql.ts.

import { Effect, Option, Schema } from "effect"
import type { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { HashBytes, toBytes } from "../../chain/ChainBytes.ts"
import { IntentTokenExpired } from "../../domain/Errors.ts"
import type { Tenant } from "../../domain/Merchant.ts"
import type { Payment, PaymentId } from "../../domain/Payment.ts"
import { batched } from "../../platform/database/batched.ts"
import { isUniqueViolation } from "../../platform/database/isUniqueViolation.ts"
import { Replica } from "../../platform/database/Replica.ts"
import { Networks } from "../../platform/Networks.ts"
import { explainTransfer, isClaimable, lockedTransfer } from "../claimingSql.ts"
import { isShort } from "../isShortSql.ts"
import {
  ownRows,
  PaymentRow,
  paymentColumns,
  SummaryRow,
  summaryColumns,
  toPayment,
  toSummary
} from "../PaymentRow.ts"
import { TransferAlreadyUsed } from "../TransferAlreadyUsed.ts"
import { evidenceKey, maxReports } from "./evidenceKey.ts"
import { makeOpeningSql } from "./openingSql.ts"
import type { PageRequest, PaymentSettlement, PaymentStore, Report } from "./PaymentStore.ts"
import { settlePayment } from "./paymentStatusSql.ts"
import { makeReconcilerSql } from "./reconcilerSql.ts"

const decodePayment = Schema.decodeUnknownEffect(PaymentRow, ownRows)
const decodePayments = Schema.decodeUnknownEffect(Schema.Array(PaymentRow), ownRows)
const decodeSummaries = Schema.decodeUnknownEffect(Schema.Array(SummaryRow), ownRows)
const decodePages = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ position: Schema.Int, ...SummaryRow.fields })),
  ownRows
)
const decodeAnnounced = Schema.decodeUnknownEffect(
  Schema.Struct({ ...PaymentRow.fields, attempt_block: Schema.NullOr(Schema.BigInt) }),
  ownRows
)
const decodeTaken = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ ordinal: Schema.Int, block_hash: Schema.NullOr(HashBytes) })),
  ownRows
)

/** The newest payments of a tenant, on the database or on its replica. */
const listOn = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const summary = sql.literal(summaryColumns())

  /** First pages without a filter, the most common: one statement for all requests of a turn. */
  const firstPage = yield* batched(
    Effect.fnUntraced(function* (
      requests: ReadonlyArray<{ readonly tenant: Tenant; readonly rows: number }>
    ) {
      const rows = yield* decodePages(
        yield* sql`
          SELECT request.position::integer AS position, page.*
          FROM unnest(
            ${requests.map(({ tenant }) => tenant.merchantId)}::uuid[],
            ${requests.map(({ tenant }) => tenant.env)}::text[],
            ${requests.map(({ rows }) => rows)}::integer[]
          ) WITH ORDINALITY AS request (merchant_id, env, rows, position), LATERAL (
            SELECT ${summary} FROM payments p WHERE p.merchant_id = request.merchant_id AND p.env = request.env
            ORDER BY p.created_at DESC, p.id DESC LIMIT request.rows
          ) page
          ORDER BY request.position, page.created_at DESC, page.id DESC`
      )
      const pages = requests.map((): Array<(typeof rows)[number]> => [])
      for (const row of rows) pages[row.position - 1]?.push(row)
      return pages
    })
  )

  return Effect.fnUntraced(function* (
    tenant: Tenant,
    { limit, startingAfter, transactionId, intentUrl }: PageRequest
  ) {
    const pageOf = (rows: ReadonlyArray<typeof SummaryRow.Type>) =>
      Option.some({
        payments: rows.slice(0, limit).map((row) => toSummary(row, tenant.env)),
        hasMore: rows.length > limit
      })
    if (startingAfter === undefined && transactionId === undefined && intentUrl === undefined)
      return pageOf(yield* firstPage({ tenant, rows: limit + 1 }))

    const ofTransaction =
      transactionId === undefined ? sql`` : sql`AND transaction_id = ${toBytes(transactionId)}`
    // Compared by hash first, because a URL may be longer than an index entry.
    const ofOrder =
      intentUrl === undefined
        ? sql``
        : sql`AND hashtextextended(intent_url, 0) = hashtextextended(${intentUrl}, 0) AND intent_url = ${intentUrl}`
    const after =
      startingAfter === undefined
        ? sql``
        : sql`AND (created_at, id) < (SELECT last.created_at, last.id FROM payments last
              WHERE last.id = ${startingAfter} AND last.merchant_id = ${tenant.merchantId} AND last.env = ${tenant.env})`
    // The limit is also written as a literal: with only a parameter, Postgres plans the statement on a large table
    // again each time.
    const bound = sql.literal(`LIMIT ${Math.ceil((limit + 1) / 128) * 128}`)
    const rows = yield* sql`
      SELECT * FROM (
        SELECT ${summary} FROM payments
        WHERE merchant_id = ${tenant.merchantId} AND env = ${tenant.env} ${ofTransaction} ${ofOrder} ${after}
        ORDER BY created_at DESC, id DESC ${bound}
      ) page ORDER BY created_at DESC, id DESC LIMIT ${limit + 1}`
    if (rows.length === 0 && startingAfter !== undefined) {
      const cursor = yield* sql`
        SELECT 1 FROM payments
        WHERE id = ${startingAfter} AND merchant_id = ${tenant.merchantId} AND env = ${tenant.env}`
      if (cursor.length === 0) return Option.none()
    }
    return pageOf(yield* decodeSummaries(rows))
  }, Effect.orDie)
})

export const makePaymentRepoSql: Effect.Effect<
  PaymentStore,
  never,
  SqlClient.SqlClient | SecureRandom.SecureRandom
> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const networks = yield* Networks
  const columns = sql.literal(paymentColumns())

  /** One statement for all requests of a turn; each request finds only its own tenant's rows. */
  const findAll = yield* batched(
    Effect.fnUntraced(function* (
      requests: ReadonlyArray<{ readonly tenant: Tenant; readonly id: PaymentId }>
    ) {
      const rows = yield* decodePayments(
        yield* sql`SELECT ${columns} FROM payments WHERE id = ANY (${[...new Set(requests.map(({ id }) => id))]}::uuid[])`
      )
      const payments = new Map(rows.map((row) => [row.id, toPayment(row)]))
      return requests.map(({ tenant, id }) =>
        Option.filter(
          Option.fromUndefinedOr(payments.get(id)),
          ({ merchantId, env }) => merchantId === tenant.merchantId && env === tenant.env
        )
      )
    }, Effect.orDie)
  )
  const find = (tenant: Tenant, id: PaymentId) => findAll({ tenant, id })

  const summary = sql.literal(summaryColumns())
  const findMany: PaymentStore["findMany"] = Effect.fnUntraced(function* (tenant, ids) {
    if (ids.length === 0) return []
    const rows = yield* decodeSummaries(
      yield* sql`
        SELECT ${summary} FROM payments
        WHERE id = ANY (${ids}::uuid[]) AND merchant_id = ${tenant.merchantId} AND env = ${tenant.env}`
    )
    return rows.map((row) => toSummary(row, tenant.env))
  }, Effect.orDie)

  const exists: PaymentStore["exists"] = Effect.fnUntraced(function* (id) {
    return (yield* sql`SELECT 1 FROM payments WHERE id = ${id}`).length > 0
  }, Effect.orDie)

  const openExpired = Effect.fnUntraced(function* (tenant: Tenant, id: PaymentId) {
    const payment = yield* find(tenant, id)
    return Option.isSome(payment) ? payment.value : yield* new IntentTokenExpired()
  })

  const replica = yield* Replica
  const listOnPrimary = yield* listOn(sql)
  const listOnReplica = replica === undefined ? listOnPrimary : yield* listOn(replica.sql)
  const list: PaymentStore["list"] = (tenant, page) =>
    replica === undefined
      ? listOnPrimary(tenant, page)
      : replica.read(listOnReplica(tenant, page), listOnPrimary(tenant, page))

  /** Reports on a closed network are stored as a record only: nobody checks them. */
  const storeReport = (report: Report) => sql`
    WITH payment AS (
      SELECT ${columns} FROM payments
      WHERE id = ${report.paymentId} AND merchant_id = ${report.merchantId} AND env = ${report.env}
    ), stored_report AS (
      INSERT INTO payment_reports
        (payment_id, evidence, payer_address, payer_type, transaction_id, token_changes, reported_at, next_check_at)
      SELECT id, ${evidenceKey(report.evidence)}::bytea, ${toBytes(report.evidence.payer)}::bytea, ${report.payerType}::text,
        ${toBytes(report.evidence.transactionId)}::bytea,
        ${JSON.stringify(report.evidence.tokenChanges)}::text::jsonb, ${report.at}::timestamptz,
        ${networks.executes(report.env) ? report.nextCheckAt : null}::timestamptz
      FROM payment WHERE status <> 'settled'
      ON CONFLICT (payment_id, evidence) DO UPDATE SET
        reported_at = excluded.reported_at, checks = 0, next_check_at = excluded.next_check_at
    ), evicted AS (
      DELETE FROM payment_reports r USING (
        SELECT payment_id, evidence FROM payment_reports
        WHERE payment_id = (SELECT id FROM payment) AND payer_address = ${toBytes(report.evidence.payer)}
          AND evidence <> ${evidenceKey(report.evidence)}
        ORDER BY (next_check_at IS NOT NULL) DESC, reported_at DESC OFFSET ${maxReports - 1}
      ) surplus
      WHERE r.payment_id = surplus.payment_id AND r.evidence = surplus.evidence
    )
    SELECT ${columns}, (
      SELECT min(a.block_number) FROM payment_attempts a
      WHERE a.payment_id = payment.id AND a.payer_address = ${toBytes(report.evidence.payer)}
    ) AS attempt_block FROM payment`

  const report = Effect.fnUntraced(function* (input: Report) {
    const [row] = yield* storeReport(input)
    if (row === undefined) return Option.none()
    const reported = yield* decodeAnnounced(row)
    return Option.some({ payment: toPayment(reported), attemptBlock: reported.attempt_block })
  }, Effect.orDie)

  const unavailableTransfers: PaymentStore["unavailableTransfers"] = Effect.fnUntraced(function* ({
    amount,
    chainId,
    evidence,
    paymentId,
    receiver
  }) {
    const id = paymentId ?? sql`NULL`
    const rows = yield* sql`
      SELECT ordinal, block_hash FROM claimed_transfers
      WHERE chain_id = ${chainId} AND transaction_id = ${toBytes(evidence.transactionId)}
        AND payer = ${toBytes(evidence.payer)} AND receiver = ${toBytes(receiver)}
        AND amount = ${amount.toString()}::numeric
      UNION
      -- A transfer that a person handled can no longer pay. Neither can a short one whose outstanding amount is
      -- requested.
      SELECT ordinal, NULL FROM incoming_transfers t
      WHERE chain_id = ${chainId} AND transaction_id = ${toBytes(evidence.transactionId)}
        AND payer = ${toBytes(evidence.payer)} AND receiver = ${toBytes(receiver)}
        AND amount = ${amount.toString()}::numeric
        AND payment_id IS NULL AND ((handled_at IS NOT NULL AND attached_to IS NULL)
          OR ${isShort(sql, id, sql`(SELECT p.intent_url FROM payments p WHERE p.id = ${id}::uuid)`)})`
    return (yield* decodeTaken(rows)).map((row) => ({ ordinal: row.ordinal, blockHash: row.block_hash }))
  }, Effect.orDie)

  const settleStatement = (settlement: PaymentSettlement) => {
    const { paymentId, evidence, transfer, delivery, laterDelivery = delivery, ...times } = settlement
    const claiming = { paymentId, payer: evidence.payer, transfer, at: times.at }
    return sql`
      WITH locked_payment AS (
        SELECT p.receiver AS locked_receiver, p.amount AS locked_amount, p.intent_url AS locked_url FROM payments p
        WHERE p.id = ${paymentId} AND p.status IN ('pending', 'failed') FOR NO KEY UPDATE
      ), locked_transfer AS (${lockedTransfer(sql, claiming)}
      ), settled_payment AS (
        ${settlePayment(sql, settlement)}
        FROM locked_payment WHERE id = ${paymentId} AND status IN ('pending', 'failed') AND ${isClaimable(sql, claiming)}
        RETURNING ${columns}
      ), new_claim AS (
        INSERT INTO claimed_transfers
          (chain_id, transaction_id, log_position, payer, receiver, amount, ordinal, payment_id, block_number,
           block_hash, watch_at)
        SELECT ${transfer.chainId}::integer, ${toBytes(transfer.transactionId)}::bytea, ${transfer.logPosition}::integer,
          payer_address, receiver, amount, ${transfer.ordinal}::integer, id, ${transfer.blockNumber}::bigint,
          ${toBytes(transfer.blockHash)}::bytea, ${times.watchAt}::timestamptz
        FROM settled_payment
        RETURNING chain_id, transaction_id, payer, receiver, amount, ordinal, payment_id
      ), explained_transfer AS (${explainTransfer(sql, sql`new_claim c JOIN settled_payment s ON s.id = c.payment_id`, sql`s.merchant_id`)}
      ), closed_remainder_links AS (
        -- The whole transfer pays this payment, so no outstanding amount of it is requested any longer.
        UPDATE payment_links SET closed_at = ${times.at}
        WHERE rest_of IN (SELECT id FROM explained_transfer) AND closed_at IS NULL
      ), queued_delivery AS (
        INSERT INTO webhook_deliveries
          (id, merchant_id, env, endpoint_id, payment_id, type, body, status, due_at, created_at, finished_at)
        SELECT CASE WHEN earlier.already_delivered THEN ${laterDelivery.id}::uuid ELSE ${delivery.id}::uuid END,
          s.merchant_id, s.env, e.id, s.id, 'payment.settled',
          CASE WHEN earlier.already_delivered THEN ${laterDelivery.body}::bytea ELSE ${delivery.body}::bytea END,
          CASE WHEN e.id IS NULL THEN 'cancelled' ELSE 'pending' END,
          CASE WHEN e.id IS NULL THEN NULL ELSE ${times.at}::timestamptz END,
          ${times.at}::timestamptz,
          CASE WHEN e.id IS NULL THEN ${times.at}::timestamptz ELSE NULL END
        FROM settled_payment s CROSS JOIN (
          SELECT EXISTS (SELECT 1 FROM webhook_deliveries WHERE id = ${delivery.id}::uuid) AS already_delivered
        ) earlier LEFT JOIN webhook_endpoints e
          ON e.merchant_id = s.merchant_id AND e.env = s.env AND e.deleted_at IS NULL
      ), deleted_reports AS (
        DELETE FROM payment_reports WHERE payment_id IN (SELECT id FROM settled_payment)
      )
      SELECT ${columns} FROM settled_payment`
  }

  const settle = Effect.fn("PaymentRepo.settle")(
    function* (settlement: PaymentSettlement) {
      const [row] = yield* settleStatement(settlement)
      return row === undefined ? Option.none<Payment>() : Option.some(toPayment(yield* decodePayment(row)))
    },
    Effect.catchTags({
      SqlError: (error) =>
        isUniqueViolation(error) ? Effect.fail(new TransferAlreadyUsed()) : Effect.die(error),
      SchemaError: Effect.die
    })
  )

  return {
    open: yield* makeOpeningSql,
    openExpired,
    find,
    findMany,
    exists,
    list,
    report,
    unavailableTransfers,
    settle,
    ...makeReconcilerSql(sql, networks)
  }
})
