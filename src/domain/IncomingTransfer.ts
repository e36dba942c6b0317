// Transfers that reach a receiving address, and the likely explanation of those that no payment claims.
import { Schema } from "effect"

/**
 * `late`: the exact amount of a payment that failed. `short`, `over`: less or more than a payment that the
 * payer announced or reported. `second`: the payer has already paid that payment. `unknown`: nothing connects
 * the payer with a payment.
 */
export const TransferKind = Schema.Literals(["late", "short", "over", "second", "unknown"])
export type TransferKind = typeof TransferKind.Type

/** The kind on the dashboard. `denied`: the payer is on the operator's current deny list, and no payment claims the transfer. */
export const ShownTransferKind = Schema.Literals([...TransferKind.literals, "denied"])
export type ShownTransferKind = typeof ShownTransferKind.Type

/**
 * Reasons why a transfer may belong to a payment, most likely first: a report contains its transaction, its payer
 * announced the payment, the buyer saw the address and the amount matches, its payer has paid this merchant before,
 * or only the amount matches.
 */
export const LikelyReason = Schema.Literals(["reported", "announced", "address", "paid_before", "amount"])
export type LikelyReason = typeof LikelyReason.Type
