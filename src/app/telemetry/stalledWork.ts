// Work that waits longer than it ever should: which, since when, and what that means for money.
import type { Env } from "../../domain/Chain.ts"
import { networks } from "../../domain/networks.ts"
import type { Queue } from "../../platform/workers/DueWork.ts"
import type { Backlog } from "./BacklogRepo.ts"

const minuteMillis = 60_000
/** A row is due at most so long: leases of killed processes end within seconds. */
const patience = 5 * minuteMillis
/** The patience for work that waits for blocks, or runs once a week. */
const longPatience = 60 * minuteMillis

const waiting: { readonly [Q in Queue]: { readonly patience: number; readonly consequence: string } } = {
  reports: { patience, consequence: "Reported payments settle late." },
  "settled blocks": { patience, consequence: "Settled transfers are not watched until they are final." },
  "incoming transfers": { patience, consequence: "Transfers settle no payment without a report." },
  deliveries: { patience, consequence: "Webhooks are late." },
  "x402 settlements": { patience, consequence: "Payments by signature settle late." },
  "agent payments": { patience, consequence: "Amounts that agents have reserved are released late." },
  "wallet transactions": {
    patience: longPatience,
    consequence: "A transaction of the service's wallet is in no block, and those behind it wait."
  },
  "receiver changes": { patience, consequence: "Changes of receiving addresses take effect late." },
  mails: { patience, consequence: "Mails are late." },
  refunds: { patience, consequence: "Refunds are proven late." },
  "untold alerts": { patience, consequence: "Members are notified of alerts late." },
  weeks: { patience: longPatience, consequence: "Weekly summaries are late." },
  "alert posts": { patience, consequence: "Alerts are posted late." }
}

export interface StalledQueue {
  readonly queue: Queue
  readonly message: string
}

/** Queues whose oldest row has been due for longer than its patience. */
export const stalledQueues = ({ dueSince }: Backlog, now: Date): ReadonlyArray<StalledQueue> =>
  [...dueSince].flatMap(([queue, since]) => {
    const { consequence, patience: tolerated } = waiting[queue]
    return now.getTime() - since.getTime() < tolerated
      ? []
      : [
          {
            queue,
            message: `The oldest of "${queue}" has been due since ${since.toISOString()}. ${consequence}`
          }
        ]
  })

/** Networks whose transfers have not been read for long; `until` is undefined where they have never been. */
export const unreadNetworks = (
  { readUntil }: Backlog,
  now: Date
): ReadonlyArray<{ readonly env: Env; readonly until: Date | undefined; readonly message: string }> =>
  [...readUntil].flatMap(([env, until]) =>
    until !== undefined && now.getTime() - until.getTime() < patience
      ? []
      : [
          {
            env,
            until,
            message: `The transfers of ${networks[env].name} have ${until === undefined ? "never been read" : `been read until ${until.toISOString()} only`}. Payments that nobody reports do not settle.`
          }
        ]
  )
