// Classifies an incoming transfer that no payment claims.
import type { TransferKind } from "../../domain/IncomingTransfer.ts"
import type { IncomingTransfer, LikelyPayment } from "../TransferRepo/TransferStore.ts"

/** An equal transfer of the same wallet this close to a settlement pays the same order again. */
const secondMillis = 24 * 3_600_000

/** `likely` are the payments that it may be meant for, the likeliest first. */
export const transferKindOf = (
  { amount, blockTime }: Pick<IncomingTransfer, "amount" | "blockTime">,
  likely: ReadonlyArray<LikelyPayment>
): TransferKind => {
  const byPayer = likely.filter(({ reasons }) =>
    reasons.some((reason) => reason !== "amount" && reason !== "address")
  )
  const paidAlready = byPayer.some(
    ({ dropped, payment: { amount: price, settledAt } }) =>
      // What replaces a transfer that has left the chain is nobody's second payment.
      !dropped &&
      price === amount &&
      settledAt !== null &&
      Math.abs(blockTime.getTime() - settledAt.getTime()) < secondMillis
  )
  if (paidAlready) return "second"
  const waiting = byPayer.filter(({ payment }) => payment.status !== "settled")
  if (waiting.some(({ payment }) => payment.amount === amount && payment.status === "failed")) return "late"
  const [other] = waiting.filter(({ payment }) => payment.amount !== amount)
  if (other !== undefined) return amount < other.payment.amount ? "short" : "over"
  const exact = likely.filter(({ payment }) => payment.amount === amount)
  return exact.length > 0 && exact.every(({ payment }) => payment.status === "failed") ? "late" : "unknown"
}
