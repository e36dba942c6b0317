// Searches for the last block before an instant, to read balances of past days.
import { Effect } from "effect"

/**
 * The height of the last block before an instant, at most `upTo`. Reads the times of few blocks, because chains make
 * blocks at an even pace. Undefined if a time is unknown.
 */
export const blockBefore = Effect.fnUntraced(function* (
  timeOf: (height: bigint) => Effect.Effect<bigint | undefined>,
  at: Date,
  upTo: bigint
) {
  // A block of the same second is not before the instant.
  const wanted = BigInt(Math.ceil(at.getTime() / 1000))
  let [low, high] = [0n, upTo]
  let [lowTime, highTime] = [yield* timeOf(low), yield* timeOf(high)]
  if (lowTime === undefined || highTime === undefined) return undefined
  if (highTime < wanted) return high
  if (lowTime >= wanted) return low
  for (let step = 0; high - low > 1n; step++) {
    const even: bigint = low + ((wanted - lowTime) * (high - low)) / (highTime - lowTime)
    const half = (low + high) / 2n
    // If blocks come unevenly, halving ends the search.
    const guess: bigint = step % 3 === 2 ? half : even <= low ? low + 1n : even >= high ? high - 1n : even
    const time: bigint | undefined = yield* timeOf(guess)
    if (time === undefined) return undefined
    if (time < wanted) [low, lowTime] = [guess, time]
    else [high, highTime] = [guess, time]
  }
  return low
})
