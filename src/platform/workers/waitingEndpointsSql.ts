// Finds the endpoints with queued deliveries without reading their queues.
import type { SqlClient } from "effect/sql"

const first = "00000000-0000-0000-0000-000000000000"
const last = "ffffffff-ffff-ffff-ffff-ffffffffffff"

/**
 * A recursive table `waiting` (endpoint_id, due_at): each endpoint with its earliest delivery, without those in
 * `except`. It hops from endpoint to endpoint on the index, so a long queue to one costs the others nothing. Endpoints
 * in `except` are not even passed, so dead entries there cost nothing either.
 */
export const waitingEndpoints = (sql: SqlClient.SqlClient, except: ReadonlyArray<string> = []) => {
  const bounds = except.toSorted()
  return sql`
  waiting AS (
    (SELECT d.endpoint_id, d.due_at, gap.before
     FROM unnest(${[first, ...bounds]}::uuid[], ${[...bounds, last]}::uuid[]) AS gap (after, before)
     CROSS JOIN LATERAL (
       SELECT endpoint_id, due_at FROM webhook_deliveries
       WHERE due_at IS NOT NULL AND endpoint_id > gap.after AND endpoint_id < gap.before
       ORDER BY endpoint_id, due_at LIMIT 1
     ) d)
    UNION ALL
    SELECT next.endpoint_id, next.due_at, waiting.before FROM waiting CROSS JOIN LATERAL (
      SELECT d.endpoint_id, d.due_at FROM webhook_deliveries d
      WHERE d.due_at IS NOT NULL AND d.endpoint_id > waiting.endpoint_id AND d.endpoint_id < waiting.before
      ORDER BY d.endpoint_id, d.due_at LIMIT 1
    ) next
  )`
}
