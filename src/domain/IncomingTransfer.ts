// Transfers that reach a receiver: what one without a payment most likely is.
import { Schema } from "effect"

/**
 * `late`: the exact amount of a payment that failed. `short`, `over`: less or more than a payment
 * that the payer announced or reported. `second`: the payer has already paid that payment.
 * `unknown`: nothing connects the payer with a payment.
 */
export const TransferKind = Schema.Literals(["late", "short", "over", "second", "unknown"])
export type TransferKind = typeof TransferKind.Type

/**
 * What connects a transfer with a payment: a report names it, its payer announced to pay, its buyer was
 * shown the address and the amount is the same, its payer has paid this merchant before, or the amount
 * alone is the same. The likeliest first.
 */
export const LikelyReason = Schema.Literals(["reported", "announced", "address", "paid_before", "amount"])
export type LikelyReason = typeof LikelyReason.Type
