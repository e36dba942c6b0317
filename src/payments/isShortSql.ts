// Transfers that fall short, and whose rest is asked for by link: their merchant counts them to the payment that they
// were meant for.
import type { SqlClient, Statement } from "effect/sql"

/**
 * Whether the transfer `t` pays nothing of the payment because of that: by itself it pays none while its link is open
 * or once that is paid, and the one that asks for its rest not by a person's word either. That one it never pays by
 * itself: whoever has opened the link goes on where it was closed since. Its URL ends in the link's id.
 */
export const isShort = (
  sql: SqlClient.SqlClient,
  paymentId: string | Statement.Fragment,
  intentUrl: Statement.Fragment
): Statement.Fragment => sql`
  EXISTS (
    SELECT 1 FROM payment_links l WHERE l.rest_of = t.id AND (
      ((l.closed_at IS NULL OR EXISTS (
          SELECT 1 FROM payments rest WHERE rest.id = l.payment_id AND rest.status = 'settled')
          -- One for another transfer of the same payment counts on this one.
          OR EXISTS (
            SELECT 1 FROM payment_links o LEFT JOIN payments rest ON rest.id = o.payment_id
            WHERE o.rest_of IS NOT NULL AND o.rest_of <> t.id AND o.rest_for = l.rest_for
              AND (o.closed_at IS NULL OR rest.status = 'settled')))
        AND (l.payment_id = ${paymentId}::uuid OR t.attached_to IS DISTINCT FROM ${paymentId}::uuid))
      OR (t.attached_to IS DISTINCT FROM ${paymentId}::uuid
        AND l.id = substring(${intentUrl} FROM '/link/([A-Za-z0-9_-]+)$'))))`
