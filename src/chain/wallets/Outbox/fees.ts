// Gas fees of the service's transactions: bounded by the current price and the wallet's balance, and free to fall.
import { BigInt as BigIntOrder } from "effect"
import { type Hex, parseTransaction } from "viem"
import { maxWeiOf } from "../HotWallet/costs.ts"
import type { Fees, WalletState } from "../HotWallet.ts"

/** A replacement offers at most this many times the current offer. */
const maxFeeMultiple = 4n

export const feesOf = (raw: Hex): Fees => {
  const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = parseTransaction(raw)
  return { maxFeePerGas, maxPriorityFeePerGas }
}

/** The additional wei that another version may cost compared with the earlier versions. */
export const addedWei = (versions: ReadonlyArray<Hex>, raw: Hex): bigint => {
  const most = versions.map(maxWeiOf).reduce((most, wei) => BigIntOrder.max(most, wei), 0n)
  return BigIntOrder.max(maxWeiOf(raw), most) - most
}

/** Nodes require a tenth more for a replacement, some an eighth. */
const bumped = (fee: bigint) => (fee * 5n) / 4n + 1n

/** The most that the wallet can offer per unit of gas of a transaction. */
const affordableFee = ({ wei }: WalletState, raw: Hex) => {
  const { value = 0n, gas = 21_000n } = parseTransaction(raw)
  return wei > value ? (wei - value) / gas : 0n
}

const capped = (limit: bigint, { maxFeePerGas, maxPriorityFeePerGas }: Fees): Fees => {
  const bounded = BigIntOrder.min(maxFeePerGas, limit)
  return { maxFeePerGas: bounded, maxPriorityFeePerGas: BigIntOrder.min(maxPriorityFeePerGas, bounded) }
}

/** Fees that replace another version in a node's pool, limited by the current price. */
export const replacementFees = (old: Fees, { fees }: WalletState): Fees =>
  capped(fees.maxFeePerGas * maxFeeMultiple, {
    maxFeePerGas: BigIntOrder.max(bumped(old.maxFeePerGas), fees.maxFeePerGas),
    maxPriorityFeePerGas: BigIntOrder.max(bumped(old.maxPriorityFeePerGas), fees.maxPriorityFeePerGas)
  })

/**
 * Fees of a filler. Nodes accept it instead of another version even if gas has become cheaper or the price is unknown.
 * With its 21,000 gas it costs less than that version would.
 */
export const fillerFees = (old: Fees, state: WalletState | undefined): Fees => ({
  maxFeePerGas: BigIntOrder.max(bumped(old.maxFeePerGas), state?.fees.maxFeePerGas ?? 0n),
  maxPriorityFeePerGas: BigIntOrder.max(
    bumped(old.maxPriorityFeePerGas),
    state?.fees.maxPriorityFeePerGas ?? 0n
  )
})

export interface BroadcastState {
  /** True if a node knows any version; undefined until all nodes have answered. */
  readonly known: boolean | undefined
  /** True if blocks have been mined since it was signed. */
  readonly blocksCome: boolean
}

/** `empty`: the wallet cannot pay the fee. `keep`: another fee would gain nothing. */
export type Repricing = Fees | "keep" | "empty"

/**
 * The fee of a transaction that no block has included for long. If a node knows it, the fee is raised while blocks are
 * mined and the price is above its offer. If no node knows it, it is offered again at the current price, higher or
 * lower.
 */
export const reprice = (raw: Hex, state: WalletState, { known, blocksCome }: BroadcastState): Repricing => {
  const old = feesOf(raw)
  const most = affordableFee(state, raw)
  if (known === undefined) return "keep"
  if (known) {
    if (!blocksCome || state.price <= old.maxFeePerGas) return "keep"
    const next = capped(most, replacementFees(old, state))
    return next.maxFeePerGas < bumped(old.maxFeePerGas) || next.maxFeePerGas < state.price ? "empty" : next
  }
  const isFair =
    old.maxFeePerGas >= state.price && old.maxFeePerGas <= state.fees.maxFeePerGas * maxFeeMultiple
  if (isFair && old.maxFeePerGas <= most) return "keep"
  return most < state.price ? "empty" : capped(most, state.fees)
}
