// The payments that a transfer pays or may be meant for, on Postgres.
import { Effect, Option, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { toBytes } from "../../chain/ChainBytes.ts"
import type { Address } from "../../domain/Chain.ts"
import { LikelyReason } from "../../domain/IncomingTransfer.ts"
import { networks } from "../../domain/networks.ts"
import { PaymentId } from "../../domain/Payment.ts"
import { plusMillis } from "../../domain/plusMillis.ts"
import { attemptMatchingMillis } from "../AttemptRepo/AttemptStore.ts"
import { ownRows, PaymentRow, paymentColumns, toPayment } from "../PaymentRow.ts"
import type { IncomingTransfer, Match, MatchingStore } from "./TransferStore.ts"

const decodePayments = Schema.decodeUnknownEffect(Schema.Array(PaymentRow))
const decodeMatches = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      ...PaymentRow.fields,
      report_reported_at: Schema.NullOr(Schema.Date)
    })
  ),
  ownRows
)
const decodeSignedFor = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ payment_id: PaymentId })))
const decodeMatchAttempts = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      payment_id: PaymentId,
      block_number: Schema.BigInt,
      nonce: Schema.NullOr(Schema.BigInt),
      announced_at: Schema.Date,
      closed_reason: Schema.NullOr(Schema.Literals(["declined", "nonce_used", "expired"]))
    })
  )
)
const decodeLikely = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({ ...PaymentRow.fields, reasons: Schema.Array(LikelyReason), dropped: Schema.Boolean })
  ),
  ownRows
)
/** The number of the payer's newest attempts, on payments that the transfer could pay, that are compared. */
const comparedAttempts = 100
/** The number of the newest payments of the exact amount that are searched for pending and failed ones. */
const searchedPayments = 5_000
/** The number of a payer's announcements that are searched. */
const searchedAnnouncements = 1_000

/** An authorization that is being settled for the payment. */
export const reservingSettlement = (sql: SqlClient.SqlClient, paymentId: PaymentId) => sql`
  SELECT 1 FROM x402_settlements s WHERE s.payment_id = ${paymentId} AND s.status = 'pending' AND s.reserves`

export const makeMatchingSql = (sql: SqlClient.SqlClient): MatchingStore => {
  /** True if the transfer may be meant for the payment `p`. */
  const mayPay = ({ amount, env, receiver }: IncomingTransfer) => sql`
    p.env = ${env} AND p.status IN ('pending', 'failed') AND p.receiver = ${toBytes(receiver)}
    AND p.amount = ${amount.toString()}::numeric`

  /** Settlements that the payer of a transfer has signed, by the unique index of their nonces. */
  const signedBy = ({ env, payer }: Pick<IncomingTransfer, "env" | "payer">) => sql`
    chain_id = ${networks[env].chainId} AND asset = ${toBytes(networks[env].usdc.address)} AND payer = ${toBytes(payer)}`

  /** An agent's reservation. It exists even if the settlement was lost to a restore. */
  const reservedBy = (payer: Address, nonce: Statement.Fragment | Uint8Array) => sql`
    SELECT a.payment_id FROM agents g JOIN agent_payments a ON a.agent_id = g.id
    WHERE g.address = ${toBytes(payer)} AND a.nonce = ${nonce} AND a.status <> 'expired'
      AND a.payment_id IS NOT NULL`

  return {
    awaitsSettlement: Effect.fn("TransferRepo.awaitsSettlement")(function* (transfer) {
      const rows = yield* sql`
        SELECT 1 FROM x402_settlements s
        WHERE ${signedBy(transfer)} AND receiver = ${toBytes(transfer.receiver)}
          AND amount = ${transfer.amount.toString()}::numeric
          -- Every pending settlement has next_look_at. A wallet may have many settlements, but few pending ones.
          AND status = 'pending' AND next_look_at IS NOT NULL AND (reserves OR (
            -- A settlement with this reason has a proven transfer that waits for the merchant.
            told_reason IS DISTINCT FROM 'settlement_pending' AND EXISTS (
            -- A transaction that ended without moving money never will.
            SELECT 1 FROM wallet_transactions w WHERE w.reference = s.id AND w.purpose = 'settle'
              AND (w.outcome IS NULL OR w.outcome = 'moved')))) LIMIT 1`
      return rows.length > 0
    }, Effect.orDie),

    isReserved: Effect.fn("TransferRepo.isReserved")(function* (paymentId) {
      return (yield* reservingSettlement(sql, paymentId)).length > 0
    }, Effect.orDie),

    paymentsOfNonces: Effect.fn("TransferRepo.paymentsOfNonces")(function* (transfer, nonces) {
      const used = sql`ANY(${nonces.map((nonce) => Buffer.from(nonce.slice(2), "hex"))}::bytea[])`
      const rows = yield* sql`
        SELECT ${sql.literal(paymentColumns("p."))} FROM payments p
        WHERE p.id IN (
            SELECT payment_id FROM authorization_nonces WHERE nonce = ${used}
            UNION SELECT payment_id FROM x402_settlements
              WHERE ${signedBy(transfer)} AND nonce = ${used} AND status = 'settled'
            UNION ${reservedBy(transfer.payer, used)})
          AND p.env = ${transfer.env} AND p.receiver = ${toBytes(transfer.receiver)}
          AND p.amount = ${transfer.amount.toString()}::numeric`
      return (yield* decodePayments(rows)).map(toPayment)
    }, Effect.orDie),

    paymentOfNonce: Effect.fn("TransferRepo.paymentOfNonce")(function* (env, payer, nonce) {
      const bytes = Buffer.from(nonce.slice(2), "hex")
      const [row] = yield* decodeSignedFor(
        yield* sql`
          SELECT payment_id FROM authorization_nonces WHERE nonce = ${bytes}
          UNION ALL
          SELECT payment_id FROM x402_settlements
          WHERE ${signedBy({ env, payer })} AND nonce = ${bytes} AND status <> 'failed'
          UNION ALL ${reservedBy(payer, bytes)}
          LIMIT 1`
      )
      return Option.map(Option.fromUndefinedOr(row), ({ payment_id }) => payment_id)
    }, Effect.orDie),

    matchesOf: Effect.fn("TransferRepo.matchesOf")(function* (transfer) {
      const payer = toBytes(transfer.payer)
      const attempts = yield* decodeMatchAttempts(
        yield* sql`
          SELECT a.payment_id, a.block_number, a.nonce, a.announced_at, a.closed_reason
          FROM payment_attempts a JOIN payments p ON p.id = a.payment_id
          WHERE a.payer_address = ${payer}
            AND a.announced_at >= ${plusMillis(transfer.blockTime, -attemptMatchingMillis)}
            AND ${mayPay(transfer)}
          ORDER BY a.announced_at DESC LIMIT ${comparedAttempts}`
      )
      const rows = yield* sql`
        SELECT ${sql.literal(paymentColumns("p."))}, (
          SELECT min(r.reported_at) FROM payment_reports r WHERE r.payment_id = p.id
            AND r.transaction_id = ${toBytes(transfer.transactionId)} AND r.payer_address = ${payer}
        ) AS report_reported_at
        FROM payments p
        WHERE p.id IN (
            SELECT payment_id FROM payment_reports
            WHERE transaction_id = ${toBytes(transfer.transactionId)} AND payer_address = ${payer}
            UNION SELECT unnest(${attempts.map(({ payment_id }) => payment_id)}::uuid[]))
          AND ${mayPay(transfer)}`
      return (yield* decodeMatches(rows)).map(
        (row): Match => ({
          payment: toPayment(row),
          reportedAt: row.report_reported_at,
          attempts: attempts
            .filter(({ payment_id }) => payment_id === row.id)
            .map(({ announced_at, block_number, closed_reason, nonce }) => ({
              blockNumber: block_number,
              nonce,
              announcedAt: announced_at,
              ended: closed_reason
            }))
        })
      )
    }, Effect.orDie),

    likelyPayments: Effect.fn("TransferRepo.likelyPayments")(function* (transfer) {
      const [payer, receiver] = [toBytes(transfer.payer), toBytes(transfer.receiver)]
      const amount = sql`${transfer.amount.toString()}::numeric`
      // Looks up each payment by its key: the planner underestimates `candidates` and would compare all with all.
      const rows = yield* sql`
        WITH payments_of_amount AS (
          SELECT id FROM (
            SELECT id, status, receiver FROM payments
            WHERE merchant_id = ${transfer.merchantId} AND env = ${transfer.env} AND amount = ${amount}
              AND created_at < ${transfer.blockTime}::timestamptz + interval '1 minute'
              AND created_at > ${transfer.blockTime}::timestamptz - interval '30 days'
            ORDER BY created_at DESC LIMIT ${searchedPayments}
          ) newest
          WHERE status IN ('pending', 'failed') AND receiver = ${receiver}
        ), candidates AS (
          SELECT payment_id, 'reported' AS reason, 0 AS weight FROM payment_reports
          WHERE transaction_id = ${toBytes(transfer.transactionId)}
          UNION ALL
          (SELECT payment_id, 'announced', 1 FROM payment_attempts WHERE payer_address = ${payer}
           ORDER BY announced_at DESC LIMIT ${searchedAnnouncements})
          UNION ALL
          -- An agent may have signed thousands: those of this amount are found by their payments, others only in part.
          SELECT payments_of_amount.id, 'announced', 1 FROM payments_of_amount CROSS JOIN LATERAL (
            SELECT 1 FROM x402_settlements WHERE payment_id = payments_of_amount.id AND ${signedBy(transfer)} LIMIT 1) signed
          UNION ALL
          (SELECT payment_id, 'announced', 1 FROM x402_settlements WHERE ${signedBy(transfer)}
           ORDER BY nonce LIMIT ${searchedAnnouncements})
          UNION ALL
          SELECT a.payment_id, 'address', 2 FROM payments_of_amount JOIN shown_addresses a ON a.payment_id = payments_of_amount.id
          WHERE a.shown_at > ${transfer.blockTime}::timestamptz - interval '2 days'
            AND a.shown_at < ${transfer.blockTime}::timestamptz + interval '1 minute'
          UNION ALL
          SELECT id, 'paid_before', 3 FROM payments
          WHERE merchant_id = ${transfer.merchantId} AND env = ${transfer.env} AND payer_address = ${payer} AND receiver = ${receiver} AND status = 'settled'
          UNION ALL
          SELECT id, 'amount', 4 FROM payments_of_amount
        )
        SELECT ${sql.literal(paymentColumns("p."))}, l.reasons, coalesce((
          -- Avoids EXISTS, for which the planner may read all claims.
          SELECT c.dropped_at IS NOT NULL FROM claimed_transfers c WHERE c.payment_id = p.id
        ), false) AS dropped
        FROM (
          SELECT payment_id, array_agg(DISTINCT reason) AS reasons, min(weight) AS weight
          FROM candidates GROUP BY payment_id
        ) l CROSS JOIN LATERAL (SELECT * FROM payments WHERE id = l.payment_id LIMIT 1) p
        WHERE p.merchant_id = ${transfer.merchantId} AND p.env = ${transfer.env}
        ORDER BY (p.amount = ${amount}) DESC, l.weight, p.created_at DESC, p.id
        LIMIT 10`
      return (yield* decodeLikely(rows)).map((row) => ({
        payment: toPayment(row),
        reasons: row.reasons,
        dropped: row.dropped
      }))
    }, Effect.orDie)
  }
}
