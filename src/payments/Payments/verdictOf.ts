// The entry that a check against the chain adds to the payment's history.
import type { Verdict } from "../PaymentRepo/PaymentStore.ts"
import type { ReportCheck } from "./evidenceCheck.ts"

/** The verdict of a check that did not settle; undefined if there is nothing to record. */
export const verdictOf = (check: ReportCheck, at: Date): Verdict | undefined => {
  switch (check._tag) {
    case "Pending":
      return { at, reason: check.reason }
    case "Refused": {
      const [detail] = check.error.details ?? []
      return { at, reason: check.reason, expected: detail?.expected, actual: detail?.actual }
    }
    default:
      return undefined
  }
}
