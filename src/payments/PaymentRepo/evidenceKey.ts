// Identifies a report's evidence. Each report is stored separately, so a wrong report never displaces a correct one
// that is not yet verified.
import { createHash } from "node:crypto"
import type { Evidence } from "../../domain/Payment.ts"
import { canonicalTokenChanges } from "../../domain/TokenChange.ts"

/** The number of reports stored for each payer and payment; settled ones are evicted first, then the oldest. */
export const maxReports = 8

/** SHA-256 over payer, transaction and canonical changes. */
export const evidenceKey = ({ payer, transactionId, tokenChanges }: Evidence): Uint8Array =>
  createHash("sha256")
    .update(`${payer}\n${transactionId}\n${canonicalTokenChanges(tokenChanges)}`)
    .digest()
