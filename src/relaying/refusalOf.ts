// The facilitator's reasons in the words of the checkout.
import type { RelayObstacle } from "../x402/Relayer.ts"
import { budgetReasons } from "../x402/Settlements.ts"
import type { relayObstacles } from "./Api.ts"

type RelayReason = (typeof relayObstacles)[number]

export const obstacleNames: { readonly [O in RelayObstacle]: RelayReason } = {
  not_configured: "not_configured",
  empty: "empty",
  reserve: "reserve",
  merchant: "merchant_budget",
  payer: "payer_budget",
  reverts: "payer_reverts"
}

export type Refusal =
  /** Another payment attempt comes first. */
  | { readonly _tag: "Taken" }
  | { readonly _tag: "Failed" }
  /** The service does not pay the fee now. */
  | { readonly _tag: "NotRelayed"; readonly reason: RelayReason }
  /** The signature itself. */
  | { readonly _tag: "Refused"; readonly reason: string }

const signatureReasons: { readonly [reason: string]: string } = {
  invalid_exact_evm_signature: "signature",
  invalid_exact_evm_recipient_mismatch: "payer",
  invalid_exact_evm_payload_authorization_valid_before: "expired",
  invalid_exact_evm_payload_authorization_valid_after: "not_yet_valid",
  invalid_exact_evm_nonce_already_used: "already_used",
  invalid_exact_evm_insufficient_balance: "balance",
  eip6492_factory_not_allowed: "wallet_not_deployed"
}

const relayReasons: { readonly [reason: string]: RelayReason } = {
  [budgetReasons.merchant]: "merchant_budget",
  [budgetReasons.payer]: "payer_budget",
  [budgetReasons.reverts]: "payer_reverts",
  [budgetReasons.reserve]: "reserve",
  invalid_exact_evm_transaction_failed: "empty"
}

export const refusalOf = (reason: string): Refusal => {
  if (reason === "payment_already_taken" || reason === "payment_already_settled") return { _tag: "Taken" }
  if (reason === "payment_failed") return { _tag: "Failed" }
  const relay = relayReasons[reason]
  return relay === undefined
    ? { _tag: "Refused", reason: signatureReasons[reason] ?? "reverts" }
    : { _tag: "NotRelayed", reason: relay }
}
