// Explains to the merchant why a transaction does not prove a refund.
import type { Verification } from "../../../chain/Verification.ts"
import { RefundNotProven } from "../../../domain/Errors.ts"
import { refundMismatchAdvice } from "../../../domain/mismatchAdvice.ts"

/** 422 `REFUND_NOT_PROVEN`: the field, the expected value, and the value on the chain. */
export const refundNotProven = (mismatch: Extract<Verification, { _tag: "Mismatch" }>): RefundNotProven =>
  new RefundNotProven({
    reason: mismatch.reason,
    message: refundMismatchAdvice[mismatch.reason],
    details: [
      {
        path: mismatch.reason,
        message: refundMismatchAdvice[mismatch.reason],
        ...(mismatch.expected === undefined ? {} : { expected: mismatch.expected }),
        ...(mismatch.actual === undefined ? {} : { actual: mismatch.actual })
      }
    ]
  })
