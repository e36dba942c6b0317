// One statement for all workers, where each of them would ask its own: a service at rest leaves the
// database in peace, and what is due at a time is taken at that time.

import { Clock, Deferred, Duration, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Networks } from "../Networks.ts"
import { DueWork, type Queue, queues } from "./DueWork.ts"
import { periodic } from "./supervised.ts"
import { waitingEndpoints } from "./waitingEndpointsSql.ts"

const pollMillis = 2_500
/** Longer than a statement may take. */
const patience = "10 seconds"

/** What the database said: the earliest time of each queue. */
interface Round {
  readonly due: ReadonlyMap<Queue, Date>
  readonly awaited: boolean
}

const Earliest = Schema.NullOr(Schema.Date)
const Row = Schema.Struct({
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
  untold_alerts: Earliest,
  weeks: Earliest,
  alert_posts: Earliest,
  awaited: Schema.Boolean
})
const decodeRow = Schema.decodeUnknownEffect(Row)

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
  "untold alerts": "untold_alerts",
  weeks: "weeks",
  "alert posts": "alert_posts"
} as const satisfies Record<Queue, keyof typeof Row.fields>

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { executing } = yield* Networks
  let round = Deferred.makeUnsafe<Round>()
  let awaited = true

  // Each is one step on the index that its worker takes rows by.
  const ask = Effect.gen(function* () {
    const [row] = yield* sql`
      WITH RECURSIVE ${waitingEndpoints(sql)}
      SELECT
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
        (SELECT min(notify_at) FROM alerts WHERE notify_at IS NOT NULL) AS untold_alerts,
        (SELECT min(summary_at) FROM merchants) AS weeks,
        (SELECT min(due_at) FROM alert_posts WHERE due_at IS NOT NULL) AS alert_posts,
        EXISTS (SELECT 1 FROM (
          SELECT env FROM payments WHERE status = 'pending' ORDER BY created_at DESC LIMIT 500
        ) newest WHERE env = ANY (${executing}::text[])) AS awaited`
    const found = yield* decodeRow(row)
    const due = queues.flatMap((queue): ReadonlyArray<readonly [Queue, Date]> => {
      const at = found[columnOf[queue]]
      return at === null ? [] : [[queue, at]]
    })
    const asked = round
    round = Deferred.makeUnsafe()
    awaited = found.awaited
    yield* Deferred.succeed(asked, { due: new Map(due), awaited })
  })

  yield* periodic("Polling for due work", Effect.sleep(pollMillis), Effect.timeout(ask, patience), "Warn")

  /** How long until a row of the queue is due; none beyond the next question. */
  const untilDue = (queue: Queue) =>
    Effect.gen(function* () {
      const { due } = yield* Deferred.await(round)
      const at = due.get(queue)
      if (at === undefined) return Option.none<number>()
      const wait = at.getTime() - (yield* Clock.currentTimeMillis)
      return wait < pollMillis ? Option.some(Math.max(0, wait)) : Option.none<number>()
    })

  const shape: DueWork = {
    next: (queue) =>
      untilDue(queue).pipe(
        Effect.repeat({ until: Option.isSome }),
        Effect.flatMap((wait) => Effect.sleep(Duration.millis(Option.getOrElse(wait, () => 0))))
      ),
    isAwaited: () => awaited
  }
  return shape
})

export const layer: Layer.Layer<never, never, SqlClient.SqlClient> = Layer.effect(DueWork, make)
