// Payments that ask for the rest of a transfer: the transfer itself, though it may be as much, is no part of it.
import type { SqlClient, Statement } from "effect/sql"

/** Whether a payment asks for the rest of the transfer `t`, by an open link. */
export const asksForRest = (
  sql: SqlClient.SqlClient,
  paymentId: string | Statement.Fragment
): Statement.Fragment => sql`
  EXISTS (
    SELECT 1 FROM payment_links l
    WHERE l.rest_of = t.id AND l.closed_at IS NULL AND l.payment_id = ${paymentId}::uuid)`
