// Gas fees of the service's transactions: bounded by the present price and the wallet's balance, and free to fall.
import { type Hex, parseTransaction } from "viem"
import type { Fees, WalletState } from "../HotWallet.ts"

/** A replacement offers at most so many times the present offer. */
const highest = 4n

export const feesOf = (raw: Hex): Fees => {
  const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = parseTransaction(raw)
  return { maxFeePerGas, maxPriorityFeePerGas }
}

/** The most wei that the gas of a signed transaction costs. */
export const mostWeiOf = (raw: Hex): bigint => {
  const { gas = 0n, maxFeePerGas = 0n } = parseTransaction(raw)
  return gas * maxFeePerGas
}

const larger = (one: bigint, other: bigint) => (one > other ? one : other)
/** The wei that another version of a transaction may cost more than those before it. */
export const addedWei = (versions: ReadonlyArray<Hex>, raw: Hex): bigint => {
  const most = versions.map(mostWeiOf).reduce(larger, 0n)
  return larger(mostWeiOf(raw), most) - most
}
const smaller = (one: bigint, other: bigint) => (one < other ? one : other)
/** Nodes ask a tenth, some an eighth more of a replacement. */
const raised = (fee: bigint) => (fee * 5n) / 4n + 1n

/** The most that the wallet can offer for each gas of a transaction. */
const affordable = ({ wei }: WalletState, raw: Hex) => {
  const { value = 0n, gas = 21_000n } = parseTransaction(raw)
  return wei > value ? (wei - value) / gas : 0n
}

const within = (limit: bigint, { maxFeePerGas, maxPriorityFeePerGas }: Fees): Fees => {
  const bounded = smaller(maxFeePerGas, limit)
  return { maxFeePerGas: bounded, maxPriorityFeePerGas: smaller(maxPriorityFeePerGas, bounded) }
}

/** Fees that replace another version in a node's pool, within the bound of the present price. */
export const replacingFees = (old: Fees, { fees }: WalletState): Fees =>
  within(fees.maxFeePerGas * highest, {
    maxFeePerGas: larger(raised(old.maxFeePerGas), fees.maxFeePerGas),
    maxPriorityFeePerGas: larger(raised(old.maxPriorityFeePerGas), fees.maxPriorityFeePerGas)
  })

/**
 * Fees of a filler. Nodes take it in place of another version however cheap gas has become since, and while
 * nobody tells the price; with its 21,000 gas it costs less than that version would.
 */
export const fillingFees = (old: Fees, state: WalletState | undefined): Fees => ({
  maxFeePerGas: larger(raised(old.maxFeePerGas), state?.fees.maxFeePerGas ?? 0n),
  maxPriorityFeePerGas: larger(raised(old.maxPriorityFeePerGas), state?.fees.maxPriorityFeePerGas ?? 0n)
})

export interface BroadcastState {
  /** True if a node knows any version; undefined while not all have said. */
  readonly known: boolean | undefined
  /** True if blocks have come since it was signed. */
  readonly blocksCome: boolean
}

/** `empty`: the wallet cannot pay what it takes. `keep`: nothing is gained by another fee. */
export type Repricing = Fees | "keep" | "empty"

/**
 * The fee of a transaction that no block has taken for long. One that a node knows is raised
 * while blocks come and the price lies above its offer; one that no node knows is offered anew at
 * the present price, be that higher or lower.
 */
export const reprice = (raw: Hex, state: WalletState, { known, blocksCome }: BroadcastState): Repricing => {
  const old = feesOf(raw)
  const most = affordable(state, raw)
  if (known === undefined) return "keep"
  if (known) {
    if (!blocksCome || state.price <= old.maxFeePerGas) return "keep"
    const next = within(most, replacingFees(old, state))
    return next.maxFeePerGas < raised(old.maxFeePerGas) || next.maxFeePerGas < state.price ? "empty" : next
  }
  const isFair = old.maxFeePerGas >= state.price && old.maxFeePerGas <= state.fees.maxFeePerGas * highest
  if (isFair && old.maxFeePerGas <= most) return "keep"
  return most < state.price ? "empty" : within(most, state.fees)
}
