import type { SqlClient } from "effect/sql"

/**
 * A recursive table `waiting` (endpoint_id, due_at): each endpoint with its earliest delivery. It hops from
 * endpoint to endpoint on the index, so that a long queue to one costs the others nothing.
 */
export const waitingEndpoints = (sql: SqlClient.SqlClient) => sql`
  waiting AS (
    (SELECT endpoint_id, due_at FROM webhook_deliveries
     WHERE due_at IS NOT NULL ORDER BY endpoint_id, due_at LIMIT 1)
    UNION ALL
    SELECT next.endpoint_id, next.due_at FROM waiting CROSS JOIN LATERAL (
      SELECT d.endpoint_id, d.due_at FROM webhook_deliveries d
      WHERE d.due_at IS NOT NULL AND d.endpoint_id > waiting.endpoint_id
      ORDER BY d.endpoint_id, d.due_at LIMIT 1
    ) next
  )`
