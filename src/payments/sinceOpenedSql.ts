// Which transfers count as sent since a payment opened, the same for attempts and for signatures.
import type { SqlClient, Statement } from "effect/sql"
import { blockTolerance } from "./AttemptRepo/AttemptStore.ts"
import { isShort } from "./isShortSql.ts"

/**
 * Whether the transfer `t` came since the payment `p` opened: by height, as our clock and the chain's may differ,
 * or by time within the blocks that a reorganisation may move and where no height is known.
 */
export const cameSince = (sql: SqlClient.SqlClient): Statement.Fragment => sql`
  (t.block_number > p.opened_block OR (t.block_time > p.created_at - interval '1 minute'
    AND coalesce(t.block_number >= p.opened_block - ${blockTolerance}, true)))`

/** As `cameSince`; one whose rest is asked for never does. */
export const sinceOpened = (sql: SqlClient.SqlClient): Statement.Fragment => sql`
  ${cameSince(sql)} AND NOT ${isShort(sql, sql`p.id`, sql`p.intent_url`)}`
