// How sure the chain must be of a transfer's block before the transfer settles a payment, by the payment's amount.
import { Schema } from "effect"
import type { AtomicUsdc } from "./Money.ts"

/**
 * `confirmed`: a majority of the nodes shows so many blocks on top of it. `included`: so does every node. `safe` and
 * `finalized`: a majority names a block with this tag (Execution API, `eth_getBlockByNumber`) at its height or above.
 */
export const Finality = Schema.Literals(["confirmed", "included", "safe", "finalized"])
export type Finality = typeof Finality.Type

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

/**
 * The levels with a merchant's own limits, in atomic USDC, where they are stricter. No level takes amounts that a more
 * certain one refuses.
 */
export const stricterLevels = (
  levels: SettlementLevels,
  limits: { readonly [F in Finality]?: bigint }
): SettlementLevels =>
  levels.map((level, index) => ({
    ...level,
    upTo: levels.slice(index).reduce<bigint | null>((least, { finality, upTo }) => {
      if (upTo === null) return least
      const own = limits[finality] ?? upTo
      return [own, upTo].reduce((most, limit) => (most === null || limit < most ? limit : most), least)
    }, null)
  }))
