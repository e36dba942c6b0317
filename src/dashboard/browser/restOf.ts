/** Millionths of a dollar, from decimal USD. */
const atomicOf = (usd: string): bigint => {
  const [whole = "0", fraction = ""] = usd.split(".")
  return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, "0").slice(0, 6))
}

/** Decimal USD that is missing of an amount; undefined where nothing is. */
export const restOf = (asked: string, came: string): string | undefined => {
  const rest = atomicOf(asked) - atomicOf(came)
  if (rest <= 0n) return undefined
  const cents = (rest % 1_000_000n)
    .toString()
    .padStart(6, "0")
    .replace(/0{1,4}$/, "")
  return `${rest / 1_000_000n}.${cents}`
}
