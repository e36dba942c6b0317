// Reasons why a facilitator does not settle: codes of x402 (scheme `exact` on EVM), and of this service.
import { Schema, SchemaGetter } from "effect"

/** Reasons why a payment is invalid before anything is sent. */
export const InvalidReason = Schema.Literals([
  "invalid_exact_evm_scheme",
  "invalid_exact_evm_missing_eip712_domain",
  "invalid_exact_evm_network_mismatch",
  "invalid_exact_evm_signature",
  "invalid_exact_evm_recipient_mismatch",
  "invalid_exact_evm_payload_authorization_valid_before",
  "invalid_exact_evm_payload_authorization_valid_after",
  "invalid_exact_evm_authorization_value",
  "invalid_exact_evm_payload_authorization_value_mismatch",
  "asset_not_deployed_contract",
  "invalid_exact_evm_eip3009_not_supported",
  "invalid_exact_evm_token_name_mismatch",
  "invalid_exact_evm_token_version_mismatch",
  "invalid_exact_evm_nonce_already_used",
  "invalid_exact_evm_insufficient_balance",
  "invalid_exact_evm_transaction_simulation_failed",
  "eip6492_factory_not_allowed",
  "payment_already_taken",
  "payment_already_settled",
  "payment_failed"
])
export type InvalidReason = typeof InvalidReason.Type

export const SettleReason = Schema.Literals([
  ...InvalidReason.literals,
  "settlement_pending",
  "invalid_exact_evm_transaction_failed",
  "invalid_exact_evm_transfer_event_mismatch",
  "relay_merchant_budget_exceeded",
  "relay_payer_budget_exceeded",
  "relay_total_budget_exceeded",
  "relay_price_too_high",
  "relay_payer_reverts",
  "relay_reserve_reached",
  "relay_not_configured",
  "relay_wallet_empty",
  "relay_address_denied"
])
export type SettleReason = typeof SettleReason.Type

const isKnown = Schema.is(SettleReason)

/** The stored reason. A later release that shares the database may write reasons unknown to this release. */
export const StoredSettleReason = Schema.String.pipe(
  Schema.decodeTo(SettleReason, {
    decode: SchemaGetter.transform(
      (stored): SettleReason => (isKnown(stored) ? stored : "invalid_exact_evm_transaction_failed")
    ),
    encode: SchemaGetter.transform((reason): string => reason)
  })
)
