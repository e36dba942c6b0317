// Lets a lease start reading a long queue where the last one stopped, instead of at its beginning, where index entries
// of delivered rows pile up: any open transaction keeps vacuum and index scans from removing them.
import type { LeasedDelivery, QueueStart } from "../WebhookRepo/WebhookStore.ts"

/** The number of dead entries that makes a separate start worthwhile for a queue. */
const longQueue = 1_000
/** The number of longest queues to track: each costs a lease two index steps. */
const maxStarts = 16
/** A leased delivery may have been due this long before earlier leases, because commits and clocks differ. */
const lateMillis = 1_000
/** A queue without leases for this long is forgotten. */
const forgetMillis = 600_000
const minFullReadPauseMillis = 50
/** After a complete reading, the next waits this many times as long as that one took. */
const fullReadPauseFactor = 20

interface Queue {
  readonly count: number
  readonly from: number
  readonly usedAt: number
}

export interface QueueStarts {
  /** The queue starts for a lease at `now`; empty if all queues must be read completely. */
  readonly of: (now: number) => ReadonlyArray<QueueStart>
  /** Stores the result of a lease that called `of` at `begun`. */
  readonly recordLease: (begun: number, ended: number, deliveries: ReadonlyArray<LeasedDelivery>) => void
}

/**
 * Times are in milliseconds of a monotonic clock. Rows committed out of order lie slightly before the latest lease;
 * older rows are found when all queues are read completely, up to twenty times a second.
 */
export const makeQueueStarts = (): QueueStarts => {
  const queues = new Map<string, Queue>()
  let nextFullReadAt = 0
  return {
    of: (now) => {
      if (now >= nextFullReadAt) return []
      return [...queues]
        .filter(([, { count }]) => count >= longQueue)
        .toSorted(([, left], [, right]) => right.count - left.count)
        .slice(0, maxStarts)
        .map(([endpointId, { from }]) => ({ endpointId, from: new Date(from - lateMillis) }))
    },
    recordLease: (begun, ended, deliveries) => {
      const isFullRead = begun >= nextFullReadAt
      if (isFullRead)
        nextFullReadAt = ended + Math.max(minFullReadPauseMillis, fullReadPauseFactor * (ended - begun))
      for (const [endpointId, ofQueue] of Map.groupBy(deliveries, ({ target }) => target.endpointId)) {
        const queue = queues.get(endpointId)
        const latest = Math.max(...ofQueue.map(({ wasDueAt }) => wasDueAt.getTime()))
        queues.set(endpointId, {
          count: (queue?.count ?? 0) + ofQueue.length,
          // Oldest first: no due row lies before the latest lease of a complete reading.
          from: isFullRead ? latest : Math.max(latest, queue?.from ?? latest),
          usedAt: ended
        })
      }
      for (const [endpointId, { usedAt }] of queues)
        if (usedAt < ended - forgetMillis) queues.delete(endpointId)
    }
  }
}
