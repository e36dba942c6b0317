// Invariants about payments and the transfers that pay them.
import type { Address } from "../../../../src/domain/Chain.ts"
import { finalityFor } from "../../../../src/domain/Finality.ts"
import { AtomicUsdc } from "../../../../src/domain/Money.ts"
import type { Ledger, Move } from "../../chain/Ledger.ts"
import { levels } from "../../makeParts.ts"
import {
  type AttemptOf,
  type Invariants,
  type PaymentOf,
  statusIn,
  stillIn,
  unexplained,
  whyDropped
} from "../Look.ts"

/** The number of transfers of a transaction with exactly these values, in the blocks in which it has the most. */
const equalMoves = (ledger: Ledger, hash: string, payer: Address, receiver: Address, amount: bigint) => {
  const { moves = [], movesInOdd = [] } = ledger.transactions.get(hash) ?? {}
  const equal = (all: ReadonlyArray<Move>) =>
    all.filter(
      ({ amount: moved, from, to, token }) =>
        token === undefined && from === payer && to === receiver && from !== to && moved === amount
    ).length
  return Math.max(equal(moves), equal(movesInOdd))
}

const shownBy = (payment: PaymentOf) =>
  `${payment.status} ${payment.settledAt?.getTime()} ${payment.reported?.evidence.transactionId} ${payment.reported?.evidence.payer}`

/** The time for which nodes are asked for a transfer's sender. */
const senderPatienceMillis = 10 * 60_000

export const payments: Invariants = {
  "states only go forward": (look) => {
    for (const before of look.before.payments) {
      const { id } = before
      const payment = look.rows.payments.find((one) => one.id === id)
      if (payment === undefined) return `payment ${id} is gone`
      if (before.status === "settled" && shownBy(before) !== shownBy(payment))
        return `settled payment ${id} was ${shownBy(before)} and is ${shownBy(payment)}`
      if (before.status === "failed" && payment.status === "pending")
        return `failed payment ${id} is pending again`
      if (before.amount !== payment.amount) return `the amount of ${id} has changed`
    }
    return undefined
  },

  "fields agree with the state": (look) => {
    for (const payment of look.rows.payments) {
      const { failureReason, id, reported, settledAt, status } = payment
      if (status === "settled" && (settledAt === null || reported === null))
        return `settled payment ${id} lacks its evidence`
      if (status === "pending" && (settledAt !== null || failureReason !== null))
        return `pending payment ${id} has ${settledAt === null ? "a failure reason" : "a settlement time"}`
      const [early, late] = [payment.createdAt.getTime() - 2 * look.skewMillis, look.now + look.skewMillis]
      if (settledAt !== null && (settledAt.getTime() < early || settledAt.getTime() > late))
        return `payment ${id} of ${payment.createdAt.toISOString()} has settled at ${settledAt.toISOString()}`
      if ((status === "failed") !== (failureReason !== null))
        return `payment ${id} is ${status} for ${failureReason}`
    }
    return undefined
  },

  "a settlement is proven by the chain": (look) => {
    for (const payment of look.rows.payments) {
      if (payment.status !== "settled" || payment.reported === null) continue
      const { payer, transactionId } = payment.reported.evidence
      if (equalMoves(look.ledger, transactionId, payer, look.receiver, payment.amount) === 0)
        return `payment ${payment.id} is settled by ${transactionId}, which does not carry its transfer`
      if (!look.ledger.everMined.has(transactionId))
        return `payment ${payment.id} is settled by ${transactionId}, which no block has ever carried out`
    }
    return undefined
  },

  // In any block, even one that has been replaced since.
  "a settlement is as deep as it must be": (look) => {
    const { depths, ledger } = look
    for (const payment of look.rows.payments) {
      if (payment.status !== "settled" || statusIn(look.before, payment.id) === "settled") continue
      const hash = payment.reported?.evidence.transactionId ?? ""
      const deepest = ledger.deepest.get(hash) ?? -1
      if (deepest < depths[finalityFor(AtomicUsdc.make(payment.amount), levels)])
        return `payment ${payment.id} is settled by ${hash}, which has never lain deeper than ${deepest}`
    }
    return undefined
  },

  // A node that stops or goes back shows no reliable height, and a wrong clock no reliable time.
  "what came before a payment does not settle it": (look) => {
    const { board, skewMillis } = look
    const isBlurred = (["a node stands still", "a node goes back", "the chain is reorganised"] as const).some(
      (name) => board.has(name)
    )
    if (skewMillis > 0 || isBlurred) return undefined
    for (const payment of look.rows.payments) {
      const older = look.thief.older.get(payment.id)
      if (older !== undefined && payment.reported?.evidence.transactionId === older)
        return `payment ${payment.id} is settled by ${older}, which was sent before`
    }
    return undefined
  },

  "only what a block has lost is told to be gone, and why": (look) => {
    const { dropped, payments } = look.rows
    for (const [id, message] of dropped) {
      const hash = payments.find((one) => one.id === id)?.reported?.evidence.transactionId ?? ""
      const sent = look.ledger.transactions.get(hash)
      if (sent === undefined || !look.ledger.everReplaced.has(hash))
        return `${hash} of ${id} is told to be gone, and no block of it was replaced`
      const why = whyDropped(message)
      const isTrue =
        why === "not_included" ||
        // A signature may have expired by a later block.
        (why === "reverted" && (sent.reverts !== false || sent.spending !== undefined)) ||
        (why === "transfer_changed" && sent.movesInOdd !== undefined)
      if (!isTrue) return `${hash} of ${id} is told to be gone for ${why}`
    }
    return undefined
  },

  "a transfer pays one payment": (look) => {
    const uses = new Map<string, number>()
    for (const payment of look.rows.payments) {
      if (payment.status !== "settled" || payment.reported === null) continue
      const { payer, transactionId } = payment.reported.evidence
      const key = `${transactionId} ${payer} ${look.receiver} ${payment.amount}`
      const used = (uses.get(key) ?? 0) + 1
      uses.set(key, used)
      if (used > equalMoves(look.ledger, transactionId, payer, look.receiver, payment.amount))
        return `${transactionId} pays ${used} payments`
    }
    return undefined
  },

  // Reorganised blocks, and wrong clocks, may put a transfer on either side of the deadline.
  "what was paid in time does not fail": (look) => {
    const { board, ledger, people, skewMillis } = look
    if (skewMillis > 0 || board.has("the chain is reorganised") || board.has("a node lies")) return undefined
    for (const payment of look.rows.payments) {
      if (payment.status !== "failed" || statusIn(look.before, payment.id) !== "pending") continue
      const purchase = people.purchases.find(({ paymentId }) => paymentId === payment.id)
      for (const hash of purchase?.sent ?? []) {
        const found = ledger.fork.find(hash, ledger.fork.height)
        if (found?.mined.succeeded !== true) continue
        // If two payments of one wallet and amount are pending, nothing shows which of them it pays.
        const isOthers = look.rows.payments.some(
          (other) =>
            other.id !== payment.id &&
            other.reported?.evidence.transactionId === hash &&
            other.createdAt.getTime() < found.block.time * 1_000
        )
        if (isOthers) continue
        const early = payment.createdAt.getTime() + look.expiryMillis - found.block.time * 1_000
        if (early > 0) return `payment ${payment.id} has failed, and was paid ${early} ms before its deadline`
      }
    }
    return undefined
  },

  // A wallet's nonce decides between its two equal payments, if a node returns the transfer's sender. An attempt may
  // end while its payment is being settled.
  "a transfer pays the payment that it was announced for": (look) => {
    if (look.board.has("a node lies")) return undefined
    const { before, rows } = look
    for (const { id, reported, settledAt, status } of rows.payments) {
      if (status !== "settled" || reported === null || statusIn(before, id) !== "pending") continue
      const { payer, transactionId } = reported.evidence
      const meant = look.people.purchases.find(({ sent }) => sent.includes(transactionId))
      if (meant === undefined || meant.paymentId === id || meant.withoutNonce.has(transactionId)) continue
      if (statusIn(before, meant.paymentId) !== "pending") continue
      const nonce = look.ledger.transactions.get(transactionId)?.nonce
      const naming = (attempts: ReadonlyArray<AttemptOf>, of: string) =>
        attempts.filter(
          (one) =>
            one.payer === payer && one.paymentId === of && one.nonce !== null && Number(one.nonce) === nonce
        )
      const [own] = naming(before.attempts, meant.paymentId)
      if (own === undefined) continue
      const found = look.ledger.fork.find(transactionId, look.ledger.fork.height)
      const minedAt = (found?.block.time ?? 0) * 1_000
      const isLater = ({ since }: AttemptOf) => look.skewMillis === 0 && since.getTime() > minedAt
      const others = naming(look.lately, id).filter((one) => isLater(own) || !isLater(one))
      const age = (settledAt?.getTime() ?? 0) - minedAt
      if (age < senderPatienceMillis && others.length === 0)
        return `${transactionId} was announced for ${meant.paymentId} and has settled ${id}`
    }
    return undefined
  },

  "nobody is told to pay while their money is to be matched": ({ before, rows }) => {
    for (const { paymentId, payer, since } of rows.attempts) {
      const wasOpen = before.attempts.some(
        (one) => one.paymentId === paymentId && one.payer === payer && one.since.getTime() === since.getTime()
      )
      const payment = rows.payments.find(({ id }) => id === paymentId)
      if (wasOpen || payment === undefined) continue
      const [waiting] = stillIn(
        unexplained(before, payment, payer),
        unexplained(rows, payment, payer)
      ).filter(({ kind }) => kind === null)
      if (waiting !== undefined)
        return `${payer} was told to pay ${paymentId} while ${waiting.transactionId} was to be matched`
    }
    return undefined
  },

  "what is reported is looked at for a day": (look) => {
    for (const payment of look.rows.payments) {
      const age = look.now - payment.createdAt.getTime()
      if (payment.failureReason === "unverified" && age < 86_400_000 - 2 * look.skewMillis)
        return `payment ${payment.id} has failed unverified after ${age} ms`
    }
    return undefined
  }
}
