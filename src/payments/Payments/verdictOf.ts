// What a look at the chain adds to the payment's history.
import type { Verdict } from "../PaymentRepo.ts"
import type { Look } from "../Payments.ts"

/** The verdict of a look that did not settle; undefined where there is nothing to add. */
export const verdictOf = (look: Look, at: Date): Verdict | undefined => {
  switch (look._tag) {
    case "Pending":
      return { at, reason: look.reason }
    case "Refused": {
      const [detail] = look.error.details ?? []
      return { at, reason: look.reason, expected: detail?.expected, actual: detail?.actual }
    }
    default:
      return undefined
  }
}
