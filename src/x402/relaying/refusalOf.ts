// Maps the facilitator's reasons to those of the checkout.

import type { SettleReason } from "../../domain/SettleReason.ts"
import type { RelayObstacle } from "../Relayer.ts"
import type { AuthorizationReason, RelayReason } from "./Api.ts"

export const obstacleNames: { readonly [O in RelayObstacle | "denied"]: RelayReason } = {
  not_configured: "not_configured",
  empty: "empty",
  reserve: "reserve",
  merchant: "merchant_budget",
  payer: "payer_budget",
  total: "total_budget",
  price: "price",
  reverts: "payer_reverts",
  denied: "declined"
}

export type RelayRefusal =
  /** Another payment attempt takes precedence. */
  | { readonly _tag: "Taken" }
  | { readonly _tag: "Failed" }
  /** The service does not pay the fee now. */
  | { readonly _tag: "NotRelayed"; readonly reason: RelayReason }
  /** The signature itself was refused. */
  | { readonly _tag: "Refused"; readonly reason: AuthorizationReason }

const signatureReasons: { readonly [R in SettleReason]?: AuthorizationReason } = {
  invalid_exact_evm_signature: "signature",
  invalid_exact_evm_recipient_mismatch: "payer",
  invalid_exact_evm_payload_authorization_valid_before: "expired",
  invalid_exact_evm_payload_authorization_valid_after: "not_yet_valid",
  invalid_exact_evm_nonce_already_used: "already_used",
  invalid_exact_evm_insufficient_balance: "balance",
  eip6492_factory_not_allowed: "wallet_not_deployed"
}

const relayReasons: { readonly [R in SettleReason]?: RelayReason } = {
  relay_merchant_budget_exceeded: "merchant_budget",
  relay_payer_budget_exceeded: "payer_budget",
  relay_total_budget_exceeded: "total_budget",
  relay_price_too_high: "price",
  relay_payer_reverts: "payer_reverts",
  relay_reserve_reached: "reserve",
  relay_not_configured: "not_configured",
  relay_wallet_empty: "empty",
  relay_address_denied: "declined"
}

export const refusalOf = (reason: SettleReason): RelayRefusal => {
  if (reason === "payment_already_taken" || reason === "payment_already_settled") return { _tag: "Taken" }
  if (reason === "payment_failed") return { _tag: "Failed" }
  const relay = relayReasons[reason]
  return relay === undefined
    ? { _tag: "Refused", reason: signatureReasons[reason] ?? "reverts" }
    : { _tag: "NotRelayed", reason: relay }
}
