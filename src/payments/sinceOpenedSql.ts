// Which transfers count as sent since a payment opened, the same for attempts and for signatures.
import type { SqlClient, Statement } from "effect/sql"

/**
 * Whether the transfer `t` came since the payment `p` opened: by our clock and the chain's, or by height, as the
 * clocks may differ.
 */
export const sinceOpened = (sql: SqlClient.SqlClient): Statement.Fragment => sql`
  (t.block_time > p.created_at - interval '1 minute' OR t.block_number > p.opened_block)`
