// Explains each difference to the buyer of a payment, to the merchant who sends a refund, and to the merchant who
// attaches a transfer.
import type { MismatchReason, NodeReason, PendingReason } from "./VerdictReason.ts"

export const mismatchAdvice: { readonly [R in MismatchReason]: string } = {
  receiver: "The transfer went to a different address, not to the merchant's.",
  amount: "The amount of the transfer does not match the payment. Do not pay again: contact the merchant.",
  token: "The transaction moved a different token, not this environment's USDC.",
  payer: "The transfer came from a different wallet than the one that signed the buyer's token.",
  reverted: "The transaction was reverted and moved nothing.",
  too_old: "The transfer happened before the payment was opened.",
  declared_changes: "The reported `tokenChanges` do not match the transaction.",
  no_transfer: "The transaction contains no USDC transfer.",
  already_used: "The transfer already pays another payment."
}

export const refundMismatchAdvice: { readonly [R in MismatchReason]: string } = {
  receiver: "The transfer went to a different address, not to the refund's recipient.",
  amount: "The amount of the transfer does not match the refund. Enter the amount that was sent.",
  token: "The transaction moved a different token, not this environment's USDC.",
  payer: "The transfer was not sent from one of your receiving addresses.",
  reverted: "The transaction was reverted and moved nothing.",
  too_old: "The transfer is older than the payment it is meant to refund.",
  declared_changes: "The transaction does not match the refund.",
  no_transfer: "The transaction contains no USDC transfer to the recipient.",
  already_used: "The transfer already pays a payment, or proves another refund."
}

const notYet = "Nothing was changed; try again in a few minutes."

/** The reasons why a transfer cannot be attached to a payment. */
export type AttachReason =
  | MismatchReason
  | Exclude<PendingReason, NodeReason>
  | "denied"
  | "settled"
  | "settling"
  | "live"

export const attachAdvice: { readonly [R in AttachReason]: string } = {
  settled: "The payment has already settled.",
  settling:
    "Another transfer or signature may be about to pay this payment. Nothing was changed; try again once it has ended.",
  amount: "The transfer and the payment have different amounts. Attach it to a payment of its exact amount.",
  receiver: "The transfer went to a different receiving address than the payment's.",
  live: "Live payments are closed, so the transfer cannot settle the payment now. Nothing was changed.",
  denied: "The transfer's sender is on the operator's deny list.",
  confirmations: `The transfer's block has too few confirmations yet. ${notYet}`,
  safe: `The transfer's block is not marked as safe yet. ${notYet}`,
  finalized: `The transfer's block is not marked as finalized yet. ${notYet}`,
  not_found: `The chain does not show the transaction. ${notYet}`,
  spreading: `Not all nodes show the transaction yet. ${notYet}`,
  reorganised: `The chain was reorganised, and the transfer's block is gone. ${notYet}`,
  token: "The transaction moved a different token, not this environment's USDC.",
  payer: "The transfer was sent by a different address than recorded.",
  reverted: mismatchAdvice.reverted,
  too_old: mismatchAdvice.too_old,
  declared_changes: "The transaction does not match the transfer.",
  no_transfer: mismatchAdvice.no_transfer,
  already_used: mismatchAdvice.already_used
}
