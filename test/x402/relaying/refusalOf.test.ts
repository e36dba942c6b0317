// The checkout's answer for each refusal of the facilitator.
import { describe, expect, test } from "bun:test"
import { SettleReason } from "../../../src/domain/SettleReason.ts"
import { refusalOf } from "../../../src/x402/relaying/refusalOf.ts"

describe("refusalOf", () => {
  test.each(["payment_already_taken", "payment_already_settled"] as const)(
    "%s: another attempt comes first",
    (reason) => {
      expect(refusalOf(reason)).toEqual({ _tag: "Taken" })
    }
  )

  test("a payment that has failed accepts no signature", () => {
    expect(refusalOf("payment_failed")).toEqual({ _tag: "Failed" })
  })

  test.each([
    ["relay_merchant_budget_exceeded", "merchant_budget"],
    ["relay_payer_budget_exceeded", "payer_budget"],
    ["relay_total_budget_exceeded", "total_budget"],
    ["relay_price_too_high", "price"],
    ["relay_payer_reverts", "payer_reverts"],
    ["relay_reserve_reached", "reserve"],
    ["relay_not_configured", "not_configured"],
    ["relay_wallet_empty", "empty"],
    ["relay_address_denied", "declined"]
  ] as const)("%s: the buyer may pay the fee, reason %s", (reason, told) => {
    expect(refusalOf(reason)).toEqual({ _tag: "NotRelayed", reason: told })
  })

  test.each([
    ["invalid_exact_evm_signature", "signature"],
    ["invalid_exact_evm_payload_authorization_valid_before", "expired"],
    ["invalid_exact_evm_nonce_already_used", "already_used"],
    ["invalid_exact_evm_insufficient_balance", "balance"],
    // Sent, and reverted by the chain.
    ["invalid_exact_evm_transaction_failed", "reverts"]
  ] as const)("%s: the authorization is refused, reason %s", (reason, told) => {
    expect(refusalOf(reason)).toEqual({ _tag: "Refused", reason: told })
  })

  test("every reason has an answer", () => {
    for (const reason of SettleReason.literals)
      expect(["Taken", "Failed", "NotRelayed", "Refused"]).toContain(refusalOf(reason)._tag)
  })
})
