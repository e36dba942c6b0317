// Counts settlements, and the result of each check against the chain.

import type { Effect } from "effect"
import type { Verification } from "../../chain/Verification.ts"
import { envs } from "../../domain/networks.ts"
import { MismatchReason, PendingReason } from "../../domain/VerdictReason.ts"
import { counterBy } from "../../platform/metrics/series.ts"

/** Counts a payment that has settled, by environment. */
export const countSettlement = counterBy("quittance_settlements_total", "Payments settled", "env", envs)

const count = counterBy(
  "quittance_verifications_total",
  "Chain verifications for a report: `verified`, or the reason why it is pending or does not match",
  "reason",
  ["verified", ...PendingReason.literals, ...MismatchReason.literals]
)

export const countVerification = (verification: Verification): Effect.Effect<void> =>
  count(verification._tag === "Verified" ? "verified" : verification.reason)
