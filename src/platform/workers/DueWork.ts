// When the workers have something to do. By itself each looks at its queue at its own pace; on a
// database one statement asks for all of them, and each takes its work at the time that it is due.
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
  "untold alerts",
  "weeks",
  "alert posts"
] as const
export type Queue = (typeof queues)[number]

export interface DueWork {
  /** Completes when a row of the queue may be due; without a database, after `pace`. */
  readonly next: (queue: Queue, pace: Duration.Input) => Effect.Effect<void>
  /** False while no payment waits to be paid on the network, or it does not execute. */
  readonly isAwaited: (env: Env) => boolean
}

export const DueWork = Context.Reference<DueWork>("quittance/platform/DueWork", {
  defaultValue: () => ({
    next: (_, pace) => Effect.sleep(pace),
    isAwaited: () => true
  })
})
