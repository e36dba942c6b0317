// Buyers in one browser or two, who follow the protocol: they announce, send as instructed, and report. Careless payers
// do not.
import { Deferred, Effect } from "effect"
import { checksumAddress } from "viem"
import { Address, type TransactionHash } from "../../src/domain/Chain.ts"
import type { Merchant } from "../../src/domain/Merchant.ts"
import { formatUsd } from "../../src/domain/Money.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import type { Cluster } from "./Cluster.ts"
import type { Ledger } from "./chain/Ledger.ts"
import type { Answer, Ask } from "./Door.ts"
import type { Draw } from "./Draw.ts"
import type { Nature } from "./Nature.ts"
import type { PaymentOf, Rows } from "./oracle/Look.ts"
import { type ReportAnswered, wrongInReportAnswer } from "./oracle/reportAnswer.ts"
import type { Plan } from "./Plan.ts"
import type { World } from "./World.ts"

export interface Shop {
  readonly merchant: Merchant
  readonly receiver: Address
  readonly secret: string
  readonly publishable: string
  readonly webhookSecret: string
}

/** A payment as the buyer knows it. */
export interface Purchase {
  readonly buyer: Address
  readonly amount: bigint
  readonly paymentId: string
  /** Transactions that the service has allowed the buyer to send. */
  readonly sent: Array<TransactionHash>
  /** Transactions that were not announced first. */
  readonly unannounced: Set<TransactionHash>
  /** Transactions whose nonce no node returned, with the chain's height when they were sent. */
  readonly withoutNonce: Map<TransactionHash, number>
  /** Nonces of the authorizations that the buyer has signed for it. */
  readonly nonces: Array<string>
  /** Nonces of authorizations that were handed in and got an answer. */
  readonly handedIn: Set<string>
}

export const purchaseOf = (of: Pick<Purchase, "buyer" | "amount" | "paymentId">): Purchase => ({
  ...of,
  sent: [],
  unannounced: new Set(),
  withoutNonce: new Map(),
  nonces: [],
  handedIn: new Set()
})

const { chainId, usdc } = moneyNetwork

/** A whole address from a number, in the service's spelling. */
export const addressOf = (number: number): Address =>
  Address.make(checksumAddress(`0x${number.toString(16).padStart(40, "5a")}`))

const wallets = [0xb1, 0xb2, 0xb3].map(addressOf)
export const thief = addressOf(0x7e)
export const careless = addressOf(0xca)
const lateBuyer = addressOf(0xb9)

export class People {
  readonly shop: Shop
  readonly draw: Draw
  readonly purchases: Array<Purchase> = []
  /** Requests that were answered with an internal error. */
  readonly failures: Array<string> = []
  /** Answers that were false. */
  readonly untrue: Array<string> = []
  /** Payments that somebody has tried to report. */
  readonly reported = new Set<string>()
  /** The rows as the oracle last read them. */
  rows: Rows | undefined
  /** Called for each settled payment whose transfer the service reports as lost. */
  onLost: (payment: PaymentOf) => void = () => {}
  /** Answers since the oracle last checked. */
  #unjudged: Array<Omit<ReportAnswered, "now">> = []
  readonly #world: World
  readonly #cluster: Cluster
  readonly #ledger: Ledger
  readonly #plan: Plan
  readonly #lost = new Set<string>()
  /** Waiters for a transfer to be stored, by its transaction. */
  readonly #waiting = new Map<string, Deferred.Deferred<void>>()

  constructor({ draw, ledger, plan, world }: Nature, cluster: Cluster, shop: Shop) {
    this.shop = shop
    this.draw = draw.of("people")
    this.#plan = plan
    this.#world = world
    this.#cluster = cluster
    this.#ledger = ledger
    for (const wallet of [...wallets, thief, careless, lateBuyer]) this.#ledger.fund(wallet, 1_000_000_000n)
  }

  ask(who: string, ask: Ask): Effect.Effect<Answer | undefined> {
    return Effect.suspend(() => {
      if (ask.do === "report") this.reported.add(ask.paymentId)
      const before = ask.do === "report" ? this.#paymentOf(ask.paymentId) : undefined
      return Effect.tap(this.#cluster.ask(who, ask), (answer) =>
        Effect.sync(() => {
          if (answer === undefined) return
          if (answer.status === 500) this.failures.push(ask.do)
          if (ask.do === "report") this.#unjudged.push({ ask, answer, before })
          if (ask.do !== "pay by signature" || answer.status >= 429) return
          const purchase = this.purchases.find(({ paymentId }) => paymentId === ask.paymentId)
          purchase?.handedIn.add(ask.authorization.nonce)
        })
      )
    })
  }

  #paymentOf(id: string): PaymentOf | undefined {
    return this.rows?.payments.find((payment) => payment.id === id)
  }

  /** The oracle has read these rows. */
  stored(rows: Rows): void {
    this.rows = rows
    for (const answered of this.#unjudged) {
      const wrong = wrongInReportAnswer({ ...answered, now: this.#paymentOf(answered.ask.paymentId) })
      if (wrong !== undefined) this.untrue.push(wrong)
    }
    this.#unjudged = []
    for (const payment of rows.payments.filter(({ id }) => rows.dropped.has(id) && !this.#lost.has(id))) {
      this.#lost.add(payment.id)
      this.onLost(payment)
    }
    for (const { transactionId } of rows.transfers) {
      const waiting = this.#waiting.get(transactionId)
      if (waiting === undefined) continue
      this.#waiting.delete(transactionId)
      Deferred.doneUnsafe(waiting, Effect.void)
    }
  }

  /** Waits until the service has read the transfer from the chain, at most a minute. */
  untilStored(hash: TransactionHash): Effect.Effect<void> {
    const waiting = Deferred.makeUnsafe<void>()
    this.#waiting.set(hash, waiting)
    return Effect.race(Deferred.await(waiting), Effect.sleep("1 minute"))
  }

  /** Repeats while there is no answer, or the answer says to try again. */
  insist(who: string, ask: Ask): Effect.Effect<Answer | undefined> {
    return Effect.gen({ self: this }, function* () {
      for (let tries = 0; tries < 12; tries++) {
        const answer = yield* this.ask(who, ask)
        if (answer !== undefined && answer.status < 429) return answer
        yield* Effect.sleep(this.draw.between(500, 3_000))
      }
      return undefined
    })
  }

  /** An intent of the shop, and the payment that the buyer opens with it. */
  open(who: string, amount: bigint): Effect.Effect<string | undefined> {
    const { publishable, secret } = this.shop
    return Effect.gen({ self: this }, function* () {
      const made = yield* this.insist("shop", { do: "create intent", key: secret, amount: formatUsd(amount) })
      const intentToken = made?.intentToken
      if (intentToken === undefined) return undefined
      const opened = yield* this.insist(who, { do: "open", key: publishable, intentToken })
      return opened?.payment?.id
    })
  }

  /** Signs and broadcasts; undefined if no node accepts it. */
  #send(purchase: Purchase, nonce: number | undefined): TransactionHash | undefined {
    const { buyer, sent, withoutNonce } = purchase
    const mined = this.#ledger.fork.nonceAt(buyer, this.#ledger.fork.height)
    const next = nonce ?? this.#ledger.pendingNonce(buyer)
    const waiting = this.#ledger.pool.find(({ nonce: used, sender }) => sender === buyer && used === next)
    const isOwn = waiting !== undefined && sent.includes(waiting.hash)
    if (next < mined || (waiting !== undefined && !isOwn)) return undefined
    const hash = this.#transfer(buyer, purchase.amount, { nonce: next, noise: this.draw.below(3) })
    sent.push(hash)
    if (nonce === undefined) withoutNonce.set(hash, this.#ledger.fork.height)
    return hash
  }

  /** A transfer to the shop. */
  #transfer(
    from: Address,
    amount: bigint,
    { noise = 0, nonce = this.#ledger.pendingNonce(from) }: { nonce?: number; noise?: number } = {}
  ): TransactionHash {
    const moves = [{ from, to: this.shop.receiver, amount }]
    const { hash } = this.#ledger.submit({ sender: from, nonce, moves, noise, reverts: false })
    this.#world.tell(from.slice(-4), `sends ${hash.slice(0, 10)} of ${formatUsd(amount)} with nonce ${nonce}`)
    return hash
  }

  reportOf(
    { amount, buyer, paymentId }: Purchase,
    transactionId: TransactionHash
  ): Extract<Ask, { do: "report" }> {
    // One wallet's page writes addresses in lower case.
    const written = (address: Address) =>
      buyer === wallets[1] ? Address.make(address.toLowerCase()) : address
    return {
      do: "report",
      key: this.shop.publishable,
      paymentId,
      buyerDidToken: `buyer:${buyer}:${paymentId}`,
      transactionId,
      tokenChanges: [
        {
          amountAtomic: amount.toString(),
          chainId,
          receiver: written(this.shop.receiver),
          tokenAddress: written(usdc.address)
        }
      ]
    }
  }

  /** One browser of the buyer, from the announcement until the buyer gives up. */
  pay(who: string, purchase: Purchase): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { buyer, paymentId } = purchase
      const ofPayment = { key: this.shop.publishable, paymentId } as const
      for (let tries = 0; tries < 4; tries++) {
        const attemptId = crypto.randomUUID()
        const buyerDidToken = `buyer:${buyer}:${paymentId}`
        const announced = yield* this.insist(who, {
          ...ofPayment,
          do: "announce",
          buyerDidToken,
          attemptId
        })
        if (announced?.status !== 201 && announced?.status !== 200) return
        // Some have to find their wallet first.
        yield* Effect.sleep(
          this.draw.chance(0.12) ? this.draw.between(20_000, 90_000) : this.draw.between(10, 6_000)
        )
        const { nonce } = announced
        const hash = this.#send(purchase, nonce === undefined || nonce === null ? undefined : Number(nonce))
        if (hash === undefined) {
          yield* this.insist(who, { ...ofPayment, do: "decline", attemptId })
          yield* Effect.sleep(this.draw.between(1_000, 10_000))
          continue
        }
        // Every third tab is closed before it reports.
        if (!this.draw.chance(0.33)) yield* this.#report(who, purchase, hash)
        return
      }
    })
  }

  /** Reports until the service has decided, or the tab is closed. */
  #report(who: string, purchase: Purchase, hash: TransactionHash): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      for (let looks = 0; looks < 15; looks++) {
        const answer = yield* this.ask(who, this.reportOf(purchase, hash))
        // From now on the service knows of an unannounced transfer.
        const knows = answer !== undefined && answer.status < 500 && answer.status !== 401
        if (knows && !purchase.sent.includes(hash)) purchase.sent.push(hash)
        if (answer?.status === 200 || answer?.status === 409) return
        if (this.draw.chance(0.07)) return
        yield* Effect.sleep(this.draw.between(700, 4_000))
      }
    })
  }

  /** From the wallet's own page, so that the service gets no request. */
  sendPlainly({ amount, buyer, unannounced }: Purchase): TransactionHash {
    const hash = this.#transfer(buyer, amount)
    unannounced.add(hash)
    return hash
  }

  /** A wallet, and the amount that its owner pays. */
  #pickBuyer(): Pick<Purchase, "buyer" | "amount"> {
    const [first = careless] = wallets
    if (this.#plan.oneWallet) return { buyer: first, amount: 1_000_000n }
    const buyer = wallets[this.draw.below(wallets.length)] ?? first
    return { buyer, amount: this.draw.pick([1_000_000n, 1_000_000n, 1_000_000n, 2_500_000n, 1n]) }
  }

  /** A buyer who opens a payment and pays it, perhaps from two browsers at once. */
  buy(number: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const who = `buyer ${number}`
      const { amount, buyer } = this.#pickBuyer()
      const paymentId = yield* this.open(who, amount)
      if (paymentId === undefined) return
      const purchase = purchaseOf({ buyer, amount, paymentId })
      this.purchases.push(purchase)
      this.#world.tell(who, `has opened ${paymentId} of ${formatUsd(amount)}`)
      // Some look, and leave.
      if (this.draw.chance(0.1)) return
      if (this.draw.chance(this.#plan.plain)) {
        yield* Effect.sleep(this.draw.between(10, 6_000))
        return yield* this.#report(who, purchase, this.sendPlainly(purchase))
      }
      // Some open the checkout only after the service has read their transfer.
      if (this.draw.chance(0.05)) yield* this.untilStored(this.sendPlainly(purchase))
      const browsers = this.draw.chance(0.3) ? [who, `${who}, second browser`] : [who]
      yield* Effect.all(
        browsers.map((browser) => this.pay(browser, purchase)),
        { concurrency: 2, discard: true }
      )
    })
  }

  /** After the faults have ended, each request is answered, and a transfer settles its payment. */
  readonly comeLate: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    const amount = 2_000_000n
    const paymentId = yield* this.open("late buyer", amount)
    if (paymentId === undefined) {
      this.untrue.push("once the faults have ceased, no payment can be opened")
      return
    }
    const purchase = purchaseOf({ buyer: lateBuyer, amount, paymentId })
    this.purchases.push(purchase)
    const hash = this.sendPlainly(purchase)
    for (let looks = 0; looks < 40; looks++) {
      const answer = yield* this.insist("late buyer", this.reportOf(purchase, hash))
      if (answer?.status === 200) return
      if (answer === undefined || answer.status >= 400)
        this.untrue.push(`once the faults have ceased, a report is answered ${answer?.status ?? "nothing"}`)
      yield* Effect.sleep("5 seconds")
    }
    this.untrue.push(`once the faults have ceased, ${hash} does not settle ${paymentId}`)
  })

  /** A transfer without an announcement. */
  readonly stray: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    yield* Effect.sleep(this.draw.between(0, 15_000))
    // The chain is read from the shop's first payment on.
    if (this.rows === undefined || this.rows.payments.length === 0) return
    this.#transfer(careless, this.draw.pick([1_000_000n, 123n]))
  })

  /** A person at the shop explains transfers that pay nothing. */
  readonly explainTransfers: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    for (let looks = 0; looks < 4; looks++) {
      yield* Effect.sleep(this.draw.between(2_000, 20_000))
      yield* this.ask("shop", { do: "explain a transfer", key: this.shop.secret, payer: careless })
    }
  })
}
