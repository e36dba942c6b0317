import type { SqlClient, Statement } from "effect/sql"
import { sinceOpened } from "../../payments/sinceOpenedSql.ts"

/**
 * True if a wallet may still pay the payment `p`, or has paid it, by a transfer of its own: such a transfer
 * stands before the wallet's authorization, which is not sent beside it. `movedBy` is the transaction that has
 * used the authorization already: what it moved is no transfer beside it.
 */
export const ownTransferStands = (
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
      -- What an authorization has moved is no transfer beside it.
      AND NOT EXISTS (
        SELECT 1 FROM x402_settlements o
        WHERE o.payment_id = p.id AND o.payer = r.payer_address AND o.transaction_id = r.transaction_id))
  OR EXISTS (
    SELECT 1 FROM incoming_transfers t WHERE t.env = p.env
      -- What a person attaches at this moment is not explained yet.
      AND t.payment_id IS NULL AND t.dropped_at IS NULL AND (t.handled_at IS NULL OR t.attached_to IS NOT NULL)
      AND t.payer = ${payer} AND t.receiver = p.receiver AND t.amount = p.amount
      AND t.transaction_id IS DISTINCT FROM ${movedBy}::bytea
      AND ${sinceOpened(sql)}
      -- An authorization that is proven next has moved this one.
      AND NOT EXISTS (
        SELECT 1 FROM x402_settlements o WHERE o.payer = t.payer AND o.transaction_id = t.transaction_id)
      -- Announced for another payment of the same amount, it is that one's.
      AND NOT EXISTS (
        SELECT 1 FROM payment_attempts a JOIN payments q ON q.id = a.payment_id
        WHERE a.payer_address = t.payer AND a.method = 'transfer' AND a.closed_at IS NULL AND q.id <> p.id
          AND q.env = p.env AND q.receiver = p.receiver AND q.amount = p.amount AND q.status = 'pending')))`
