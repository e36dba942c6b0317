// The only statements that change a payment's status.
import type { SqlClient, Statement } from "effect/sql"
import { toBytes } from "../../chain/ChainBytes.ts"
import type { PaymentId } from "../../domain/Payment.ts"
import type { PaymentSettlement } from "./PaymentStore.ts"

/** The caller adds which payment settles, under its lock. */
export const settlePayment = (
  sql: SqlClient.SqlClient,
  { evidence, paymentId, ...times }: PaymentSettlement
) => sql`
  UPDATE payments SET status = 'settled', settled_at = ${times.at}, reported_at = ${times.reportedAt},
    failed_earlier_at = failed_at, failed_at = NULL, failure_reason = NULL,
    transaction_id = ${toBytes(evidence.transactionId)}, payer_address = ${toBytes(evidence.payer)},
    token_changes = ${JSON.stringify(evidence.tokenChanges)}::text::jsonb,
    payer_type = coalesce((
      SELECT min(r.payer_type) FROM payment_reports r
      WHERE r.payment_id = ${paymentId} AND r.payer_address = ${toBytes(evidence.payer)}
        AND r.transaction_id = ${toBytes(evidence.transactionId)}), (
      -- The transfer was found on the chain, and an agent of the service reserved the payment.
      SELECT 'agent' FROM agents g JOIN agent_payments a ON a.agent_id = g.id
      WHERE g.address = ${toBytes(evidence.payer)} AND a.payment_id = ${paymentId} LIMIT 1), payments.payer_type)`

/** Fails the payments `p` of `which`. */
export const failPayments = (
  sql: SqlClient.SqlClient,
  at: Date,
  reason: Statement.Fragment,
  which: Statement.Fragment
) => sql`
  UPDATE payments p SET status = 'failed', failed_at = ${at}, failure_reason = ${reason} WHERE ${which}`

/** Fails payments that a link has replaced by another payment; those that are no longer pending stay as they are. */
export const failReplaced = (sql: SqlClient.SqlClient, ids: ReadonlyArray<PaymentId>, at: Date) =>
  failPayments(sql, at, sql`'expired'`, sql`p.id = ANY (${ids}::uuid[]) AND p.status = 'pending'`)
