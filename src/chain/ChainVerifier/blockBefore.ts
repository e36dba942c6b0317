import { Effect } from "effect"

/**
 * The height of the last block before an instant, at most `upTo`, by the times of few blocks: chains make
 * them about evenly. Undefined where a time is not known.
 */
export const blockBefore = Effect.fnUntraced(function* (
  timeOf: (height: bigint) => Effect.Effect<bigint | undefined>,
  at: Date,
  upTo: bigint
) {
  // A block of the same second is no longer before it.
  const wanted = BigInt(Math.ceil(at.getTime() / 1000))
  let [low, high] = [0n, upTo]
  let [lowTime, highTime] = [yield* timeOf(low), yield* timeOf(high)]
  if (lowTime === undefined || highTime === undefined) return undefined
  if (highTime < wanted) return high
  if (lowTime >= wanted) return low
  for (let step = 0; high - low > 1n; step++) {
    const even: bigint = low + ((wanted - lowTime) * (high - low)) / (highTime - lowTime)
    const half = (low + high) / 2n
    // Where blocks come unevenly, halving ends it.
    const guess: bigint = step % 3 === 2 ? half : even <= low ? low + 1n : even >= high ? high - 1n : even
    const time: bigint | undefined = yield* timeOf(guess)
    if (time === undefined) return undefined
    if (time < wanted) [low, lowTime] = [guess, time]
    else [high, highTime] = [guess, time]
  }
  return low
})
