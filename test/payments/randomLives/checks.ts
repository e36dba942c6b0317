// Compares the books with the chain. Each rule returns its violations: none if the service is right.
import type { Hex } from "viem"
import { type Finality, finalityFor } from "../../../src/domain/Finality.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { settlementLevelsOf } from "../../../src/domain/networks.ts"
import { moneyNetwork } from "../../support/moneyNetwork.ts"
import { atomicOf, type BookFacts } from "./bookFacts.ts"
import { type ChainFacts, type ChainTransfer, sumOf } from "./chainFacts.ts"
import { safeDepth } from "./livesChain.ts"
import type { LivesWorld } from "./livesWorld.ts"
import type { LivesRecord, Purchase } from "./record.ts"

interface Look {
  readonly books: BookFacts
  readonly chain: ChainFacts
  readonly lives: LivesWorld
  readonly record: LivesRecord
}

/** The blocks that a reorganisation has to replace above a transfer that has settled a payment at this level. */
const certainAfter: { readonly [F in Finality]: number } = {
  confirmed: moneyNetwork.confirmations,
  included: moneyNetwork.confirmations,
  safe: safeDepth,
  finalized: Number.POSITIVE_INFINITY
}

const levelOf = ({ amount }: Purchase) =>
  finalityFor(AtomicUsdc.make(amount), settlementLevelsOf(moneyNetwork))

const keyOf = (transfer: Pick<ChainTransfer, "hash" | "from" | "to" | "amount">) =>
  `${transfer.hash} ${transfer.from.toLowerCase()} ${transfer.to.toLowerCase()} ${transfer.amount}`

/** The rows that only one of the lists has; equal rows are counted. */
const differences = (what: string, chain: ReadonlyArray<string>, books: ReadonlyArray<string>) => {
  const count = new Map<string, number>()
  for (const key of chain) count.set(key, (count.get(key) ?? 0) + 1)
  for (const key of books) count.set(key, (count.get(key) ?? 0) - 1)
  return [...count].flatMap(([key, left]) =>
    left === 0 ? [] : [`${what}: ${key} is ${left > 0 ? "on the chain alone" : "in the books alone"}`]
  )
}

const equal = (what: string, actual: unknown, expected: unknown): ReadonlyArray<string> =>
  actual === expected ? [] : [`${what}: ${String(actual)}, and not ${String(expected)}`]

/** Every transfer to and from a receiver is recorded, in its block, and nothing else. */
const transfersAreRecorded = ({ books, chain }: Look) =>
  books.merchants.flatMap(({ transfers }, merchant) => {
    const { arrived = [], balance, left = [] } = chain.accounts[merchant] ?? {}
    const shown = [
      ...arrived.map((transfer) => `in ${keyOf(transfer)} in block ${transfer.block}`),
      ...left.map((transfer) => `out ${keyOf(transfer)} in block ${transfer.block}`)
    ]
    const recorded = transfers.map((row) => {
      const { amount, block, direction, from, to, transaction } = row
      const key = `${transaction} ${from?.toLowerCase()} ${to?.toLowerCase()} ${atomicOf(amount)}`
      return `${direction} ${key} in block ${block}`
    })
    return [
      ...differences("transfers", shown, recorded),
      ...equal("the receiver's balance", balance, sumOf(arrived) - sumOf(left))
    ]
  })

/** Each valid claim is a transfer of the chain, of its payment's payer, receiver and amount, and of no other claim. */
const claimsAreTransfers = ({ books, chain, lives, record }: Look) => {
  const shown = new Map(Map.groupBy(chain.transfers, keyOf))
  const taken = new Set<string>()
  return books.claims.flatMap((claim) => {
    const { amount, hash, isDropped, ordinal, paymentId, payer, receiver, refundId } = claim
    const key = keyOf({ hash, from: payer, to: receiver, amount })
    const what = `the claim of ${paymentId ?? refundId} on ${key}`
    const wrong: Array<string> = []
    const isShown = (shown.get(key) ?? []).length > ordinal
    if (isShown === isDropped)
      wrong.push(`${what} is ${isDropped ? "dropped, and on the chain" : "not on the chain"}`)
    if (taken.has(`${key} ${ordinal}`)) wrong.push(`${what} is another's too`)
    taken.add(`${key} ${ordinal}`)
    if (paymentId === undefined) return wrong
    const purchase = record.purchases.find(({ id }) => id === paymentId)
    const own = purchase === undefined ? undefined : lives.merchantAt(purchase.merchant).receiver.address
    if (
      purchase?.amount !== amount ||
      own?.toLowerCase() !== receiver ||
      purchase.payer.toLowerCase() !== payer
    )
      wrong.push(`${what} is not what it owes`)
    return wrong
  })
}

/** The loss of a settled transfer raises an alert, and happens only if the payment's level allows it. */
const lossesAreAlerted = ({ books, chain, lives, record }: Look) => {
  const shown = new Set<string>(chain.transfers.map(({ hash }) => hash))
  return record.purchases.flatMap((purchase) => {
    const { id, merchant } = purchase
    const payment = books.merchants[merchant]?.payments.find((row) => row.id === id)
    const claims = books.claims.filter(({ paymentId }) => paymentId === id)
    const isAlerted = books.alerts.some(({ kind, subject }) => kind === "transfer_dropped" && subject === id)
    if (payment === undefined) return [`payment ${id} is not listed`]
    if (payment.status !== "settled")
      return [
        ...equal(`the claims of ${payment.status} payment ${id}`, claims.length, 0),
        ...equal(`an alert of ${payment.status} payment ${id}`, isAlerted, false)
      ]
    const [claim] = claims
    if (claim === undefined || claims.length > 1) return [`settled payment ${id} has ${claims.length} claims`]
    const first = payment.reportedTransactionId
    const gone = [claim.hash, ...(first === undefined ? [] : [first])].filter((hash) => !shown.has(hash))
    const level = levelOf(purchase)
    return [
      ...equal(`an alert about the loss of payment ${id}`, isAlerted, claim.isDropped),
      ...gone.flatMap((hash) => {
        const depth = lives.livesChain.dropped.get(hash) ?? 0
        return depth >= certainAfter[level]
          ? []
          : [`payment ${id} (${level}) was settled by ${hash}, dropped from below ${depth} blocks`]
      })
    ]
  })
}

/**
 * A wallet's equal payments: as many are settled by transfers of the chain as the wallet has paid, and none that it has
 * not paid. Without an attempt, a transfer settles the payment that a report names, or the payment of the transfer that
 * it replaces by its nonce.
 */
const paidAreSettled = ({ books, chain, lives, record }: Look) => {
  const receiverOf = ({ merchant }: Purchase) => lives.merchantAt(merchant).receiver.address.toLowerCase()
  const groups = Map.groupBy(
    record.purchases,
    (purchase) => `${purchase.payer.toLowerCase()} ${receiverOf(purchase)} ${purchase.amount}`
  )
  return [...groups].flatMap(([group, purchases]) => {
    const transfers = chain.transfers.filter(({ amount, from, to }) => `${from} ${to} ${amount}` === group)
    const isNamed = purchases.some((purchase) => purchase.isNamed)
    const reported = new Set(purchases.flatMap((purchase) => [...purchase.reported]))
    const nonceOf = (hash: Hex) => {
      const { from, nonce } = record.sent.get(hash) ?? {}
      return from === undefined ? hash : `${from} ${nonce}`
    }
    const nonces = new Set([...reported].map(nonceOf))
    const paying = transfers.filter(({ hash }) => isNamed || reported.has(hash))
    const mayPay = new Set(
      transfers.filter(({ hash }) => isNamed || nonces.has(nonceOf(hash))).map(({ hash }) => hash)
    )
    const claims = books.claims.filter(
      ({ isDropped, paymentId }) => !isDropped && purchases.some(({ id }) => id === paymentId)
    )
    // If payments were announced together, no nonce tells which of them a later transfer replaces. Their loss is
    // alerted, and the transfer is listed as unexplained.
    const losses = books.claims.filter(
      ({ isDropped, paymentId }) =>
        isDropped && purchases.length > 1 && purchases.some(({ id }) => id === paymentId)
    )
    const due = Math.min(purchases.length, paying.length) - losses.length
    const names = purchases.map(({ id, kind }) => `${kind} ${id}`).join(", ")
    return [
      ...claims.flatMap(({ hash, paymentId }) =>
        mayPay.has(hash) ? [] : [`${hash} settles ${paymentId}, which it does not pay`]
      ),
      ...(claims.length >= due
        ? []
        : [
            `${paying.map(({ hash }) => hash).join(", ")} paid ${due} of ${names}, and ${claims.length} are settled`
          ])
    ]
  })
}

/** Each settled payment has one event; it was delivered once, signed, in three attempts at most. */
const settledHaveEvents = ({ books, lives }: Look) =>
  books.merchants.flatMap(({ events, payments }, merchant) => {
    const posts = lives.posts.filter((post) => post.merchant === merchant)
    const ofPayment = Map.groupBy(events, ({ payment }) => payment?.id)
    return [
      ...equal("unsigned posts", posts.filter(({ event }) => event === undefined).length, 0),
      ...equal("events", events.length, payments.filter(({ status }) => status === "settled").length),
      ...payments.flatMap(({ amount, id, reportedTransactionId, status }) => {
        const own = ofPayment.get(id) ?? []
        const [first] = own
        const wrong = equal(`events of ${status} payment ${id}`, own.length, status === "settled" ? 1 : 0)
        if (first?.event.type !== "payment.settled") return wrong
        const sent = posts.filter(({ event }) => event?.id === first.event.id)
        const [change] = first.event.tokenChanges
        return [
          ...wrong,
          ...equal(`the delivery of ${id}`, first.delivery, "delivered"),
          ...equal(`successes of ${id}`, sent.filter(({ status }) => status === 204).length, 1),
          ...equal(`attempts of ${id} beyond three`, Math.max(0, sent.length - 3), 0),
          ...equal(`the transaction of ${id}`, first.event.transactionId, reportedTransactionId),
          ...equal(`the amount of ${id}`, change?.amountAtomic, atomicOf(amount).toString())
        ]
      })
    ]
  })

/** A proven refund is a transfer of the chain; a transfer that was sent for a refund has proven it. */
const refundsAreTransfers = ({ books, chain, record }: Look) =>
  books.merchants.flatMap(({ refunds }, merchant) => {
    const { left = [] } = chain.accounts[merchant] ?? {}
    return refunds.flatMap(({ amount, droppedAt, id, recipient, status, transactionId }) => {
      const isShown = left.some(
        (transfer) =>
          transfer.hash === transactionId &&
          transfer.to === recipient.toLowerCase() &&
          transfer.amount === atomicOf(amount)
      )
      const isAlerted = books.alerts.some(({ kind, subject }) => kind === "refund_unproven" && subject === id)
      const sent = record.refunds.get(id)?.hash
      const isSent = sent !== undefined && left.some(({ hash }) => hash === sent)
      return [
        ...(status === "proven" ? equal(`refund ${id} on the chain`, isShown, droppedAt === undefined) : []),
        ...(status === "proven" ? equal(`an alert of refund ${id}`, isAlerted, droppedAt !== undefined) : []),
        ...(isSent
          ? equal(`what was sent for refund ${id}`, `${status} ${transactionId}`, `proven ${sent}`)
          : [])
      ]
    })
  })

/** The statement and the exports have the chain's sums, to the atomic unit. */
const booksAddUp = ({ books, chain }: Look) =>
  books.merchants.flatMap(({ balances, exportedPayments, exportedRefunds, refunds, statement }, merchant) => {
    const { arrived = [], balance = 0n, left = [] } = chain.accounts[merchant] ?? {}
    const sum = (claims: BookFacts["claims"], transfers: ReadonlyArray<ChainTransfer>) => {
      const keys = new Set(
        claims
          .filter(({ isDropped }) => !isDropped)
          .map(({ amount, hash, payer, receiver }) => keyOf({ hash, from: payer, to: receiver, amount }))
      )
      return sumOf(transfers.filter((transfer) => keys.has(keyOf(transfer))))
    }
    const paid = sum(
      books.claims.filter(({ paymentId }) => paymentId !== undefined),
      arrived
    )
    const refunded = sum(
      books.claims.filter(({ refundId }) => refundId !== undefined),
      left
    )
    const proven = refunds.filter(({ droppedAt, status }) => status === "proven" && droppedAt === undefined)
    const total = (rows: ReadonlyArray<Readonly<Record<string, string | null>>>) =>
      rows.reduce((sum, row) => sum + atomicOf(row["amount"]), 0n)
    return [
      ...equal("payments in the statement", atomicOf(statement.payments.amount), paid),
      ...equal("payments in the export", total(exportedPayments), paid),
      ...equal("unexplained", atomicOf(statement.unexplained.amount), sumOf(arrived) - paid),
      ...equal("handled", atomicOf(statement.handled.amount), 0n),
      ...equal("refunds in the statement", atomicOf(statement.refunds.amount), refunded),
      ...equal("refunds in the export", total(exportedRefunds), refunded),
      ...equal("proven refunds", sumOf(proven.map(({ amount }) => ({ amount: atomicOf(amount) }))), refunded),
      ...equal("left otherwise", atomicOf(statement.other.amount), sumOf(left) - refunded),
      ...equal("what the books have moved", atomicOf(statement.change), sumOf(arrived) - sumOf(left)),
      ...equal("the closing balance", atomicOf(balances.closing), balance),
      ...equal("the difference to the chain", balances.difference, "0.00")
    ]
  })

/** Each transfer of another token raises an alert. */
const otherTokensAreAlerted = async ({ books, chain, record }: Look) => {
  const wrong: Array<string> = []
  for (const hash of record.otherTokens)
    if (
      (await chain.hasTransaction(hash)) &&
      !books.alerts.some(({ kind, message }) => kind === "other_token" && message.includes(hash))
    )
      wrong.push(`${hash} moved another token, without an alert`)
  return wrong
}

/** The relaying wallet's transactions are on the chain, and booked at their cost until a reorganisation moves them. */
const relayedIsBooked = async ({ books, chain, lives }: Look) => {
  const wrong: Array<string> = []
  for (const { hash, wei } of books.relayed) {
    const cost = await chain.costOf(hash)
    if (cost === undefined) wrong.push(`${hash} was relayed, and is not on the chain`)
    else if (wei === undefined || !lives.livesChain.dropped.has(hash))
      wrong.push(...equal(`the wei of ${hash}`, wei, String(cost)))
  }
  return wrong
}

/** The violations of all rules. */
export const violations = async (look: Look): Promise<ReadonlyArray<string>> => [
  ...look.record.wrong,
  ...transfersAreRecorded(look),
  ...claimsAreTransfers(look),
  ...lossesAreAlerted(look),
  ...paidAreSettled(look),
  ...settledHaveEvents(look),
  ...refundsAreTransfers(look),
  ...booksAddUp(look),
  ...(await otherTokensAreAlerted(look)),
  ...(await relayedIsBooked(look))
]
