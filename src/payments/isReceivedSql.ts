import type { SqlClient, Statement } from "effect/sql"

/** True if the chain still shows the transfer that settled the payment `p`. Lost transfers count in no sum. */
export const isReceived = (sql: SqlClient.SqlClient): Statement.Fragment => sql`
  NOT EXISTS (SELECT 1 FROM claimed_transfers c WHERE c.payment_id = p.id AND c.dropped_at IS NOT NULL)`
