// Why a reported transaction does not settle its payment, yet or at all.
import { Schema } from "effect"

/** Reasons why a transaction is neither a match nor a mismatch yet. */
export const PendingReason = Schema.Literals([
  /** A majority of the nodes shows the transaction in no block. */
  "not_found",
  /** Some nodes show it and some do not yet. */
  "spreading",
  /** In a block, but not deep enough. */
  "confirmations",
  /** In a block that is not `safe` yet. */
  "safe",
  /** In a block that is not `finalized` yet. */
  "finalized",
  /** The block that held it is not canonical (any more). */
  "reorganised",
  /** Nodes contradict each other. */
  "disagreement",
  /** Too few nodes answered. */
  "rpc_unavailable",
  /** The configured nodes serve another network; settlement is off until that is corrected. */
  "wrong_network"
])
export type PendingReason = typeof PendingReason.Type

/** True if the nodes, and not the chain, are why it is undecided. */
export const isAboutNodes = (reason: VerdictReason): boolean =>
  reason === "disagreement" || reason === "rpc_unavailable" || reason === "wrong_network"

/** The differences of a transaction that does not pay the payment. */
export const MismatchReason = Schema.Literals([
  "receiver",
  "amount",
  "token",
  "payer",
  "reverted",
  "too_old",
  "declared_changes",
  "no_transfer",
  "already_used"
])
export type MismatchReason = typeof MismatchReason.Type

/** `denied`: the payer is on the operator's deny list. `conflict`: another transaction settled the payment meanwhile. */
export const VerdictReason = Schema.Literals([
  ...PendingReason.literals,
  "denied",
  ...MismatchReason.literals,
  "conflict"
])
export type VerdictReason = typeof VerdictReason.Type
