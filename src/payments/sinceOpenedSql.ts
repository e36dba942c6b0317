// Transfers that count as sent since a payment opened, the same for attempts and for signatures.
import type { SqlClient, Statement } from "effect/sql"
import { blockTolerance } from "./AttemptRepo/AttemptStore.ts"
import { isShort } from "./isShortSql.ts"

/**
 * True if the transfer `t` arrived after the payment `p` opened. Compares heights, because the service's clock and
 * the chain's may differ; compares times within blocks that a reorganisation may move, or if a height is unknown.
 */
export const cameSince = (sql: SqlClient.SqlClient): Statement.Fragment => sql`
  (t.block_number > p.opened_block OR (t.block_time > p.created_at - interval '1 minute'
    AND coalesce(t.block_number >= p.opened_block - ${blockTolerance}, true)))`

/** Like `cameSince`, but false for a transfer whose outstanding amount is requested. */
export const sinceOpened = (sql: SqlClient.SqlClient): Statement.Fragment => sql`
  ${cameSince(sql)} AND NOT ${isShort(sql, sql`p.id`, sql`p.intent_url`)}`
