// Invariants about refunds.
import { type Invariants, isCarried, type Look, type RefundOf } from "../Look.ts"

/** The number of transfers of the transaction that match the refund, in the blocks in which it has the most. */
const refundMoves = ({ ledger, receiver }: Look, { amount, recipient, transactionId }: RefundOf) =>
  (ledger.transactions.get(transactionId ?? "")?.moves ?? []).filter(
    (move) =>
      move.token === undefined && move.from === receiver && move.to === recipient && move.amount === amount
  ).length

export const refunds: Invariants = {
  "no more is given back than was paid": ({ rows }) => {
    for (const { amount, id } of rows.payments) {
      const sum = rows.refunds
        .filter(({ paymentId, status }) => paymentId === id && (status === "pending" || status === "proven"))
        .reduce((total, one) => total + one.amount, 0n)
      if (sum > amount) return `${sum} of ${amount} of payment ${id} are given back`
    }
    return undefined
  },

  // Reported as lost before and after, and not on the chain: it has not returned in between.
  "what the chain has lost is not given back": (look) => {
    const { before, rows } = look
    for (const { id, paymentId } of rows.refunds) {
      if (paymentId === null || before.refunds.some((one) => one.id === id)) continue
      const payment = rows.payments.find((one) => one.id === paymentId)
      const isTold = before.dropped.has(paymentId) && rows.dropped.has(paymentId)
      if (payment !== undefined && isTold && !isCarried(look, payment))
        return `refund ${id} was made of ${paymentId}, whose transfer is gone`
    }
    return undefined
  },

  "a refund is proven by a transfer of its own": (look) => {
    const uses = new Map<string, number>()
    for (const refund of look.rows.refunds) {
      if (refund.status !== "proven") continue
      const { amount, id, recipient, transactionId } = refund
      if (!look.ledger.everMined.has(transactionId ?? ""))
        return `refund ${id} is proven by ${transactionId}, which no block has ever carried out`
      const key = `${transactionId} ${recipient} ${amount}`
      const used = (uses.get(key) ?? 0) + 1
      uses.set(key, used)
      if (used > refundMoves(look, refund)) return `${transactionId} proves ${used} refunds`
    }
    return undefined
  },

  "an ended refund stays so": ({ before, rows }) => {
    for (const { id, status } of before.refunds) {
      const now = rows.refunds.find((one) => one.id === id)?.status
      const isOver = status === "failed" || status === "cancelled"
      if (now === undefined || (isOver && now !== status) || (status === "proven" && now === "pending"))
        return `refund ${id} was ${status} and is ${now}`
    }
    return undefined
  }
}
