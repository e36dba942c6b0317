// The position up to which the chain's transfers are read: a row that one instance holds under a lease. Important
// progress is stored at once, the rest with the next renewal.
import { DateTime, Effect, Option } from "effect"
import type { Env } from "../../domain/Chain.ts"
import { plusMillis } from "../../domain/plusMillis.ts"
import type { ChainCursor, CursorLease, ReadRange } from "../TransferRepo/TransferStore.ts"
import type { TransferRepo } from "../TransferRepo.ts"

/** A killed reader keeps others from reading for this long. */
const leaseMillis = 15_000
const renewMillis = leaseMillis / 2

/** The transfers found in a range. */
type RangeTransfers = Pick<ReadRange, "transfers" | "outgoing">

interface HeldCursor {
  readonly lease: CursorLease
  /** The cursor as stored in the row. */
  readonly stored: ChainCursor
  /** The cursor as read so far; there are no relevant transfers in between. */
  readonly at: ChainCursor
}

export const makeCursorLease = (repo: TransferRepo["Service"], env: Env, leaseId: string) => {
  let held: HeldCursor | undefined

  const newLease = Effect.map(
    DateTime.nowAsDate,
    (at): CursorLease => ({ id: leaseId, at, until: plusMillis(at, leaseMillis) })
  )

  const store = Effect.fnUntraced(function* (from: ChainCursor, to: ChainCursor, transfers: RangeTransfers) {
    const lease = yield* newLease
    held = undefined
    if (!(yield* repo.recordRange({ env, lease, from, to, ...transfers }))) return false
    held = { lease, stored: to, at: to }
    return true
  })

  const renew = Effect.fnUntraced(function* (immediately: boolean) {
    const at = yield* DateTime.nowAsDate
    const isStored = held === undefined || held.at === held.stored
    const isFresh = held !== undefined && at.getTime() < held.lease.until.getTime() - renewMillis
    if (isFresh && (isStored || !immediately)) return
    if (held !== undefined && held.at !== held.stored) {
      yield* store(held.stored, held.at, { transfers: [], outgoing: [] })
      return
    }
    const lease = yield* newLease
    held = undefined
    const stored = yield* repo.leaseCursor(env, lease)
    if (Option.isSome(stored)) held = { lease, stored: stored.value, at: stored.value }
  })

  return {
    /**
     * Returns the position at which this instance continues. None while another instance reads, and before the first
     * start. With `immediately`, stores the progress immediately, because a payment may be waiting for it.
     */
    take: (immediately: boolean) =>
      Effect.map(renew(immediately), () => Option.map(Option.fromUndefinedOr(held), ({ at }) => at)),
    /** Records a range that was read after the cursor. False if another instance has taken over. */
    advance: (to: ChainCursor, transfers: RangeTransfers, immediately: boolean) =>
      Effect.suspend(() => {
        if (held === undefined) return Effect.succeed(false)
        if (immediately || transfers.transfers.length > 0 || transfers.outgoing.length > 0)
          return store(held.stored, to, transfers)
        held = { ...held, at: to }
        return Effect.succeed(true)
      }),
    /** Reads everything above the height again, from the block that `cursorAt` finds there. */
    rewind: Effect.fnUntraced(function* (
      height: bigint,
      cursorAt: (height: bigint) => Effect.Effect<Option.Option<ChainCursor>>
    ) {
      if (held === undefined) return
      const { at, lease, stored } = held
      const lowest = height < stored.blockNumber ? height : stored.blockNumber
      const to = yield* cursorAt(lowest < 0n ? 0n : lowest)
      if (Option.isNone(to)) return
      held = undefined
      yield* repo.rewindCursor(env, lease, stored, to.value)
      yield* Effect.logWarning("The chain was reorganised; reading the replaced blocks again").pipe(
        Effect.annotateLogs({ from: String(at.blockNumber), to: String(to.value.blockNumber) })
      )
    }),
    release: repo.releaseCursor(env, leaseId)
  }
}
