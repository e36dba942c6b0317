// The amount that counts against an agent's daily cap.
import type { SqlClient } from "effect/sql"
import { plusMillis } from "../../../domain/plusMillis.ts"

/**
 * An authorization can be used for up to 10 minutes after its signature. It therefore counts 10 minutes
 * longer, so that no 24 hours of the chain see more than the cap.
 */
const budgetWindowMillis = 24 * 3_600_000 + 600_000

/** The amount of payments `p` that now counts against the day's cap; null if none. */
export const spentSince = (sql: SqlClient.SqlClient, at: Date) => sql`
  sum(p.amount) FILTER (WHERE p.status = 'reserved'
    OR (p.status = 'used' AND p.created_at > ${plusMillis(at, -budgetWindowMillis)}))`

/** Payments `p` that may count. */
export const countedSince = (sql: SqlClient.SqlClient, at: Date) => sql`
  (p.status = 'reserved' OR p.created_at > ${plusMillis(at, -budgetWindowMillis)})`
