// The earliest time at which a row of each queue is due: for each, one step on the index from which its worker takes
// rows.
import { Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { type Queue, queues } from "./DueWork.ts"

const Earliest = Schema.NullOr(Schema.Date)

/** The columns of `earliestDue`. */
export const EarliestDue = Schema.Struct({
  reports: Earliest,
  settled_blocks: Earliest,
  incoming_transfers: Earliest,
  deliveries: Earliest,
  x402_settlements: Earliest,
  agent_payments: Earliest,
  wallet_transactions: Earliest,
  receiver_changes: Earliest,
  mails: Earliest,
  refunds: Earliest,
  notifications: Earliest,
  weeks: Earliest,
  alert_posts: Earliest
})

const columnOf = {
  reports: "reports",
  "settled blocks": "settled_blocks",
  "incoming transfers": "incoming_transfers",
  deliveries: "deliveries",
  "x402 settlements": "x402_settlements",
  "agent payments": "agent_payments",
  "wallet transactions": "wallet_transactions",
  "receiver changes": "receiver_changes",
  mails: "mails",
  refunds: "refunds",
  notifications: "notifications",
  weeks: "weeks",
  "alert posts": "alert_posts"
} as const satisfies Record<Queue, keyof typeof EarliestDue.fields>

/** For a SELECT with `waitingEndpoints`. */
export const earliestDue = (sql: SqlClient.SqlClient) => sql`
  (SELECT min(next_check_at) FROM payment_reports WHERE next_check_at IS NOT NULL) AS reports,
  (SELECT min(watch_at) FROM claimed_transfers WHERE watch_at IS NOT NULL) AS settled_blocks,
  (SELECT min(match_at) FROM incoming_transfers WHERE match_at IS NOT NULL) AS incoming_transfers,
  (SELECT min(due_at) FROM waiting) AS deliveries,
  (SELECT min(next_look_at) FROM x402_settlements WHERE next_look_at IS NOT NULL) AS x402_settlements,
  (SELECT min(next_look_at) FROM agent_payments WHERE next_look_at IS NOT NULL) AS agent_payments,
  (SELECT min(created_at) FROM wallet_transactions WHERE ended_at IS NULL) AS wallet_transactions,
  (SELECT min(due_at) FROM receiver_changes WHERE ended_at IS NULL) AS receiver_changes,
  (SELECT min(due_at) FROM mails WHERE due_at IS NOT NULL) AS mails,
  (SELECT min(next_look_at) FROM refunds WHERE next_look_at IS NOT NULL) AS refunds,
  (SELECT min(notify_at) FROM alerts WHERE notify_at IS NOT NULL) AS notifications,
  (SELECT min(summary_at) FROM merchants) AS weeks,
  (SELECT min(due_at) FROM alert_posts WHERE due_at IS NOT NULL) AS alert_posts`

/** Queues without a row are omitted. */
export const dueTimes = (row: typeof EarliestDue.Type): ReadonlyMap<Queue, Date> =>
  new Map(
    queues.flatMap((queue): ReadonlyArray<readonly [Queue, Date]> => {
      const at = row[columnOf[queue]]
      return at === null ? [] : [[queue, at]]
    })
  )
