// Classifies an incoming transfer that no payment claims.
import type { TransferKind } from "../../domain/IncomingTransfer.ts"
import type { IncomingTransfer, LikelyPayment } from "../TransferRepo/TransferStore.ts"

/** An equal transfer of the same wallet this close to a settlement is a second payment of the same order. */
const secondMillis = 24 * 3_600_000

/** `likely`: the payments that the transfer may be meant for, most likely first. */
export const transferKindOf = (
  { amount, blockTime }: Pick<IncomingTransfer, "amount" | "blockTime">,
  likely: ReadonlyArray<LikelyPayment>
): TransferKind => {
  const byPayer = likely.filter(({ reasons }) =>
    reasons.some((reason) => reason !== "amount" && reason !== "address")
  )
  const paidAlready = byPayer.some(
    ({ dropped, payment: { amount: price, settledAt } }) =>
      // A transfer that replaces one that has left the chain is not a second payment.
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
