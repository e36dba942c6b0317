// The kinds of alerts, as stored.
import { Schema } from "effect"

/** Kinds of problems that need a human decision. */
export const AlertKind = Schema.Literals([
  "webhook_exhausted",
  "settlements_unsent",
  "transfer_dropped",
  "rpc_disagreement",
  "rpc_malformed",
  "rpc_unreachable",
  "rpc_refusing",
  "wrong_chain",
  "chain_gap",
  "chain_halted",
  "faucet_empty",
  "faucet_not_configured",
  "faucet_wallet_shared",
  "faucet_transfer_reverts",
  "relayer_empty",
  "relaying_stopped",
  "incoming_transfer",
  "other_token",
  "receiver_blacklisted",
  "deny_list_refused",
  "clock_skew",
  "work_stalled",
  "account_change",
  "refund_unproven"
])
export type AlertKind = typeof AlertKind.Type
