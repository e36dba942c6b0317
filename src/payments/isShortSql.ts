// Short transfers whose outstanding amount a link requests: the merchant counts them towards the intended payment.
import type { SqlClient, Statement } from "effect/sql"

/**
 * True if the transfer `t` cannot settle the payment because a link requests the outstanding amount. A partial
 * transfer never settles a payment on its own while the link is open or after it is paid. A person cannot attach it to
 * the payment of the link itself either, even after the link closed, because a visitor who opened the link before may
 * still pay. That payment's URL ends in the link's id.
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
          -- A link for another transfer of the same payment counts this transfer in its sum.
          OR EXISTS (
            SELECT 1 FROM payment_links o LEFT JOIN payments rest ON rest.id = o.payment_id
            WHERE o.rest_of IS NOT NULL AND o.rest_of <> t.id AND o.rest_for = l.rest_for
              AND (o.closed_at IS NULL OR rest.status = 'settled')))
        AND (l.payment_id = ${paymentId}::uuid OR t.attached_to IS DISTINCT FROM ${paymentId}::uuid))
      OR (t.attached_to IS DISTINCT FROM ${paymentId}::uuid
        AND l.id = substring(${intentUrl} FROM '/link/([A-Za-z0-9_-]+)$'))))`
