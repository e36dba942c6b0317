import type { SqlClient, Statement } from "effect/sql"

/** Whether the chain still shows the transfer by which the payment `p` has settled: what it has lost is in no sum. */
export const isReceived = (sql: SqlClient.SqlClient): Statement.Fragment => sql`
  NOT EXISTS (SELECT 1 FROM claimed_transfers c WHERE c.payment_id = p.id AND c.dropped_at IS NOT NULL)`
