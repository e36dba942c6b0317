// Of money that is given back.
import { changesOf, type Invariant, isCarried, type Look, type RefundOf, type Rows } from "../Look.ts"

/** How many transfers of the transaction are the refund, in the blocks in which it has most of them. */
export const refundMoves = (
  { ledger }: Look,
  { shop }: Rows,
  { amount, recipient, transactionId }: RefundOf
) =>
  (ledger.transactions.get(transactionId ?? "")?.moves ?? []).filter(
    (move) =>
      move.token === undefined &&
      move.from === shop.receiver &&
      move.to === recipient &&
      move.amount === amount
  ).length

export const refunds: Readonly<Record<string, Invariant>> = {
  "no more is given back than was paid": (look) => {
    for (const { payments, refunds } of look.rows)
      for (const { amount, id } of payments) {
        const sum = refunds
          .filter(
            ({ paymentId, status }) => paymentId === id && (status === "pending" || status === "proven")
          )
          .reduce((total, one) => total + one.amount, 0n)
        if (sum > amount) return `${sum} of ${amount} of payment ${id} are given back`
      }
    return undefined
  },

  // Told before and after, and not on the chain: it has not come back meanwhile.
  "what the chain has lost is not given back": (look) => {
    for (const { before, rows } of changesOf(look))
      for (const { id, paymentId } of rows.refunds) {
        if (paymentId === null || before.refunds.some((one) => one.id === id)) continue
        const payment = rows.payments.find((one) => one.id === paymentId)
        const isTold = before.dropped.has(paymentId) && rows.dropped.has(paymentId)
        if (payment !== undefined && isTold && !isCarried(look, rows.shop, payment))
          return `refund ${id} was made of ${paymentId}, whose transfer is gone`
      }
    return undefined
  },

  "a refund is proven by a transfer of its own": (look) => {
    for (const rows of look.rows) {
      const uses = new Map<string, number>()
      for (const refund of rows.refunds) {
        if (refund.status !== "proven") continue
        const { amount, id, recipient, transactionId } = refund
        if (!look.ledger.everMined.has(transactionId ?? ""))
          return `refund ${id} is proven by ${transactionId}, which no block has ever carried out`
        const key = `${transactionId} ${recipient} ${amount}`
        const used = (uses.get(key) ?? 0) + 1
        uses.set(key, used)
        if (used > refundMoves(look, rows, refund)) return `${transactionId} proves ${used} refunds`
      }
    }
    return undefined
  },

  "an ended refund stays so": (look) => {
    for (const { before, rows } of changesOf(look))
      for (const { id, status } of before.refunds) {
        const now = rows.refunds.find((one) => one.id === id)?.status
        const isOver = status === "failed" || status === "cancelled"
        if (now === undefined || (isOver && now !== status) || (status === "proven" && now === "pending"))
          return `refund ${id} was ${status} and is ${now}`
      }
    return undefined
  }
}
