// The invariants that must hold once the faults have ended and the service has had its time. Each returns a violation,
// or undefined.
import type { Transaction } from "../chain/Ledger.ts"
import { careless, type Purchase } from "../People.ts"
import {
  clockToleranceMillis,
  type Invariants,
  isCarried,
  isUninterrupted,
  type Look,
  type PaymentOf,
  statusIn,
  type TransferOf
} from "./Look.ts"

/** Seconds within which an expired authorization must end. */
const authorizationGrace = 420

/** Transfers of USDC from one address to another on the present chain. */
const shownMoves = ({ ledger }: Look) =>
  ledger.fork.blocks
    .flatMap(({ mined }) =>
      mined.flatMap(({ moves, transaction }) => moves.map((move) => ({ ...move, hash: transaction.hash })))
    )
    .filter(({ amount, from, to, token }) => token === undefined && from !== to && amount > 0n)

const isMined = ({ ledger }: Look, hash: string) => {
  const found = ledger.fork.find(hash, ledger.fork.height)
  return found?.mined.succeeded === true
}

/** True if the chain accepts only one of two transactions: of one account by one nonce, or by one authorization. */
const exclude = (one: Transaction | undefined, other: Transaction | undefined) =>
  one !== undefined &&
  other !== undefined &&
  ((one.sender === other.sender && one.nonce === other.nonce) ||
    (one.spending !== undefined &&
      one.spending.payer === other.spending?.payer &&
      one.spending.nonce === other.spending.nonce))

/** True if a transfer may pay a settled payment instead of the one that has settled it, or is that one. */
const mayPay = ({ ledger }: Look, payment: PaymentOf, transfer: TransferOf): boolean => {
  const { payer, transactionId = "" } = payment.reported?.evidence ?? {}
  if (payment.amount !== transfer.amount || payer !== transfer.payer) return false
  if (transactionId === transfer.transactionId) return true
  const [own, other] = [transactionId, transfer.transactionId].map((hash) => ledger.transactions.get(hash))
  // A person may attach any transfer.
  return exclude(own, other) || payer === careless
}

/** Transactions by which a buyer's money has left for a payment: transfers, and authorizations that anybody used. */
const chargesOf = (look: Look, { buyer, nonces, sent }: Purchase) => [
  ...sent.filter((hash) => isMined(look, hash)),
  ...nonces.flatMap((nonce) => {
    const { spending, hash } = look.ledger.fork.spentBy(buyer, nonce)?.transaction ?? {}
    return hash === undefined || spending?.cancels === true ? [] : [hash]
  })
]

export const atEnd: Invariants = {
  "the books balance": (look) => {
    const { payments, transfers } = look.rows
    if (payments.length === 0) return undefined
    const moves = shownMoves(look)
    const arrived = moves.filter(({ to }) => to === look.receiver)
    const left = moves.filter(({ from }) => from === look.receiver)
    const stored = transfers.filter(({ droppedAt }) => droppedAt === null)
    const sum = (all: ReadonlyArray<{ readonly amount: bigint }>) =>
      all.reduce((total, one) => total + one.amount, 0n)
    if (sum(arrived) - sum(left) !== look.ledger.balance(look.receiver))
      return "the ledger itself does not balance"
    if (sum(arrived) !== sum(stored) || arrived.length !== stored.length)
      return `${arrived.length} transfers of ${sum(arrived)} have arrived, ${stored.length} of ${sum(stored)} are explained or listed (chain: ${arrived.map(({ hash }) => hash.slice(0, 10)).join(" ")}; stored: ${stored.map(({ blockNumber, transactionId }) => `${transactionId.slice(0, 10)} in ${blockNumber}`).join(" ")})`
    for (const transfer of stored) {
      const { paymentId, transactionId } = transfer
      if (paymentId === null) continue
      const payment = payments.find(({ id }) => id === paymentId)
      if (payment === undefined || !mayPay(look, payment, transfer))
        return `${transactionId} is explained by payment ${paymentId}, which it does not pay`
    }
    for (const payment of payments) {
      const { id, status } = payment
      if (status !== "settled" || !isCarried(look, payment)) continue
      if (!stored.some(({ paymentId }) => paymentId === id))
        return `no transfer is explained by settled payment ${id}`
    }
    return undefined
  },

  // A transfer meant for one of two equal payments of a wallet may have settled the other.
  "no buyer is charged twice": (look) => {
    const settled = new Map<string | undefined, string>()
    for (const { id, reported, status } of look.rows.payments)
      if (status === "settled") settled.set(reported?.evidence.transactionId, id)
    for (const { paymentId, transactionId } of look.rows.transfers)
      if (paymentId !== null) settled.set(transactionId, paymentId)
    for (const purchase of look.people.purchases) {
      const { paymentId } = purchase
      const charged = chargesOf(look, purchase).filter(
        (hash) => (settled.get(hash) ?? paymentId) === paymentId
      )
      if (charged.length > 1) return `payment ${paymentId} was paid by ${charged.join(" and ")}`
    }
    return undefined
  },

  // A transfer may settle any of a wallet's equal payments: nothing distinguishes them.
  "what was paid is settled": (look) => {
    const handedIn = new Set(look.rows.settlements.map(({ nonce }) => nonce))
    const groups = new Map<string, { paid: number; settled: number; open: Array<string> }>()
    const keyOf = ({ amount, buyer }: Purchase) => `${buyer} ${amount}`
    for (const purchase of look.people.purchases) {
      const { paymentId, unannounced, withoutNonce } = purchase
      const key = keyOf(purchase)
      const isAlone = look.people.purchases.filter((one) => keyOf(one) === key).length === 1
      const group = groups.get(key) ?? { paid: 0, settled: 0, open: [] }
      groups.set(key, group)
      // A signature that never reached the service, and that others have used, is listed for a person.
      const nonces = purchase.nonces.filter((nonce) => handedIn.has(nonce) || purchase.handedIn.has(nonce))
      // An unannounced transfer is listed if an equal payment of the wallet takes it, or if the service's clock makes
      // it look older than the payment.
      const openedAt = look.rows.payments.find(({ id }) => id === paymentId)?.createdAt
      const isPlain = (hash: string) => {
        if (!isAlone) return true
        const minedAt = (look.ledger.fork.find(hash, look.ledger.fork.height)?.block.time ?? 0) * 1_000
        return minedAt <= (openedAt?.getTime() ?? 0) - clockToleranceMillis
      }
      // A reorganisation has mined it below its attempt: only the wallet's nonce shows that it came later.
      const isBelow = (hash: string) => {
        const [, height] = [...withoutNonce].find(([one]) => one === hash) ?? []
        return height !== undefined && look.ledger.fork.find(hash, height) !== undefined
      }
      const charges = chargesOf(look, { ...purchase, nonces }).filter((hash) => !isBelow(hash))
      group.paid += charges.filter((hash) => !unannounced.has(hash) || !isPlain(hash)).length
      if (statusIn(look.rows, paymentId) === "settled") group.settled++
      else group.open.push(paymentId)
    }
    for (const { open, paid, settled } of groups.values())
      if (paid > settled && open.length > 0)
        return `${paid} transfers are mined and ${settled} payments settled; not ${open.join(", ")}`
    return undefined
  },

  "a settled transfer that the chain has lost is told, and none that it shows": (look) => {
    for (const payment of look.rows.payments) {
      const { id, reported, status } = payment
      if (status !== "settled") continue
      const isShown = isCarried(look, payment)
      if (isShown === look.rows.dropped.has(id))
        return `${reported?.evidence.transactionId} of settled payment ${id} is ${isShown ? "told to be gone, and on the chain" : "gone, and nobody is told"}`
    }
    return undefined
  },

  "what was sent for a refund proves it, and what the chain has lost is told": (look) => {
    const { refunds } = look.rows
    for (const { droppedAt, id, status, transactionId } of refunds) {
      const own = look.refundDesk.sent.get(id)
      // By a clock ahead by more than the tolerance it came before its announcement: a person must name it.
      const isEarly = transactionId === null && look.skewMillis > clockToleranceMillis
      const isTaken = refunds.some((one) => one.id !== id && one.transactionId === own)
      if (status === "pending" && own !== undefined && !isEarly && !isTaken && isMined(look, own))
        return `refund ${id} is pending, and ${own} is mined`
      if (status === "proven" && isMined(look, transactionId ?? "") === (droppedAt !== null))
        return `${transactionId} of refund ${id} is ${droppedAt === null ? "gone, and nobody is told" : "told to be gone, and on the chain"}`
    }
    return undefined
  },

  "what nobody pays expires": (look) => {
    const { overdueBefore = 0, people, reported, rows } = look
    const { payments, settlements, transfers } = rows
    for (const { amount, createdAt, id, status } of payments) {
      if (status !== "pending" || createdAt.getTime() + look.expiryMillis >= overdueBefore) continue
      const mayBePaid =
        people.reported.has(id) ||
        reported.has(id) ||
        settlements.some((one) => one.paymentId === id && one.status === "pending") ||
        transfers.some((one) => one.paymentId === null && one.amount === amount && one.kind === null)
      if (!mayBePaid) return `payment ${id} of ${createdAt.toISOString()} is still pending`
    }
    return undefined
  },

  // The holder of a signature may use it until it expires: until then it may wait.
  "authorizations end": (look) => {
    const head = look.ledger.fork.blocks.at(-1)?.time ?? 0
    for (const { nonce, payer, paymentId, reason, status, validBefore } of look.rows.settlements) {
      const isUsed = look.ledger.fork.spentBy(payer, nonce) !== undefined
      if (status === "pending" && (isUsed || validBefore < head - authorizationGrace))
        return `authorization ${nonce} of ${payer} is still pending (${reason})`
      // The invariant of settled transfers covers alerts about reorganised transfers.
      const isLost = look.rows.dropped.has(paymentId)
      if (status === "settled" && !isUsed && !isLost)
        return `authorization ${nonce} of ${payer} is settled and not used`
    }
    return undefined
  },

  "what the service's wallet has signed ends": ({ openTransactions }) =>
    openTransactions === 0 ? undefined : `${openTransactions} transactions of the relaying wallet are open`,

  "deliveries end": (look) => {
    const open = look.rows.deliveries.find(({ status }) => status === "pending")
    return open === undefined
      ? undefined
      : `delivery ${open.id} still waits after ${open.attempts.length} attempts`
  },

  "a delivery fails when three attempts have been refused": (look) => {
    if (!isUninterrupted(look)) return undefined
    for (const { attempts, id, status } of look.rows.deliveries) {
      if (status !== "failed") continue
      const [heard, sends] = [look.receivers.heard.get(id) ?? 0, look.receivers.sends.get(id) ?? 0]
      if (attempts.length !== 3 || sends < 3 || heard > 0)
        return `delivery ${id} has failed after ${attempts.length} attempts, of which ${sends} were sent and ${heard} accepted`
    }
    return undefined
  },

  "what counts as delivered was accepted": (look) => {
    for (const { id, status } of look.rows.deliveries)
      if (status === "delivered" && !look.receivers.posts.some((post) => post.id === id && post.accepted))
        return `delivery ${id} counts as delivered and no receiver has accepted it`
    return undefined
  }
}
