// How sure the chain must be of a transfer's block before the transfer settles a payment, by the payment's amount.
import type { AtomicUsdc } from "./Money.ts"

/**
 * `confirmed`: a majority of the nodes shows so many blocks on top of it. `included`: so does every node. `safe` and
 * `finalized`: a majority names a block with this tag (Execution API, `eth_getBlockByNumber`) at its height or above.
 */
export type Finality = "confirmed" | "included" | "safe" | "finalized"

export interface SettlementLevel {
  readonly finality: Finality
  /** The largest amount that settles at this level, in atomic USDC; null for the last level, which has no limit. */
  readonly upTo: bigint | null
  /** About how long a block takes to reach it. */
  readonly seconds: number
}

/** Ascending by amount and by certainty. */
export type SettlementLevels = ReadonlyArray<SettlementLevel>

/** The level at which a payment of the amount settles. */
export const finalityFor = (amount: AtomicUsdc, levels: SettlementLevels): Finality =>
  levels.find(({ upTo }) => upTo === null || amount <= upTo)?.finality ?? "finalized"
