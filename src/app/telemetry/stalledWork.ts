// Work that has waited too long: the queue or network, since when, and the consequence for money.
import type { Env } from "../../domain/Chain.ts"
import { networks } from "../../domain/networks.ts"
import type { Queue } from "../../platform/workers/DueWork.ts"
import type { Backlog } from "./BacklogRepo.ts"

const maxErrorLength = 200
const sentenceOf = (error: string) =>
  `The last error: ${error.replace(/\s+/g, " ").trim().replace(/\.$/, "").slice(0, maxErrorLength)}.`

const minuteMillis = 60_000
/** The maximum time that a row may be due: leases of killed processes end within seconds. */
const limitMillis = 5 * minuteMillis
/** The limit for work that waits for blocks, or runs once a week. */
const longLimitMillis = 60 * minuteMillis

const waiting: { readonly [Q in Queue]: { readonly limit: number; readonly consequence: string } } = {
  reports: { limit: limitMillis, consequence: "Reported payments settle late." },
  "settled blocks": {
    limit: limitMillis,
    consequence: "Settled transfers are not watched until they are final."
  },
  "incoming transfers": { limit: limitMillis, consequence: "Transfers settle no payment without a report." },
  deliveries: { limit: limitMillis, consequence: "Webhooks are late." },
  "x402 settlements": { limit: limitMillis, consequence: "Payments by signature settle late." },
  "agent payments": {
    limit: limitMillis,
    consequence: "Amounts that agents have reserved are released late."
  },
  "wallet transactions": {
    limit: longLimitMillis,
    consequence: "A transaction of the service's wallet is in no block, and those behind it wait."
  },
  "receiver changes": { limit: limitMillis, consequence: "Changes of receiving addresses take effect late." },
  mails: { limit: limitMillis, consequence: "Emails are delayed." },
  refunds: { limit: limitMillis, consequence: "Refunds are proven late." },
  notifications: { limit: limitMillis, consequence: "Members are notified of alerts late." },
  weeks: { limit: longLimitMillis, consequence: "Weekly summaries are late." },
  "alert posts": { limit: limitMillis, consequence: "Alerts are posted late." }
}

export interface StalledQueue {
  readonly queue: Queue
  readonly message: string
  /** A sentence with the last error, if the queue stores it. */
  readonly cause: string | undefined
}

/** Queues whose oldest row has been due for longer than the limit. */
export const stalledQueues = ({ dueSince, errors }: Backlog, now: Date): ReadonlyArray<StalledQueue> =>
  [...dueSince].flatMap(([queue, since]) => {
    const { consequence, limit } = waiting[queue]
    const error = errors.get(queue)
    return now.getTime() - since.getTime() < limit
      ? []
      : [
          {
            queue,
            cause: error === undefined ? undefined : sentenceOf(error),
            message: `The oldest item in the queue "${queue}" has been due since ${since.toISOString()}. ${consequence}`
          }
        ]
  })

/** Networks whose transfers have not been read for too long; `until` is undefined if they were never read. */
export const unreadNetworks = (
  { readUntil }: Backlog,
  now: Date
): ReadonlyArray<{ readonly env: Env; readonly until: Date | undefined; readonly message: string }> =>
  [...readUntil].flatMap(([env, until]) =>
    until !== undefined && now.getTime() - until.getTime() < limitMillis
      ? []
      : [
          {
            env,
            until,
            message: `The transfers of ${networks[env].name} have ${until === undefined ? "never been read" : `been read only up to ${until.toISOString()}`}. Payments that nobody reports do not settle.`
          }
        ]
  )
