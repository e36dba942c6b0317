// How x402 settlements end.
import { counterBy } from "../../metrics/series.ts"

export const countSettlement = counterBy(
  "quittance_x402_settlements_total",
  "x402 settlements by outcome",
  "outcome",
  ["settled", "failed"]
)
