import type { Verification } from "../../../chain/Verification.ts"
import { RefundNotProven } from "../../../domain/Errors.ts"
import type { MismatchReason } from "../../../domain/VerdictReason.ts"

export const refundMismatchAdvice: { readonly [R in MismatchReason]: string } = {
  receiver: "The transfer went to a different address, not to the refund's recipient.",
  amount: "The amount of the transfer does not match the refund. Enter the amount that was sent.",
  token: "The transaction moved a different token, not this environment's USDC.",
  payer: "The transfer was not sent from one of your receiving addresses.",
  reverted: "The transaction was reverted and moved nothing.",
  too_old: "The transfer is older than the payment it is meant to refund.",
  declared_changes: "The transaction does not match the refund.",
  no_transfer: "The transaction contains no USDC transfer to the recipient.",
  already_used: "The transfer already pays a payment, or proves another refund."
}

/** 422 `REFUND_NOT_PROVEN`: the field, the expected value, and the value on the chain. */
export const refundNotProven = (found: Extract<Verification, { _tag: "Mismatch" }>): RefundNotProven =>
  new RefundNotProven({
    reason: found.reason,
    message: refundMismatchAdvice[found.reason],
    details: [
      {
        path: found.reason,
        message: refundMismatchAdvice[found.reason],
        ...(found.expected === undefined ? {} : { expected: found.expected }),
        ...(found.actual === undefined ? {} : { actual: found.actual })
      }
    ]
  })
