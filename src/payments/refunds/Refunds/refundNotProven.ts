import type { Verification } from "../../../chain/Verification.ts"
import { RefundNotProven } from "../../../domain/Errors.ts"
import type { MismatchReason } from "../../../domain/VerdictReason.ts"

const advice: { readonly [R in MismatchReason]: string } = {
  receiver: "The transfer went to another address than the refund's recipient.",
  amount: "The transfer moved another amount than the refund's; name the amount that was sent.",
  token: "The transaction moved another token than this environment's USDC.",
  payer: "The transfer was not sent from one of your receiving addresses.",
  reverted: "The transaction was reverted and moved nothing.",
  too_old: "The transfer happened before the money came that it would give back.",
  declared_changes: "The transfer is not what the refund says.",
  no_transfer: "The transaction contains no USDC transfer to the recipient.",
  already_used: "The transfer already pays a payment, or proves another refund."
}

/** 422 `REFUND_NOT_PROVEN`: the field, what was expected, what the chain shows. */
export const refundNotProven = (found: Extract<Verification, { _tag: "Mismatch" }>): RefundNotProven =>
  new RefundNotProven({
    reason: found.reason,
    message: advice[found.reason],
    details: [
      {
        path: found.reason,
        message: advice[found.reason],
        ...(found.expected === undefined ? {} : { expected: found.expected }),
        ...(found.actual === undefined ? {} : { actual: found.actual })
      }
    ]
  })
