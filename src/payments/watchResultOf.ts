// Decides what to record about a watched transfer after a check of its block.
import type { BlockStatus } from "../chain/Verification.ts"
import { plusMillis } from "../domain/plusMillis.ts"
import type { WatchResult } from "./PaymentRepo/PaymentStore.ts"

const watchMillis = 60_000
/** A dropped transfer that has not returned by then needs a person. */
const forgetDroppedMillis = 7 * 24 * 3_600_000

/** `before`: the time at which the transfer was dropped, as recorded. */
export const watchResultOf = (
  before: Date | null,
  status: BlockStatus | undefined,
  now: Date
): WatchResult => {
  const watchAt = plusMillis(now, watchMillis)
  switch (status?._tag) {
    case "Canonical":
      return { droppedAt: null, watchAt: status.final ? null : watchAt }
    case "Moved":
      return { moved: status, droppedAt: null, watchAt }
    case "Dropped": {
      const droppedAt = before ?? now
      const isGivenUp = now.getTime() - droppedAt.getTime() > forgetDroppedMillis
      return { droppedAt, watchAt: isGivenUp ? null : watchAt }
    }
    default:
      return { droppedAt: before, watchAt }
  }
}
