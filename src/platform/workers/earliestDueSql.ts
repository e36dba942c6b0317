// The earliest time at which a row of each queue is due: for each, one step on the index from which its worker takes
// rows.
import { Schema, Struct } from "effect"
import type { SqlClient } from "effect/sql"
import { type Queue, queues } from "./DueWork.ts"

/** The columns of `earliestDue`: one for each queue, with its name. */
export const EarliestDue = Schema.Struct(Struct.Record(queues, Schema.NullOr(Schema.Date)))

/** For a SELECT with `waitingEndpoints`. */
export const earliestDue = (sql: SqlClient.SqlClient) => sql`
  (SELECT min(next_check_at) FROM payment_reports WHERE next_check_at IS NOT NULL) AS reports,
  (SELECT min(watch_at) FROM claimed_transfers WHERE watch_at IS NOT NULL) AS "settled blocks",
  (SELECT min(match_at) FROM incoming_transfers WHERE match_at IS NOT NULL) AS "incoming transfers",
  (SELECT min(due_at) FROM waiting) AS deliveries,
  (SELECT min(next_look_at) FROM x402_settlements WHERE next_look_at IS NOT NULL) AS "x402 settlements",
  (SELECT min(next_look_at) FROM agent_payments WHERE next_look_at IS NOT NULL) AS "agent payments",
  (SELECT min(created_at) FROM wallet_transactions WHERE ended_at IS NULL) AS "wallet transactions",
  (SELECT min(due_at) FROM receiver_changes WHERE ended_at IS NULL) AS "receiver changes",
  (SELECT min(due_at) FROM mails WHERE due_at IS NOT NULL) AS mails,
  (SELECT min(next_look_at) FROM refunds WHERE next_look_at IS NOT NULL) AS refunds,
  (SELECT min(notify_at) FROM alerts WHERE notify_at IS NOT NULL) AS notifications,
  (SELECT min(summary_at) FROM merchants) AS weeks,
  (SELECT min(due_at) FROM alert_posts WHERE due_at IS NOT NULL) AS "alert posts"`

/** Queues without a row are omitted. */
export const dueTimes = (row: typeof EarliestDue.Type): ReadonlyMap<Queue, Date> =>
  new Map(
    queues.flatMap((queue): ReadonlyArray<readonly [Queue, Date]> => {
      const at = row[queue]
      return at === null ? [] : [[queue, at]]
    })
  )
