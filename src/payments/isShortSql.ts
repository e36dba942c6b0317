// Transfers that fall short, and whose rest is asked for by an open link: their merchant counts them to the payment
// that they were meant for.
import type { SqlClient, Statement } from "effect/sql"

/**
 * Whether the transfer `t` pays nothing of the payment because of that: by itself it pays none, and the one that
 * asks for its rest not by a person's word either.
 */
export const isShort = (
  sql: SqlClient.SqlClient,
  paymentId: string | Statement.Fragment
): Statement.Fragment => sql`
  EXISTS (
    SELECT 1 FROM payment_links l WHERE l.rest_of = t.id AND l.closed_at IS NULL
      AND (l.payment_id = ${paymentId}::uuid OR t.attached_to IS DISTINCT FROM ${paymentId}::uuid))`
