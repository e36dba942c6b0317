// Wakes the workers when they have work. Without a database, each worker checks its queue at its own pace. On a
// database, one statement checks all queues, and each worker takes its work when it is due.
import { Context, type Duration, Effect } from "effect"
import type { Env } from "../../domain/Chain.ts"

/** The queues of background work, named after their rows. */
export const queues = [
  "reports",
  "settled blocks",
  "incoming transfers",
  "deliveries",
  "x402 settlements",
  "agent payments",
  "wallet transactions",
  "receiver changes",
  "mails",
  "refunds",
  "notifications",
  "weeks",
  "alert posts"
] as const
export type Queue = (typeof queues)[number]

export interface DueWork {
  /** Completes when a row of the queue may be due; without a database, after `pace`. */
  readonly next: (queue: Queue, pace: Duration.Input) => Effect.Effect<void>
  /** False while no payment on the network waits to be paid, or the network is closed. */
  readonly isAwaited: (env: Env) => boolean
}

export const DueWork = Context.Reference<DueWork>("quittance/platform/DueWork", {
  defaultValue: () => ({
    next: (_, pace) => Effect.sleep(pace),
    isAwaited: () => true
  })
})
