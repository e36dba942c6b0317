// Counts x402 settlements by outcome.
import { counterBy } from "../../platform/metrics/series.ts"

export const countX402Settlement = counterBy(
  "quittance_x402_settlements_total",
  "x402 settlements by outcome",
  "outcome",
  ["settled", "failed"]
)
