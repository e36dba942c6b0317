// What must hold after every step that changes a row. To add an invariant, write it here: it answers what is wrong,
// or undefined.
import type { Address } from "../../../src/domain/Chain.ts"
import type { Ledger } from "../chain/Ledger.ts"
import {
  clockToleranceMillis,
  type Invariant,
  type Look,
  type PaymentOf,
  paymentsOf,
  type Rows,
  settlementsOf,
  type TransferOf
} from "./Look.ts"

/** How many transfers of a transaction are exactly these. */
const equalMoves = (ledger: Ledger, hash: string, payer: Address, receiver: Address, amount: bigint) =>
  (ledger.transactions.get(hash)?.moves ?? []).filter(
    (move) =>
      move.token === undefined && move.from === payer && move.to === receiver && move.amount === amount
  ).length

const shownBy = (payment: PaymentOf) =>
  `${payment.status} ${payment.settledAt?.getTime()} ${payment.reported?.evidence.transactionId} ${payment.reported?.evidence.payer}`

const retryMillis = [60_000, 240_000]

/** Money of the payer's that may be meant for the payment, and that nobody has explained. */
const unexplained = ({ transfers }: Rows, payment: PaymentOf, payer: string): ReadonlyArray<TransferOf> =>
  transfers.filter(
    (one) =>
      one.payer === payer &&
      one.amount === payment.amount &&
      one.paymentId === null &&
      one.droppedAt === null &&
      one.handledAt === null &&
      one.blockTime.getTime() > payment.createdAt.getTime() - clockToleranceMillis
  )

/** A transaction offers twice the price; a replacement that, or a quarter more than what the price has overtaken. */
const mostOffered = 3n

/** The shop's rows, with what was true of it before. */
const changesOf = function* (look: Look) {
  for (const rows of look.rows) {
    const before = look.rowsBefore.find(({ shop }) => shop === rows.shop)
    if (before !== undefined) yield { rows, before }
  }
}

/** What waited in the look before, and waits. */
const stillIn = (before: ReadonlyArray<TransferOf>, now: ReadonlyArray<TransferOf>) =>
  now.filter(({ transactionId }) => before.some((one) => one.transactionId === transactionId))

/** For so long nodes are asked who sent a transfer. */
const senderPatienceMillis = 10 * 60_000

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

  // A reorganisation may take blocks away while they are counted.
  "a settlement is as deep as it must be": (look) => {
    const { board, confirmations, ledger } = look
    if (board.has("a node lies") || board.has("the chain is reorganised")) return undefined
    for (const { payment } of paymentsOf(look)) {
      if (payment.status !== "settled" || look.before.get(payment.id)?.status === "settled") continue
      const hash = payment.reported?.evidence.transactionId ?? ""
      const found = ledger.fork.find(hash, ledger.fork.height)
      if (found !== undefined && ledger.fork.height - found.block.number < confirmations)
        return `payment ${payment.id} is settled by ${hash} in block ${found.block.number} of ${ledger.fork.height}`
    }
    return undefined
  },

  // Nodes that stand still show no height that tells what is older, and a clock that is wrong no time.
  "what came before a payment does not settle it": (look) => {
    const { board, skewMillis } = look
    if (skewMillis > 0 || board.has("a node stands still") || board.has("the chain is reorganised"))
      return undefined
    for (const { payment } of paymentsOf(look)) {
      const older = look.thief.older.get(payment.id)
      if (older !== undefined && payment.reported?.evidence.transactionId === older)
        return `payment ${payment.id} is settled by ${older}, which was sent before`
    }
    return undefined
  },

  "what is wrong is refused": ({ thief }) => thief.gotAway[0],

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

  // Of two equal payments of one wallet: its nonce tells which, where a node says who sent the transfer.
  "a transfer pays the payment that it was announced for": (look) => {
    if (look.board.has("a node lies")) return undefined
    for (const { before, rows } of changesOf(look))
      for (const { id, reported, settledAt, status } of rows.payments) {
        if (status !== "settled" || reported === null || look.before.get(id)?.status !== "pending") continue
        const { payer, transactionId } = reported.evidence
        const meant = look.people.purchases.find(({ sent }) => sent.includes(transactionId))
        if (meant === undefined || meant.paymentId === id || meant.withoutNonce.has(transactionId)) continue
        if (look.before.get(meant.paymentId)?.status !== "pending") continue
        const nonce = look.ledger.transactions.get(transactionId)?.nonce
        const named = before.attempts.filter(
          (one) => one.payer === payer && one.nonce !== null && Number(one.nonce) === nonce
        )
        if (!named.some(({ paymentId }) => paymentId === meant.paymentId)) continue
        const found = look.ledger.fork.find(transactionId, look.ledger.fork.height)
        const age = (settledAt?.getTime() ?? 0) - (found?.block.time ?? 0) * 1_000
        if (age < senderPatienceMillis && !named.some(({ paymentId }) => paymentId === id))
          return `${transactionId} was announced for ${meant.paymentId} and has settled ${id}`
      }
    return undefined
  },

  "nobody is told to pay while their money is to be matched": (look) => {
    for (const { before, rows } of changesOf(look))
      for (const { paymentId, payer, since } of rows.attempts) {
        const wasOpen = before.attempts.some(
          (one) =>
            one.paymentId === paymentId && one.payer === payer && one.since.getTime() === since.getTime()
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

  // What is announced for an equal payment is that one's.
  "no authorization is taken beside its payer's own transfer": (look) => {
    for (const { before, rows } of changesOf(look))
      for (const { id, nonce, paymentId, payer } of rows.settlements) {
        const payment = rows.payments.find((one) => one.id === paymentId)
        if (payment === undefined || before.settlements.some((one) => one.id === id)) continue
        const isAlone =
          look.people.purchases.filter(({ amount, buyer }) => amount === payment.amount && buyer === payer)
            .length === 1
        const [own] = stillIn(unexplained(before, payment, payer), unexplained(rows, payment, payer)).filter(
          ({ transactionId }) => look.ledger.transactions.get(transactionId)?.spending === undefined
        )
        if (isAlone && own !== undefined)
          return `${nonce} was taken for ${paymentId} beside ${own.transactionId} of its payer`
      }
    return undefined
  },

  "nothing is sent for a payment that is closed": (look) => {
    for (const { before, rows } of changesOf(look))
      for (const { id, nonce, paymentId, sent } of rows.settlements) {
        const status = before.payments.find((one) => one.id === paymentId)?.status
        if (!sent || before.settlements.some((one) => one.id === id && one.sent)) continue
        if (status === "settled" || status === "failed")
          return `${nonce} was sent for ${paymentId}, which had ${status} before`
      }
    return undefined
  },

  "no payment expires while its authorization is on its way": (look) => {
    for (const { before, rows } of changesOf(look))
      for (const { failureReason, id } of rows.payments) {
        if (failureReason !== "expired" || look.before.get(id)?.status !== "pending") continue
        const pending = rows.settlements.find((one) => one.paymentId === id && one.status === "pending")
        if (pending !== undefined && before.settlements.some((one) => one.id === pending.id))
          return `${id} has expired while ${pending.nonce} was pending`
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

  "the wallet offers what the chain asks": ({ ledger }) => {
    for (const { gas, hash, sender } of ledger.pool)
      if (sender === ledger.relayer && gas !== undefined && gas.maxFee > mostOffered * ledger.highestPrice)
        return `${hash} offers ${gas.maxFee} wei, where no block has asked more than ${ledger.highestPrice}`
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
