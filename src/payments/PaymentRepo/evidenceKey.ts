// What tells one report's evidence from another's: each is kept by itself, so that a
// report that turns out wrong never displaces one that is still to be proven.
import { createHash } from "node:crypto"
import type { Evidence } from "../../domain/Payment.ts"
import { canonicalTokenChanges } from "../../domain/TokenChange.ts"

/** How many reports of one payer are kept for a payment; settled ones go first, then the oldest. */
export const keptReports = 8

/** SHA-256 over payer, transaction and canonical changes. */
export const evidenceKey = ({ payer, transactionId, tokenChanges }: Evidence): Uint8Array =>
  createHash("sha256")
    .update(`${payer}\n${transactionId}\n${canonicalTokenChanges(tokenChanges)}`)
    .digest()
