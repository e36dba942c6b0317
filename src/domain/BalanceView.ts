// A wallet's balance as the API returns it.
import { Schema } from "effect"

/** A whole number of smallest units, as digits. */
export const Digits = Schema.String.check(Schema.isPattern(/^[0-9]+$/u))

/** An address's balance: atomic USDC, and wei for fees. */
export const BalanceView = Schema.Struct({
  usdcAtomic: Digits.annotate({
    description: "USDC in its smallest units (6 decimals).",
    examples: ["10000000"]
  }),
  gasWei: Digits.annotate({ description: "The chain's own coin in wei." })
}).annotate({ identifier: "Balance" })
