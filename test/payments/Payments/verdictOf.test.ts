import { describe, expect, test } from "bun:test"
import { PaymentReportConflict } from "../../../src/domain/Errors.ts"
import { mismatchError } from "../../../src/payments/Payments/mismatchError.ts"
import { verdictOf } from "../../../src/payments/Payments/verdictOf.ts"
import { aPayment } from "../../support/aPayment.ts"

const at = new Date("2026-01-05T12:00:00Z")

describe("the verdict of a check", () => {
  test("is the reason of a report that waits", () =>
    expect(verdictOf({ _tag: "Pending", payment: aPayment(), reason: "confirmations" }, at)).toEqual({
      at,
      reason: "confirmations"
    }))

  test("is the difference, with the expected value and the chain's", () => {
    const error = mismatchError("test", {
      _tag: "Mismatch",
      reason: "amount",
      expected: "2000000",
      actual: "1",
      confirmed: true
    })
    expect(verdictOf({ _tag: "Refused", reason: "amount", error, final: true }, at)).toEqual({
      at,
      reason: "amount",
      expected: "2000000",
      actual: "1"
    })
  })

  test("is a conflict if another transaction settled the payment", () => {
    const error = new PaymentReportConflict()
    expect(verdictOf({ _tag: "Refused", reason: "conflict", error, final: true }, at)).toMatchObject({
      reason: "conflict"
    })
  })

  test("is absent for a settled report, or one that waits for Mainnet to open", () => {
    expect(verdictOf({ _tag: "Settled", payment: aPayment() }, at)).toBeUndefined()
    expect(verdictOf({ _tag: "Gated", payment: aPayment() }, at)).toBeUndefined()
  })
})
