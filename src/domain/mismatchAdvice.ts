// What each difference means to the buyer of a payment, and to the merchant who sends a refund.
import type { MismatchReason } from "./VerdictReason.ts"

export const mismatchAdvice: { readonly [R in MismatchReason]: string } = {
  receiver: "The transfer went to a different address, not to the merchant's.",
  amount: "The amount of the transfer does not match the payment. Do not pay again: contact the merchant.",
  token: "The transaction moved a different token, not this environment's USDC.",
  payer: "The transfer was not sent by the buyer whose token was reported.",
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
