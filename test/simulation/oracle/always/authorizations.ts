// Invariants about signatures that pay, their signers, and the wallet that sends them.
import { type Invariants, type Look, type PaymentOf, stillIn, unexplained } from "../Look.ts"

/** The reasons for which an unsent settlement ends: its payment ended, or belongs to another. */
const endsUnsent: ReadonlySet<string | null> = new Set([
  "payment_already_settled",
  "payment_already_taken",
  "payment_failed"
])

/** The payer's unexplained transfer for a payment. Among equal payments it may be meant for any. */
const ownTransfer = (look: Look, payment: PaymentOf, payer: string) => {
  const { before, rows } = look
  const isAlone =
    look.people.purchases.filter(({ amount, buyer }) => amount === payment.amount && buyer === payer)
      .length === 1
  return stillIn(unexplained(before, payment, payer), unexplained(rows, payment, payer)).find(
    ({ transactionId }) => isAlone && look.ledger.transactions.get(transactionId)?.spending === undefined
  )
}

export const authorizations: Invariants = {
  "no authorization is taken beside its payer's own transfer": (look) => {
    const { before, rows } = look
    for (const { id, nonce, paymentId, payer } of rows.settlements) {
      const payment = rows.payments.find((one) => one.id === paymentId)
      if (payment === undefined || before.settlements.some((one) => one.id === id)) continue
      const own = ownTransfer(look, payment, payer)
      if (own !== undefined)
        return `${nonce} was taken for ${paymentId} beside ${own.transactionId} of its payer`
    }
    return undefined
  },

  "nothing is taken on another's signature": ({ rows, signers }) => {
    const taken = rows.settlements.find(({ nonce }) => signers.forged.has(nonce))
    return taken === undefined ? undefined : `${taken.nonce} was taken, which ${taken.payer} has not signed`
  },

  "nothing is sent for a payment that is closed, or paid otherwise": (look) => {
    const { before, rows } = look
    for (const { id, nonce, payer, paymentId, sent } of rows.settlements) {
      const payment = before.payments.find((one) => one.id === paymentId)
      if (payment === undefined || !sent || before.settlements.some((one) => one.id === id && one.sent))
        continue
      if (payment.status !== "pending")
        return `${nonce} was sent for ${paymentId}, which had ${payment.status} before`
      const own = ownTransfer(look, payment, payer)
      if (own !== undefined)
        return `${nonce} was sent for ${paymentId} beside ${own.transactionId} of its payer`
      const other = before.settlements.find(
        (one) => one.paymentId === paymentId && one.status === "pending" && one.sent && one.reason === null
      )
      if (other !== undefined) return `${nonce} was sent for ${paymentId} beside ${other.nonce}`
    }
    return undefined
  },

  // The holder of the signature may use it until it expires: an earlier answer is no end. A signature that the service
  // has never revealed ends with its payment.
  "an authorization fails when it is used or over": (look) => {
    const { ledger } = look
    const now = ledger.fork.blocks.at(-1)?.time ?? 0
    const used = new Set<string | undefined>(
      [...ledger.everMined].map((hash) => ledger.transactions.get(hash)?.spending?.nonce)
    )
    const { before, rows } = look
    for (const { id, nonce, reason, sent, status, validBefore } of rows.settlements) {
      if (status !== "failed" || before.settlements.some((one) => one.id === id && one.status === status))
        continue
      if (!sent && endsUnsent.has(reason)) continue
      if (now < validBefore && !used.has(nonce)) return `${nonce} has failed (${reason}) and may still move`
    }
    return undefined
  },

  "no payment expires while its authorization is on its way": (look) => {
    const { before, rows } = look
    for (const { failureReason, id } of rows.payments) {
      if (failureReason !== "expired" || before.payments.find((one) => one.id === id)?.status !== "pending")
        continue
      const pending = rows.settlements.find((one) => one.paymentId === id && one.status === "pending")
      if (pending !== undefined && before.settlements.some((one) => one.id === pending.id))
        return `${id} has expired while ${pending.nonce} was pending`
    }
    return undefined
  }
}
