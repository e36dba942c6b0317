// A refund: USDC that a merchant sends back, and its proof.
import { Schema } from "effect"
import { MismatchReason } from "./VerdictReason.ts"

/**
 * `pending` until the chain proves the transfer. `failed`: the reported transaction does not prove it, or no
 * transaction arrived in time. `cancelled`: the merchant decided not to send it.
 */
export const RefundStatus = Schema.Literals(["pending", "proven", "failed", "cancelled"])
export type RefundStatus = typeof RefundStatus.Type

/**
 * Reasons why a refund failed: the chain shows something else, no node shows the transaction, or no transaction was
 * reported in time.
 */
export const RefundFailure = Schema.Literals([...MismatchReason.literals, "not_found", "expired"])
export type RefundFailure = typeof RefundFailure.Type
