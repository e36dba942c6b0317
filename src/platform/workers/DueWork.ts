// When the workers have something to do. By itself each looks at its queue at its own pace; on a
// database one statement asks for all of them, and each takes its work at the time that it is due.
import { Context, type Duration, Effect } from "effect"

/** What is worked off, named by what its rows are. */
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
  "untold alerts",
  "weeks",
  "alert posts"
] as const
export type Queue = (typeof queues)[number]

export interface DueWork {
  /** Completes when a row of the queue may be due; without a database, after `pace`. */
  readonly next: (queue: Queue, pace: Duration.Input) => Effect.Effect<void>
  /** False while no payment waits to be paid on a network that executes. */
  readonly isAwaited: () => boolean
}

export const DueWork = Context.Reference<DueWork>("quittance/platform/DueWork", {
  defaultValue: () => ({
    next: (_, pace) => Effect.sleep(pace),
    isAwaited: () => true
  })
})
