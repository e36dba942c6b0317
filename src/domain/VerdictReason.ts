// Reasons why a reported transaction does not settle its payment, temporarily or permanently.
import { Schema } from "effect"

/** Reasons why a transaction is neither a match nor a mismatch yet. */
export const PendingReason = Schema.Literals([
  /** A majority of the nodes shows no block with the transaction. */
  "not_found",
  /** Some nodes show the transaction and some do not yet. */
  "spreading",
  /** The transaction is in a block, but not deep enough. */
  "confirmations",
  /** The transaction is in a block that is not `safe` yet. */
  "safe",
  /** The transaction is in a block that is not `finalized` yet. */
  "finalized",
  /** The transaction's block is not canonical, or no longer. */
  "reorganised",
  /** Nodes contradict each other. */
  "disagreement",
  /** Too few nodes responded. */
  "rpc_unavailable",
  /** The configured nodes serve another network; settlement is off until that is corrected. */
  "wrong_network"
])
export type PendingReason = typeof PendingReason.Type

/** The transfer pays the payment, but its block is not certain enough yet. */
export const finalityReasons = [
  "confirmations",
  "safe",
  "finalized"
] as const satisfies ReadonlyArray<PendingReason>

/** These neither confirm nor contradict what the chain showed before. */
export const inconclusiveReasons = [
  "spreading",
  "reorganised",
  "disagreement",
  "rpc_unavailable",
  "wrong_network"
] as const satisfies ReadonlyArray<PendingReason>

export type NodeReason = Extract<PendingReason, "disagreement" | "rpc_unavailable" | "wrong_network">

/** True if the nodes, not the chain, are the reason why a transaction is undecided. */
export const isAboutNodes = (reason: VerdictReason): reason is NodeReason =>
  reason === "disagreement" || reason === "rpc_unavailable" || reason === "wrong_network"

/** The ways in which a transaction can differ from the payment that it should pay. */
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

/** `denied`: the payer is on the operator's deny list. `conflict`: another transaction settled the payment first. */
export const VerdictReason = Schema.Literals([
  ...PendingReason.literals,
  "denied",
  ...MismatchReason.literals,
  "conflict"
])
export type VerdictReason = typeof VerdictReason.Type
