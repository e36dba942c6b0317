// The few EVM encodings that the checkout needs: one ERC-20 call and one event. Written by hand, because a general
// library is larger than the whole component.

/** `transfer(address,uint256)` and `balanceOf(address)`: first four bytes of the signatures' hashes. */
const transferSelector = "0xa9059cbb"
const balanceOfSelector = "0x70a08231"
/** Hash of `Transfer(address,address,uint256)`. */
export const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"

const word = (hex: string) => hex.toLowerCase().replace(/^0x/, "").padStart(64, "0")

/** Left-padded to 32 bytes, as an indexed event argument. */
export const addressTopic = (address: string): string => `0x${word(address)}`

/** Call data of `transfer(to, atomic)`. */
export const encodeTransfer = (to: string, atomic: bigint): string => {
  if (!/^0x[0-9a-fA-F]{40}$/.test(to)) throw new Error("not an address")
  if (atomic <= 0n || atomic >= 1n << 256n) throw new Error("not an amount")
  return `${transferSelector}${word(to)}${word(atomic.toString(16))}`
}

/** Call data of `balanceOf(owner)`. */
export const encodeBalanceOf = (owner: string): string => `${balanceOfSelector}${word(owner)}`

/** The event's amount; undefined unless the data is one word. */
export const amountOfTransfer = (data: unknown): bigint | undefined =>
  typeof data === "string" && /^0x[0-9a-fA-F]{64}$/.test(data) ? BigInt(data) : undefined

export const sameHex = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

export const toQuantity = (value: number | bigint): string => `0x${value.toString(16)}`

/** Decimal USD, as the service writes it, in atomic USDC (6 decimals). */
export const atomicOf = (amount: string): bigint => {
  const [integer = "0", fraction = ""] = amount.split(".")
  return BigInt(integer) * 1_000_000n + BigInt(fraction.padEnd(6, "0"))
}

/** Atomic USDC in decimal USD with at least two decimals. */
export const usdOf = (atomic: bigint): string => {
  const fraction = (atomic % 1_000_000n).toString().padStart(6, "0")
  return `${atomic / 1_000_000n}.${fraction.slice(0, 2)}${fraction.slice(2).replace(/0+$/, "")}`
}
