// Where the long queues begin. A delivery leaves dead entries in the index that its queue is read by, and while any
// transaction of the database stays open, vacuum and index scans leave them there: a claim that read the queue from
// its beginning would pass all of them. What is committed later than what was due after it lies a little before the
// latest claim; what lies further back is found when all are read whole, twenty times a second, less often
// where that takes long.
import type { ClaimedDelivery, QueueStart } from "../WebhookRepo/WebhookStore.ts"

/** What a queue has left behind before it is worth a start of its own. */
const longQueue = 1_000
/** Of the longest alone: each costs a claim two steps on the index. */
const mostStarts = 16
/** What is claimed may have been due so long before what was claimed already: commits and clocks differ. */
const lateMillis = 1_000
/** A queue that nothing was claimed from for so long is forgotten. */
const forgetMillis = 600_000
const wholeMillis = 50
/** Reading queues whole takes at most a twentieth of the time. */
const restFor = 20

interface Queue {
  readonly claimed: number
  readonly from: number
  readonly usedAt: number
}

export interface QueueStarts {
  /** What the claim at `now` leaves out; nothing where it is time to read all queues whole. */
  readonly of: (now: number) => ReadonlyArray<QueueStart>
  /** Notes a claim that `of` was asked for at `begun`. */
  readonly note: (begun: number, ended: number, claimed: ReadonlyArray<ClaimedDelivery>) => void
}

/** Times in milliseconds of a clock that does not go back. */
export const makeQueueStarts = (): QueueStarts => {
  const queues = new Map<string, Queue>()
  let wholeAt = 0
  return {
    of: (now) => {
      if (now >= wholeAt) return []
      return [...queues]
        .filter(([, { claimed }]) => claimed >= longQueue)
        .toSorted(([, left], [, right]) => right.claimed - left.claimed)
        .slice(0, mostStarts)
        .map(([endpointId, { from }]) => ({ endpointId, from: new Date(from - lateMillis) }))
    },
    note: (begun, ended, claimed) => {
      const isWhole = begun >= wholeAt
      if (isWhole) wholeAt = ended + Math.max(wholeMillis, restFor * (ended - begun))
      for (const [endpointId, ofQueue] of Map.groupBy(claimed, ({ target }) => target.endpointId)) {
        const known = queues.get(endpointId)
        const latest = Math.max(...ofQueue.map(({ wasDueAt }) => wasDueAt.getTime()))
        queues.set(endpointId, {
          claimed: (known?.claimed ?? 0) + ofQueue.length,
          // Oldest first: nothing that is due lies before the latest of a whole reading.
          from: isWhole ? latest : Math.max(latest, known?.from ?? latest),
          usedAt: ended
        })
      }
      for (const [endpointId, { usedAt }] of queues)
        if (usedAt < ended - forgetMillis) queues.delete(endpointId)
    }
  }
}
