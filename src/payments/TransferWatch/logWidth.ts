// The number of blocks in one request for logs. Providers limit it, often without saying how. If a width is refused and
// a shorter one works, the width is a ceiling: it is approached by halving and remembered for a while.

import { BigInt as BigIntOrder } from "effect"

/** A provider's plan may change, so wider requests are tried again after this time. */
const ceilingMillis = 600_000

export const makeLogWidth = (maxRange: bigint) => {
  let width = maxRange
  /** The widest request that was answered, below the ceiling. */
  let widest = 0n
  let ceiling: { readonly width: bigint; readonly until: number } | undefined

  const between = () =>
    ceiling === undefined
      ? BigIntOrder.min(BigIntOrder.max(width, widest) * 2n, maxRange)
      : BigIntOrder.max(widest + (ceiling.width - widest) / 2n, 1n)

  return {
    /** The number of blocks to request, at `now` in milliseconds. */
    at: (now: number): bigint => {
      if (ceiling !== undefined && now >= ceiling.until) {
        ceiling = undefined
        width = between()
      }
      return width
    },
    /** This many blocks were answered. */
    answered: (blocks: bigint): void => {
      widest = BigIntOrder.max(widest, blocks)
      // A request that ends at the head may be narrower than the width.
      if (blocks >= width) width = between()
    },
    /** This many blocks were refused, at `now`. True if a narrower request is worth trying immediately. */
    refused: (blocks: bigint, now: number): boolean => {
      if (blocks <= 1n) {
        // A single block was refused, so the width is not the reason.
        ceiling = undefined
        widest = 0n
        width = 1n
        return false
      }
      ceiling = {
        width: ceiling === undefined ? blocks : BigIntOrder.min(ceiling.width, blocks),
        until: now + ceilingMillis
      }
      if (widest >= blocks) widest = 0n
      width = between()
      return true
    }
  }
}
