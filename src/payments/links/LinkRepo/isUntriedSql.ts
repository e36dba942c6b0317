// True if a payment has no attempt, shown address, report or signature, so no transfer can be under way.
import type { SqlClient, Statement } from "effect/sql"
import type { PaymentId } from "../../../domain/Payment.ts"

/** Attempts that the wallet declined, or that the chain shows to be void, do not count as tries. */
export const isUntried = (sql: SqlClient.SqlClient, paymentId: PaymentId | Statement.Fragment | null) => sql`(
  NOT EXISTS (
    SELECT 1 FROM payment_attempts a WHERE a.payment_id = ${paymentId}::uuid
      AND coalesce(a.closed_reason, '') NOT IN ('declined', 'nonce_used'))
  AND NOT EXISTS (SELECT 1 FROM shown_addresses a WHERE a.payment_id = ${paymentId}::uuid)
  AND NOT EXISTS (SELECT 1 FROM payment_reports r WHERE r.payment_id = ${paymentId}::uuid)
  AND NOT EXISTS (SELECT 1 FROM x402_settlements s WHERE s.payment_id = ${paymentId}::uuid))`
