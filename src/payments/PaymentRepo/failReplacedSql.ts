// Fails payments that a link has opened another payment in place of.
import type { SqlClient } from "effect/sql"
import type { PaymentId } from "../../domain/Payment.ts"

/** The statement; those of them that are no longer pending stay as they are. */
export const failReplacedSql = (sql: SqlClient.SqlClient, ids: ReadonlyArray<PaymentId>, at: Date) => sql`
  UPDATE payments SET status = 'failed', failed_at = ${at}, failure_reason = 'expired'
  WHERE id = ANY (${ids}::uuid[]) AND status = 'pending'`
