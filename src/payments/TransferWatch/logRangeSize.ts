// The number of blocks in one request for logs. Providers limit it, often without saying how. If a size is refused and
// a smaller one works, it is a ceiling: it is approached by halving and remembered for a while.

import { BigInt as BigIntOrder } from "effect"

/** A provider's plan may change, so larger requests are tried again after this time. */
const ceilingMillis = 600_000

export const makeLogRangeSize = (maxRange: bigint) => {
  let size = maxRange
  /** The largest request that was answered, below the ceiling. */
  let largest = 0n
  let ceiling: { readonly size: bigint; readonly until: number } | undefined

  const nextSize = () =>
    ceiling === undefined
      ? BigIntOrder.min(BigIntOrder.max(size, largest) * 2n, maxRange)
      : BigIntOrder.max(largest + (ceiling.size - largest) / 2n, 1n)

  return {
    /** The number of blocks to request, at `now` in milliseconds. */
    at: (now: number): bigint => {
      if (ceiling !== undefined && now >= ceiling.until) {
        ceiling = undefined
        size = nextSize()
      }
      return size
    },
    /** This many blocks were answered. */
    recordAnswer: (blocks: bigint): void => {
      largest = BigIntOrder.max(largest, blocks)
      // A request that ends at the head may be smaller than the size.
      if (blocks >= size) size = nextSize()
    },
    /** This many blocks were refused, at `now`. True if a smaller request is worth trying immediately. */
    recordRefusal: (blocks: bigint, now: number): boolean => {
      if (blocks <= 1n) {
        // A single block was refused, so the size is not the reason.
        ceiling = undefined
        largest = 0n
        size = 1n
        return false
      }
      ceiling = {
        size: ceiling === undefined ? blocks : BigIntOrder.min(ceiling.size, blocks),
        until: now + ceilingMillis
      }
      if (largest >= blocks) largest = 0n
      size = nextSize()
      return true
    }
  }
}
