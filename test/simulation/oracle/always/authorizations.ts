// Of signatures that pay, of those who sign them, and of the wallet that sends them.
import { type Invariants, type Look, type PaymentOf, stillIn, unexplained } from "../Look.ts"

/** A transaction offers twice the price; a replacement that, or a quarter more than what the price has overtaken. */
const mostOffered = 3n

/** Why what was never sent ends: its payment has come to something else, or is another's. */
const endsUnsent: ReadonlySet<string | null> = new Set([
  "payment_already_settled",
  "payment_already_taken",
  "payment_failed"
])

/** What its payer has sent for a payment, and nobody has explained. Of equal payments it may be any one's. */
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

  // Whoever has the signature may use it until then: what is told before that is no end. One that the service has
  // never shown to anybody ends with its payment.
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
  },

  "agents' caps hold": ({ signers }) => {
    const byAgent = Map.groupBy(signers.agents.signatures.values(), ({ agent }) => agent.id)
    for (const signatures of byAgent.values())
      for (const { agent, amount, at } of signatures) {
        if (amount > agent.capPerPayment) return `agent ${agent.id} has signed ${amount} at once`
        const day = signatures.filter((one) => one.at <= at && one.at > at - 86_400_000)
        const sum = day.reduce((total, one) => total + one.amount, 0n)
        if (sum > agent.capPerDay) return `agent ${agent.id} has signed ${sum} in a day`
      }
    return undefined
  },

  "an authorization serves one request, which it has paid": ({ ledger, signers }) => {
    const served = new Set<string>()
    for (const { nonce, paid, price, request } of signers.agents.served) {
      if (paid < price) return `${request} costs ${price} and was served for ${paid}`
      if (served.has(nonce)) return `${request} was served for ${nonce}, as another one was`
      served.add(nonce)
      if (![...ledger.everMined].some((hash) => ledger.transactions.get(hash)?.spending?.nonce === nonce))
        return `${request} was served for ${nonce}, which has moved nothing`
    }
    return undefined
  },

  "no more gas is paid for a merchant than its day's": ({ gasPerMerchant, ledger, receiver }) => {
    const at = new Map<number, bigint>()
    for (const { mined, time } of ledger.fork.blocks)
      for (const { succeeded, transaction } of mined)
        if (succeeded && transaction.sender === ledger.relayer && transaction.moves[0]?.to === receiver)
          at.set(time, (at.get(time) ?? 0n) + (transaction.gas?.limit ?? 0n))
    for (const time of at.keys()) {
      const day = [...at].filter(([one]) => one <= time && one > time - 86_000)
      const sum = day.reduce((total, [, gas]) => total + gas, 0n)
      if (sum > gasPerMerchant) return `${sum} gas was paid in a day`
    }
    return undefined
  },

  "the wallet offers what the chain asks": ({ ledger }) => {
    for (const { gas, hash, sender } of ledger.pool)
      if (sender === ledger.relayer && gas !== undefined && gas.maxFee > mostOffered * ledger.highestPrice)
        return `${hash} offers ${gas.maxFee} wei, where no block has asked more than ${ledger.highestPrice}`
    return undefined
  }
}
