import { Schema } from "effect"

/** What a person must look at. */
export const AlertKind = Schema.Literals([
  "webhook_exhausted",
  "transfer_dropped",
  "rpc_disagreement",
  "rpc_malformed",
  "rpc_unreachable",
  "wrong_chain",
  "faucet_empty",
  "faucet_not_configured",
  "faucet_wallet_shared",
  "relayer_empty",
  "incoming_transfer",
  "clock_skew",
  "account_change",
  "refund_unproven"
])
export type AlertKind = typeof AlertKind.Type
