// Prevents a wallet from paying twice: by its own transfer and by the authorization that it signed.
import type { SqlClient, Statement } from "effect/sql"
import { sinceOpened } from "../../payments/sinceOpenedSql.ts"

/**
 * True if a wallet has paid the payment `p` by its own transfer, or may still do so. Such a transfer takes
 * precedence over the wallet's authorization, which is then not sent. `movedBy` is the transaction that has
 * already used the authorization, so it does not count as a separate transfer.
 */
export const hasOwnTransfer = (
  sql: SqlClient.SqlClient,
  payer: Uint8Array | Statement.Fragment,
  movedBy: Uint8Array | null = null
): Statement.Fragment => sql`(
  EXISTS (
    SELECT 1 FROM payment_attempts a WHERE a.payment_id = p.id AND a.payer_address = ${payer}
      AND a.method = 'transfer' AND a.closed_at IS NULL)
  OR EXISTS (
    SELECT 1 FROM payment_reports r WHERE r.payment_id = p.id AND r.payer_address = ${payer}
      AND r.payer_type = 'human' AND r.next_check_at IS NOT NULL
      -- A transfer that an authorization moved is not the wallet's own.
      AND NOT EXISTS (
        SELECT 1 FROM x402_settlements o
        WHERE o.payment_id = p.id AND o.payer = r.payer_address AND o.transaction_id = r.transaction_id))
  OR EXISTS (
    SELECT 1 FROM incoming_transfers t WHERE t.env = p.env
      -- A transfer that a person is attaching at the moment belongs to no payment yet.
      AND t.payment_id IS NULL AND t.dropped_at IS NULL AND (t.handled_at IS NULL OR t.attached_to IS NOT NULL)
      AND t.payer = ${payer} AND t.receiver = p.receiver AND t.amount = p.amount
      AND t.transaction_id IS DISTINCT FROM ${movedBy}::bytea
      AND ${sinceOpened(sql)}
      -- This transfer was moved by an authorization that is proven next.
      AND NOT EXISTS (
        SELECT 1 FROM x402_settlements o WHERE o.payer = t.payer AND o.transaction_id = t.transaction_id)
      -- A transfer announced for another payment of the same amount belongs to that payment.
      AND NOT EXISTS (
        SELECT 1 FROM payment_attempts a JOIN payments q ON q.id = a.payment_id
        WHERE a.payer_address = t.payer AND a.method = 'transfer' AND a.closed_at IS NULL AND q.id <> p.id
          AND q.env = p.env AND q.receiver = p.receiver AND q.amount = p.amount AND q.status = 'pending')))`
