// Settlements, and what each look at the chain said.
import type { Effect } from "effect"
import type { MismatchReason, PendingReason, Verification } from "../chain/Verification.ts"
import { counterBy } from "../telemetry/series.ts"

/** Counts a payment that has settled, by environment. */
export const countSettlement = counterBy("quittance_settlements_total", "Payments settled", "env", [
  "test",
  "live"
])

const pendingReasons: { readonly [R in PendingReason]: null } = {
  not_found: null,
  spreading: null,
  confirmations: null,
  reorganised: null,
  disagreement: null,
  rpc_unavailable: null,
  wrong_network: null
}
const mismatchReasons: { readonly [R in MismatchReason]: null } = {
  receiver: null,
  amount: null,
  token: null,
  payer: null,
  reverted: null,
  too_old: null,
  declared_changes: null,
  no_transfer: null,
  already_used: null
}

const count = counterBy(
  "quittance_verifications_total",
  "Looks at the chain for a report: `verified`, or the reason why it is pending or does not match",
  "reason",
  ["verified", ...Object.keys(pendingReasons), ...Object.keys(mismatchReasons)]
)

export const countVerification = (found: Verification): Effect.Effect<void> =>
  count(found._tag === "Verified" ? "verified" : found.reason)
