// What must hold in every run (the oracle). Those of `always` are looked at after every step that changes a
// row, those of `atEnd` once the faults have ceased and the service has had its time. To add one, write it
// here: it answers what is wrong, or undefined.
import type { Address, TransactionHash } from "../../src/domain/Chain.ts"
import type { PaymentId, PaymentSummary } from "../../src/domain/Payment.ts"
import type { Delivery, DeliveryAttempt } from "../../src/domain/Webhook.ts"
import type { IncomingTransfer } from "../../src/payments/TransferStore.ts"
import type { Ledger } from "./chain/Ledger.ts"
import type { FaultBoard } from "./faults.ts"
import type { People, Purchase, Shop } from "./People.ts"
import type { Post } from "./Receivers.ts"
import type { Signers } from "./Signers.ts"

/** The rows of one shop. */
export interface Rows {
  readonly shop: Shop
  readonly payments: ReadonlyArray<PaymentOf>
  readonly deliveries: ReadonlyArray<DeliveryOf>
  readonly transfers: ReadonlyArray<TransferOf>
  /** Of authorizations. */
  readonly settlements: ReadonlyArray<SettlementOf>
  /** Ids of payments of which an open alert says that the chain no longer shows their transfer. */
  readonly dropped: ReadonlyArray<string>
}

export interface SettlementOf {
  readonly id: string
  readonly status: "pending" | "settled" | "failed"
  /** Why it has failed, or what callers were told. */
  readonly reason: string | null
  readonly paymentId: PaymentId
  readonly payer: string
  readonly nonce: string
  /** Unix seconds. */
  readonly validBefore: number
}

export interface PaymentOf
  extends Pick<PaymentSummary, "id" | "status" | "amount" | "createdAt" | "settledAt" | "failureReason"> {
  readonly reported: {
    readonly evidence: { readonly transactionId: TransactionHash; readonly payer: Address }
  } | null
}
export interface DeliveryOf extends Pick<Delivery, "id" | "type" | "status" | "paymentId"> {
  readonly attempts: ReadonlyArray<Pick<DeliveryAttempt, "number" | "manual" | "startedAt" | "durationMs">>
}
export interface TransferOf
  extends Pick<IncomingTransfer, "transactionId" | "amount" | "blockNumber" | "paymentId" | "droppedAt"> {
  readonly kind: string | null
}

export interface Look {
  readonly now: number
  readonly rows: ReadonlyArray<Rows>
  /** Payments by id, as the look before this one saw them. */
  readonly before: ReadonlyMap<string, PaymentOf>
  /** What ended deliveries had come to then, by id. */
  readonly ended: ReadonlyMap<string, string>
  readonly ledger: Ledger
  readonly posts: ReadonlyArray<Post>
  readonly people: People
  readonly signers: Signers
  /** Of the relaying wallet, which no block has taken. */
  readonly openTransactions: number
  /** What may be relayed for a merchant in a day. */
  readonly gasPerMerchant: bigint
  readonly board: FaultBoard
  /** How long a payment waits for its buyer. */
  readonly expiryMillis: number
  /** What was over before this time, and nobody has paid, must have failed by now. */
  readonly overdueBefore: number | undefined
  /** Milliseconds by which instances' clocks may differ. */
  readonly skewMillis: number
}

export type Invariant = (look: Look) => string | undefined

const paymentsOf = ({ rows }: Look) =>
  rows.flatMap(({ payments, shop }) => payments.map((payment) => ({ payment, shop })))
const settlementsOf = ({ rows }: Look) =>
  rows.flatMap(({ deliveries }) => deliveries.filter(({ type }) => type === "payment.settled"))

/** How many transfers of a transaction are exactly these. */
const equalMoves = (ledger: Ledger, hash: string, payer: Address, receiver: Address, amount: bigint) =>
  (ledger.transactions.get(hash)?.moves ?? []).filter(
    (move) =>
      move.token === undefined && move.from === payer && move.to === receiver && move.amount === amount
  ).length

const shownBy = (payment: PaymentOf) =>
  `${payment.status} ${payment.settledAt?.getTime()} ${payment.reported?.evidence.transactionId} ${payment.reported?.evidence.payer}`

const retryMillis = [60_000, 240_000]

/** Seconds after which an authorization that is over has ended. */
const authorizationGrace = 420

export const always: Readonly<Record<string, Invariant>> = {
  "states only go forward": (look) => {
    const now = new Map(paymentsOf(look).map(({ payment }) => [String(payment.id), payment]))
    for (const [id, before] of look.before) {
      const payment = now.get(id)
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
    for (const { payment } of paymentsOf(look)) {
      const { failureReason, id, reported, settledAt, status } = payment
      if (status === "settled" && (settledAt === null || reported === null))
        return `settled payment ${id} lacks its evidence`
      if (status === "pending" && (settledAt !== null || failureReason !== null))
        return `pending payment ${id} has ${settledAt === null ? "a failure reason" : "a settlement time"}`
      if ((status === "failed") !== (failureReason !== null))
        return `payment ${id} is ${status} for ${failureReason}`
    }
    return undefined
  },

  "a settlement is proven by the chain": (look) => {
    for (const { payment, shop } of paymentsOf(look)) {
      if (payment.status !== "settled" || payment.reported === null) continue
      const { payer, transactionId } = payment.reported.evidence
      if (equalMoves(look.ledger, transactionId, payer, shop.receiver, payment.amount) === 0)
        return `payment ${payment.id} is settled by ${transactionId}, which does not carry its transfer`
      if (!look.ledger.everMined.has(transactionId))
        return `payment ${payment.id} is settled by ${transactionId}, which no block has ever carried out`
    }
    return undefined
  },

  "a transfer pays one payment": (look) => {
    const uses = new Map<string, number>()
    for (const { payment, shop } of paymentsOf(look)) {
      if (payment.status !== "settled" || payment.reported === null) continue
      const { payer, transactionId } = payment.reported.evidence
      const key = `${transactionId} ${payer} ${shop.receiver} ${payment.amount}`
      const used = (uses.get(key) ?? 0) + 1
      uses.set(key, used)
      if (used > equalMoves(look.ledger, transactionId, payer, shop.receiver, payment.amount))
        return `${transactionId} pays ${used} payments`
    }
    return undefined
  },

  // Reorganised blocks, and clocks that are wrong, may put a transfer on either side of the deadline.
  "what was paid in time does not fail": (look) => {
    const { board, ledger, people, skewMillis } = look
    if (skewMillis > 0 || board.has("the chain is reorganised") || board.has("a node lies")) return undefined
    for (const { payment } of paymentsOf(look)) {
      if (payment.status !== "failed" || look.before.get(payment.id)?.status !== "pending") continue
      const purchase = people.purchases.find(({ paymentId }) => paymentId === payment.id)
      for (const hash of purchase?.sent ?? []) {
        const found = ledger.fork.find(hash, ledger.fork.height)
        if (found?.mined.succeeded !== true) continue
        // Two payments of one wallet and amount, both waiting: nothing tells which of them it pays.
        const isOthers = paymentsOf(look).some(
          ({ payment: other }) =>
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

  "what is reported is looked at for a day": (look) => {
    for (const { payment } of paymentsOf(look)) {
      const age = look.now - payment.createdAt.getTime()
      if (payment.failureReason === "unverified" && age < 86_400_000 - 2 * look.skewMillis)
        return `payment ${payment.id} has failed unverified after ${age} ms`
    }
    return undefined
  },

  "a settlement queues one delivery": (look) => {
    const ids = new Set<string>()
    const counts = new Map<string, number>()
    for (const { id, paymentId } of settlementsOf(look)) {
      if (ids.has(id)) return `two deliveries have the id ${id}`
      ids.add(id)
      counts.set(String(paymentId), (counts.get(String(paymentId)) ?? 0) + 1)
    }
    for (const { payment } of paymentsOf(look)) {
      const count = counts.get(payment.id) ?? 0
      if (count !== (payment.status === "settled" ? 1 : 0))
        return `${payment.status} payment ${payment.id} has ${count} deliveries`
    }
    return undefined
  },

  // Nobody sends one again by hand here.
  "ended deliveries stay as they are": (look) => {
    for (const { id, status } of look.rows.flatMap(({ deliveries }) => deliveries)) {
      const before = look.ended.get(id)
      if (before !== undefined && before !== status) return `delivery ${id} was ${before} and is ${status}`
    }
    return undefined
  },

  "at most three attempts, and none early": (look) => {
    for (const { attempts, id } of look.rows.flatMap(({ deliveries }) => deliveries)) {
      const own = attempts.filter(({ manual }) => !manual).toSorted((one, other) => one.number - other.number)
      if (own.length > 3) return `delivery ${id} has ${own.length} attempts`
      if (new Set(own.map(({ number }) => number)).size !== own.length)
        return `delivery ${id} has two attempts of one number`
      for (const [index, attempt] of own.entries()) {
        const last = own[index - 1]
        if (last === undefined || last.durationMs === null) continue
        const waited = attempt.startedAt.getTime() - last.startedAt.getTime() - last.durationMs
        const wanted = retryMillis[last.number - 1] ?? 0
        if (waited < wanted - 2 * look.skewMillis - 1_000)
          return `attempt ${attempt.number} of delivery ${id} came ${waited} ms after the one before`
      }
    }
    return undefined
  },

  "agents' caps hold": ({ signers }) => {
    const byAgent = Map.groupBy(signers.signatures.values(), ({ agent }) => agent.id)
    for (const signatures of byAgent.values())
      for (const { agent, amount, at } of signatures) {
        if (amount > agent.capPerPayment) return `agent ${agent.id} has signed ${amount} at once`
        const day = signatures.filter((one) => one.at <= at && one.at > at - 86_400_000)
        const sum = day.reduce((total, one) => total + one.amount, 0n)
        if (sum > agent.capPerDay) return `agent ${agent.id} has signed ${sum} in a day`
      }
    return undefined
  },

  "a paused agent signs nothing": ({ signers }) => {
    const [first] = signers.signedInPause
    return first === undefined ? undefined : `request ${first} was signed`
  },

  "an authorization serves one request, which it has paid": ({ ledger, signers }) => {
    const served = new Set<string>()
    for (const { nonce, paid, payer, price, request } of signers.served) {
      if (paid < price) return `${request} costs ${price} and was served for ${paid}`
      if (served.has(nonce)) return `${request} was served for ${nonce}, as another one was`
      served.add(nonce)
      if (![...ledger.everMined].some((hash) => ledger.transactions.get(hash)?.spending?.nonce === nonce))
        return `${request} was served for ${nonce} of ${payer}, which has moved nothing`
    }
    return undefined
  },

  "no more gas is paid for a merchant than its day's": ({ gasPerMerchant, ledger, rows }) => {
    const { relayer } = ledger
    for (const { shop } of rows) {
      const at = new Map<number, bigint>()
      for (const { mined, time } of ledger.fork.blocks)
        for (const { succeeded, transaction } of mined)
          if (succeeded && transaction.sender === relayer && transaction.moves[0]?.to === shop.receiver)
            at.set(time, (at.get(time) ?? 0n) + (transaction.gas?.limit ?? 0n))
      for (const time of at.keys()) {
        const day = [...at].filter(([one]) => one <= time && one > time - 86_000)
        const sum = day.reduce((total, [, gas]) => total + gas, 0n)
        if (sum > gasPerMerchant) return `${sum} gas was paid for ${shop.name} in a day`
      }
    }
    return undefined
  },

  "what is posted is signed and true": (look) => {
    const payments = new Map(
      paymentsOf(look).map(({ payment, shop }) => [String(payment.id), { payment, shop }])
    )
    const queued = new Map(settlementsOf(look).map((one) => [one.id, one]))
    for (const post of look.posts) {
      if (!post.verified) return `the post ${post.id} to ${post.url} does not verify`
      const event = JSON.parse(post.body)
      if (event.id !== post.id) return `the post ${post.id} carries the id ${event.id}`
      if (event.type !== "payment.settled") continue
      const settled = payments.get(String(queued.get(post.id)?.paymentId))
      if (settled === undefined) return `the post ${post.id} belongs to no delivery`
      const { payment, shop } = settled
      const [change] = event.tokenChanges
      if (
        payment.status !== "settled" ||
        event.transactionId !== payment.reported?.evidence.transactionId ||
        event.tokenChanges.length !== 1 ||
        change.amountAtomic !== payment.amount.toString() ||
        change.receiver !== shop.receiver
      )
        return `the post ${post.id} tells ${post.body} of payment ${payment.id}`
      if (!post.url.startsWith(`https://${shop.name}.`)) return `the post ${post.id} went to ${post.url}`
    }
    return undefined
  },

  "an answer tells what is stored": (look) => {
    const payments = new Map(paymentsOf(look).map(({ payment }) => [String(payment.id), payment]))
    const last = look.people.answers.at(-1)
    const told = last?.answer.body.payment
    if (told?.status !== "settled") return undefined
    return payments.get(told.id)?.status === "settled" ? undefined : `${told.id} was told settled and is not`
  },

  "no answer is an internal error": (look) => {
    if (
      look.board.has("a statement fails before its commit") ||
      look.board.has("the answer of a commit is lost")
    )
      return undefined
    const last = look.people.answers.at(-1)
    return last?.answer.status === 500 ? `${last.ask.do} was answered 500` : undefined
  }
}

/** Transfers to a shop that the chain now shows. */
const arrivedAt = ({ ledger }: Look, receiver: Address) =>
  ledger.fork.blocks.flatMap(({ mined }) =>
    mined.flatMap(({ succeeded, transaction }) =>
      succeeded
        ? transaction.moves
            .filter(
              ({ amount, from, to, token }) =>
                token === undefined && to === receiver && from !== to && amount > 0n
            )
            .map((move) => ({ ...move, hash: transaction.hash }))
        : []
    )
  )

const isMined = ({ ledger }: Look, hash: string) => {
  const found = ledger.fork.find(hash, ledger.fork.height)
  return found?.mined.succeeded === true
}

/** As `judgeTransfer` has it. */
const clockToleranceMillis = 60_000

/** Transactions by which a buyer's money has left for a payment: transfers, and authorizations that anybody used. */
const chargesOf = (look: Look, { buyer, nonces, sent }: Purchase) => [
  ...sent.filter((hash) => isMined(look, hash)),
  ...nonces.flatMap((nonce) => {
    const { spending, hash } = look.ledger.fork.spentBy(buyer, nonce)?.transaction ?? {}
    return hash === undefined || spending?.cancels === true ? [] : [hash]
  })
]

export const atEnd: Readonly<Record<string, Invariant>> = {
  "the books balance": (look) => {
    for (const { payments, shop, transfers } of look.rows) {
      if (payments.length === 0) continue
      const arrived = arrivedAt(look, shop.receiver)
      const stored = transfers.filter(({ droppedAt }) => droppedAt === null)
      const sum = (all: ReadonlyArray<{ readonly amount: bigint }>) =>
        all.reduce((total, one) => total + one.amount, 0n)
      if (sum(arrived) !== look.ledger.balance(shop.receiver))
        return `the ledger itself does not balance at ${shop.name}`
      if (sum(arrived) !== sum(stored) || arrived.length !== stored.length)
        return `${arrived.length} transfers of ${sum(arrived)} have reached ${shop.name}, ${stored.length} of ${sum(stored)} are explained or listed (chain: ${arrived.map(({ hash }) => hash.slice(0, 10)).join(" ")}; stored: ${stored.map(({ blockNumber, transactionId }) => `${transactionId.slice(0, 10)} in ${blockNumber}`).join(" ")})`
      for (const { amount, paymentId, transactionId } of stored) {
        if (paymentId === null) continue
        const payment = payments.find(({ id }) => id === paymentId)
        if (
          payment === undefined ||
          payment.reported?.evidence.transactionId !== transactionId ||
          payment.amount !== amount
        )
          return `${transactionId} is explained by payment ${paymentId}, which it does not pay`
      }
      for (const { id, reported, status } of payments) {
        if (status !== "settled" || reported === null || !isMined(look, reported.evidence.transactionId))
          continue
        if (!stored.some(({ paymentId }) => paymentId === id))
          return `no transfer is explained by settled payment ${id}`
      }
    }
    return undefined
  },

  // A transfer that was meant for one of two equal payments of a wallet may have settled the other.
  "no buyer is charged twice": (look) => {
    const settled = new Map(
      paymentsOf(look).flatMap(({ payment }) =>
        payment.status === "settled" ? [[payment.reported?.evidence.transactionId, String(payment.id)]] : []
      )
    )
    for (const purchase of look.people.purchases) {
      const { paymentId } = purchase
      const charged = chargesOf(look, purchase).filter(
        (hash) => (settled.get(hash) ?? paymentId) === paymentId
      )
      if (charged.length > 1) return `payment ${paymentId} was paid by ${charged.join(" and ")}`
    }
    return undefined
  },

  // Of equal payments of one wallet any may be settled by its transfer: they are told apart by nothing.
  "what was paid is settled": (look) => {
    const settled = new Set(
      paymentsOf(look).flatMap(({ payment }) => (payment.status === "settled" ? [String(payment.id)] : []))
    )
    const handedIn = new Set(look.rows.flatMap(({ settlements }) => settlements.map(({ nonce }) => nonce)))
    const groups = new Map<string, { paid: number; settled: number; open: Array<string> }>()
    const keyOf = ({ amount, buyer, shop }: Purchase) => `${shop.name} ${buyer} ${amount}`
    for (const purchase of look.people.purchases) {
      const { paymentId, unannounced, withoutNonce } = purchase
      const key = keyOf(purchase)
      const isAlone = look.people.purchases.filter((one) => keyOf(one) === key).length === 1
      const group = groups.get(key) ?? { paid: 0, settled: 0, open: [] }
      groups.set(key, group)
      // A signature that never came to the service, and that others have used, is listed for a person.
      const nonces = purchase.nonces.filter((nonce) => handedIn.has(nonce))
      // What was not announced is listed where an equal payment of the wallet takes it, or where our clock makes it
      // look older than the payment.
      const isPlain = !isAlone || look.skewMillis > clockToleranceMillis
      // Mined below its attempt by a reorganisation: the wallet's nonce alone tells that it came later.
      const isBelow = (hash: string) => {
        const [, height] = [...withoutNonce].find(([one]) => one === hash) ?? []
        return height !== undefined && look.ledger.fork.find(hash, height) !== undefined
      }
      const charges = chargesOf(look, { ...purchase, nonces }).filter((hash) => !isBelow(hash))
      group.paid += charges.filter((hash) => !isPlain || !unannounced.has(hash)).length
      if (settled.has(paymentId)) group.settled++
      else group.open.push(paymentId)
    }
    for (const { open, paid, settled } of groups.values())
      if (paid > settled && open.length > 0)
        return `${paid} transfers are mined and ${settled} payments settled; not ${open.join(", ")}`
    return undefined
  },

  "a settled transfer that the chain has lost is told, and none that it shows": (look) => {
    for (const { dropped, payments } of look.rows)
      for (const { id, reported, status } of payments) {
        if (status !== "settled" || reported === null) continue
        const isShown = isMined(look, reported.evidence.transactionId)
        if (isShown === dropped.includes(id))
          return `${reported.evidence.transactionId} of settled payment ${id} is ${isShown ? "told to be gone, and on the chain" : "gone, and nobody is told"}`
      }
    return undefined
  },

  "what nobody pays expires": (look) => {
    const { overdueBefore = 0, people, rows } = look
    for (const { payments, settlements, transfers } of rows)
      for (const { amount, createdAt, id, status } of payments) {
        if (status !== "pending" || createdAt.getTime() + look.expiryMillis >= overdueBefore) continue
        const mayBePaid =
          people.reported.has(id) ||
          settlements.some((one) => one.paymentId === id && one.status === "pending") ||
          transfers.some((one) => one.paymentId === null && one.amount === amount && one.kind === null)
        if (!mayBePaid) return `payment ${id} of ${createdAt.toISOString()} is still pending`
      }
    return undefined
  },

  // Whoever has a signature may use it until its time is over: until then it may wait.
  "authorizations end": (look) => {
    const head = look.ledger.fork.blocks.at(-1)?.time ?? 0
    for (const { nonce, payer, paymentId, reason, status, validBefore } of look.rows.flatMap(
      ({ settlements }) => settlements
    )) {
      const isUsed = look.ledger.fork.spentBy(payer, nonce) !== undefined
      if (status === "pending" && (isUsed || validBefore < head - authorizationGrace))
        return `authorization ${nonce} of ${payer} is still pending (${reason})`
      // What a reorganisation has thrown out is told, by the invariant of settled transfers.
      const isLost = look.rows.some(({ dropped }) => dropped.includes(paymentId))
      if (status === "settled" && !isUsed && !isLost)
        return `authorization ${nonce} of ${payer} is settled and not used`
    }
    return undefined
  },

  "what the service's wallet has signed ends": ({ openTransactions }) =>
    openTransactions === 0 ? undefined : `${openTransactions} transactions of the relaying wallet are open`,

  "deliveries end": (look) => {
    const open = look.rows.flatMap(({ deliveries }) => deliveries).find(({ status }) => status === "pending")
    return open === undefined
      ? undefined
      : `delivery ${open.id} still waits after ${open.attempts.length} attempts`
  },

  "what counts as delivered was accepted": (look) => {
    for (const { id, status } of look.rows.flatMap(({ deliveries }) => deliveries))
      if (status === "delivered" && !look.posts.some((post) => post.id === id && post.accepted))
        return `delivery ${id} counts as delivered and no receiver has accepted it`
    return undefined
  }
}
