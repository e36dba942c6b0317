// The certainty that a transfer's block needs before the transfer settles a payment, by the payment's amount.
import { Schema } from "effect"
import type { AtomicUsdc } from "./Money.ts"

/**
 * `confirmed`: a majority of the nodes shows enough blocks on top of it. `included`: every node does. `safe`,
 * `finalized`: a majority has a block with this tag (`eth_getBlockByNumber`) at its height or above.
 */
export const Finality = Schema.Literals(["confirmed", "included", "safe", "finalized"])
export type Finality = typeof Finality.Type

export interface SettlementLevel {
  readonly finality: Finality
  /** The largest amount that settles at this level, in atomic USDC; null for the last level, which has no limit. */
  readonly upTo: bigint | null
  /** The approximate time in seconds until a block reaches the level. */
  readonly seconds: number
}

/** Ascending by amount and by certainty. */
export type SettlementLevels = ReadonlyArray<SettlementLevel>

/** The level at which a payment of the amount settles. */
export const finalityFor = (amount: AtomicUsdc, levels: SettlementLevels): Finality =>
  levels.find(({ upTo }) => upTo === null || amount <= upTo)?.finality ?? "finalized"

/**
 * The levels, with the merchant's own limits where those are stricter, in atomic USDC. No level accepts amounts that
 * a more certain level refuses.
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
