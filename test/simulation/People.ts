// Buyers in one browser or two, who keep to the protocol: they announce, send what they were told to, and report.
// Careless payers do not.
import { Deferred, Effect, type Semaphore } from "effect"
import { checksumAddress } from "viem"
import { Address, networks, type TransactionHash } from "../../src/domain/Chain.ts"
import type { Merchant } from "../../src/domain/Merchant.ts"
import { formatUsd } from "../../src/domain/Money.ts"
import type { Cluster } from "./Cluster.ts"
import type { Ledger } from "./chain/Ledger.ts"
import type { SimulatedNode } from "./chain/SimulatedNode.ts"
import type { Answer, Ask, Body } from "./Door.ts"
import type { Draw } from "./Draw.ts"
import type { PaymentOf, Rows } from "./oracle/Look.ts"
import { wrongInPayment } from "./oracle/paymentAnswer.ts"
import { type ReportAnswered, wrongInReportAnswer } from "./oracle/reportAnswer.ts"
import type { Plan } from "./Plan.ts"
import type { World } from "./World.ts"

export interface Shop {
  readonly name: string
  readonly merchant: Merchant
  readonly receiver: Address
  secret: string
  publishable: string
  readonly live: { readonly secret: string; readonly publishable: string }
  url: string
  /** Its people do one thing after the other. */
  readonly desk: Semaphore.Semaphore
}

/** A payment as the buyer knows it. */
export interface Purchase {
  readonly shop: Shop
  readonly buyer: Address
  readonly amount: bigint
  readonly paymentId: string
  /** Transactions that the service has let the buyer send. */
  readonly sent: Array<TransactionHash>
  /** Those that were not announced before. */
  readonly unannounced: Set<TransactionHash>
  /** Those sent with another nonce than their attempt's, or where no node said one, with the chain's height then. */
  readonly withoutNonce: Map<TransactionHash, number>
  /** Nonces of the authorizations that the buyer has signed for it. */
  readonly nonces: Array<string>
  /** Those that were handed in and answered. */
  readonly handedIn: Set<string>
}

export const purchaseOf = (of: Pick<Purchase, "shop" | "buyer" | "amount" | "paymentId">): Purchase => ({
  ...of,
  sent: [],
  unannounced: new Set(),
  withoutNonce: new Map(),
  nonces: [],
  handedIn: new Set()
})

const { chainId, usdc } = networks.test

/** A whole address from a number, spelled as the service spells it. */
export const addressOf = (number: number): Address =>
  Address.make(checksumAddress(`0x${number.toString(16).padStart(40, "5a")}`))

/** For so long the service may answer by what nodes have shown before, and some more. */
const rememberedMillis = 2_500

export class People {
  readonly purchases: Array<Purchase> = []
  /** What was answered as an internal error. */
  readonly failures: Array<string> = []
  /** Answers that were not true. */
  readonly untrue: Array<string> = []
  /** Payments that people were shown since the oracle last looked. */
  #shown: Array<NonNullable<Body["payment"]>> = []
  /** When a transfer was first seen to be deep enough, by its transaction. */
  readonly #deepSince = new Map<string, number>()
  /** Since the oracle last looked. */
  #unjudged: Array<Omit<ReportAnswered, "isHonest" | "now" | "receiver">> = []
  /** Payments that somebody has tried to report. */
  readonly reported = new Set<string>()
  readonly wallets: ReadonlyArray<Address>
  readonly #world: World
  readonly #cluster: Cluster
  readonly #ledger: Ledger
  readonly draw: Draw
  readonly #uuid: () => string
  readonly #plan: Plan
  readonly #nodes: ReadonlyArray<SimulatedNode>
  /** As the oracle last saw them. */
  rows: ReadonlyArray<Rows> = []
  /** Told of each settled payment whose transfer the service says to be gone. */
  onLost: (shop: Shop, payment: PaymentOf) => void = () => {}
  readonly #lost = new Set<string>()
  /** Shops that have a payment. */
  readonly #opened = new Set<Shop>()
  /** Who waits for a transfer to be stored, by its transaction. */
  readonly #waiting = new Map<string, Deferred.Deferred<void>>()

  constructor(around: {
    readonly world: World
    readonly cluster: Cluster
    readonly ledger: Ledger
    readonly draw: Draw
    readonly plan: Plan
    readonly nodes: ReadonlyArray<SimulatedNode>
  }) {
    this.#plan = around.plan
    this.#nodes = around.nodes
    this.#world = around.world
    this.#cluster = around.cluster
    this.#ledger = around.ledger
    this.draw = around.draw.of("people")
    this.#uuid = () => crypto.randomUUID()
    this.wallets = [0xb1, 0xb2, 0xb3].map(addressOf)
    for (const wallet of [...this.wallets, thief, careless, lateBuyer])
      this.#ledger.fund(wallet, 1_000_000_000n)
  }

  ask(who: string, ask: Ask): Effect.Effect<Answer | undefined> {
    return Effect.suspend(() => this.#ask(who, ask))
  }

  #ask(who: string, ask: Ask): Effect.Effect<Answer | undefined> {
    if (ask.do === "report") this.reported.add(ask.paymentId)
    const before = ask.do === "report" ? this.#paymentOf(ask.paymentId) : undefined
    const mustSettle = ask.do === "report" && this.#mustSettle(ask)
    return Effect.tap(this.#cluster.ask(who, ask), (answer) =>
      Effect.sync(() => {
        if (answer === undefined) return
        if (answer.status === 500) this.failures.push(ask.do)
        const { payment } = answer.body
        if (payment !== undefined) this.#shown.push(payment)
        if (ask.do === "report") this.#unjudged.push({ ask, answer, before, mustSettle })
        if (ask.do !== "pay by signature" || answer.status >= 429) return
        const purchase = this.purchases.find(({ paymentId }) => paymentId === ask.paymentId)
        purchase?.handedIn.add(ask.authorization.nonce)
      })
    )
  }

  #paymentOf(id: string): PaymentOf | undefined {
    return this.rows.flatMap(({ payments }) => payments).find((one) => one.id === id)
  }

  /** Nothing goes wrong, every node has shown the buyer's transfer deep enough for a while, and it pays nothing else. */
  #mustSettle(ask: Extract<Ask, { do: "report" }>): boolean {
    if (!this.#isDeep(ask)) return false
    const since = this.#deepSince.get(ask.transactionId) ?? this.#world.now
    this.#deepSince.set(ask.transactionId, since)
    return this.#world.now - since > rememberedMillis
  }

  #isDeep({ paymentId, transactionId }: Extract<Ask, { do: "report" }>): boolean {
    const purchase = this.purchases.find((one) => one.paymentId === paymentId)
    const { fork } = this.#ledger
    const found = fork.find(transactionId, fork.height)
    return (
      this.#plan.faults.size === 0 &&
      purchase?.sent.includes(transactionId) === true &&
      found?.mined.succeeded === true &&
      fork.height - found.block.number >= this.#plan.confirmations &&
      this.#nodes.every((node) => node.fork === fork && node.height === fork.height) &&
      this.#paymentOf(paymentId)?.status === "pending" &&
      this.purchases.filter(({ buyer, shop }) => buyer === purchase.buyer && shop === purchase.shop)
        .length === 1
    )
  }

  /** A wallet, and what its owner pays. */
  pickBuyer(draw: Draw): { readonly buyer: Address; readonly amount: bigint } {
    const buyer = this.wallets[draw.below(this.wallets.length)] ?? careless
    const amount = draw.pick([1_000_000n, 1_000_000n, 1_000_000n, 2_500_000n, 2_500_000n, 1n])
    const [first = buyer] = this.wallets
    return this.#plan.oneWallet ? { buyer: first, amount: 1_000_000n } : { buyer, amount }
  }

  /** The oracle has seen these rows. */
  stored(rows: ReadonlyArray<Rows>): void {
    this.rows = rows
    for (const one of this.#unjudged) {
      const id = one.ask.paymentId
      const receiver = rows.find(({ payments }) => payments.some((payment) => payment.id === id))?.shop
        .receiver
      const isHonest = this.purchases.some(({ paymentId }) => paymentId === id)
      const wrong = wrongInReportAnswer({ ...one, isHonest, receiver, now: this.#paymentOf(id) })
      if (wrong !== undefined) this.untrue.push(wrong)
    }
    this.#unjudged = []
    for (const shown of this.#shown) {
      const now = this.#paymentOf(shown.id)
      // Live ones are the intruder's.
      const wrong = now === undefined ? undefined : wrongInPayment(shown, now)
      if (wrong !== undefined) this.untrue.push(wrong)
    }
    this.#shown = []
    for (const { payments, shop } of rows) if (payments.length > 0) this.#opened.add(shop)
    for (const { dropped, payments, shop } of rows) {
      for (const payment of payments.filter(({ id }) => dropped.has(id) && !this.#lost.has(id))) {
        this.#lost.add(payment.id)
        this.onLost(shop, payment)
      }
    }
    if (this.#waiting.size === 0) return
    for (const { transactionId } of rows.flatMap(({ transfers }) => transfers)) {
      const waiting = this.#waiting.get(transactionId)
      if (waiting === undefined) continue
      this.#waiting.delete(transactionId)
      Deferred.doneUnsafe(waiting, Effect.void)
    }
  }

  /** Until the service has read the transfer from the chain, or for a minute. */
  untilStored(hash: TransactionHash): Effect.Effect<void> {
    const waiting = Deferred.makeUnsafe<void>()
    this.#waiting.set(hash, waiting)
    return Effect.race(Deferred.await(waiting), Effect.sleep("1 minute"))
  }

  /** Asks again while no answer comes, or one that asks to come again. */
  insist(who: string, ask: () => Ask, tries = 12): Effect.Effect<Answer | undefined> {
    return Effect.gen({ self: this }, function* () {
      for (let left = tries; left > 0; left--) {
        const answer = yield* this.ask(who, ask())
        if (answer !== undefined && answer.status < 429) return answer
        yield* Effect.sleep(this.draw.between(500, 3_000))
      }
      return undefined
    })
  }

  /** An intent of the shop, and the payment that the buyer opens with it. */
  open(who: string, shop: Shop, amount: bigint): Effect.Effect<string | undefined> {
    return Effect.gen({ self: this }, function* () {
      const made = yield* this.insist(shop.name, () => ({
        do: "create intent",
        key: shop.secret,
        amount: formatUsd(amount)
      }))
      const intentToken = made?.body.intentToken
      if (intentToken === undefined) return undefined
      const opened = yield* this.insist(who, () => ({ do: "open", key: shop.publishable, intentToken }))
      return opened?.body.payment?.id
    })
  }

  /** Signs and broadcasts; undefined where no node would take it. */
  #send(purchase: Purchase, nonce: number | undefined): TransactionHash | undefined {
    const { amount, buyer, paymentId, sent, shop, withoutNonce } = purchase
    const mined = this.#ledger.fork.nonceAt(buyer, this.#ledger.fork.height)
    const next = nonce ?? this.#ledger.pendingNonce(buyer)
    const waiting = this.#ledger.pool.find(({ nonce: used, sender }) => sender === buyer && used === next)
    const isOwn = waiting !== undefined && sent.includes(waiting.hash)
    if (next < mined || (waiting !== undefined && !isOwn)) return undefined
    const { hash } = this.#ledger.submit({
      sender: buyer,
      nonce: next,
      moves: [{ from: buyer, to: shop.receiver, amount }],
      noise: this.draw.below(3),
      reverts: false
    })
    sent.push(hash)
    if (nonce === undefined) withoutNonce.set(hash, this.#ledger.fork.height)
    this.#world.tell(buyer.slice(0, 6), `sends ${hash.slice(0, 10)} with nonce ${next} for ${paymentId}`)
    return hash
  }

  reportOf(
    { amount, buyer, paymentId, shop }: Purchase,
    transactionId: TransactionHash
  ): Extract<Ask, { do: "report" }> {
    // One wallet's page writes addresses without the checksum's letters.
    const written = (address: Address) =>
      buyer === this.wallets[1] ? Address.make(address.toLowerCase()) : address
    return {
      do: "report",
      key: shop.publishable,
      paymentId,
      buyerDidToken: `buyer:${buyer}:${paymentId}`,
      transactionId,
      tokenChanges: [
        {
          amountAtomic: amount.toString(),
          chainId,
          receiver: written(shop.receiver),
          tokenAddress: written(usdc.address)
        }
      ]
    }
  }

  /** One browser of the buyer, from the announcement to the end of the buyer's patience. */
  pay(who: string, purchase: Purchase): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { buyer, paymentId, shop } = purchase
      for (let tries = 0; tries < 4; tries++) {
        const attemptId = this.#uuid()
        const announced = yield* this.insist(who, () => ({
          do: "announce",
          key: shop.publishable,
          paymentId,
          buyerDidToken: `buyer:${buyer}:${paymentId}`,
          attemptId
        }))
        if (announced?.status !== 201 && announced?.status !== 200) return
        // Some have to find their wallet first.
        yield* Effect.sleep(
          this.draw.chance(0.12) ? this.draw.between(20_000, 90_000) : this.draw.between(10, 6_000)
        )
        const hash = this.#send(purchase, announced.body.attempt?.nonce)
        if (hash === undefined) {
          yield* this.insist(who, () => ({ do: "decline", key: shop.publishable, paymentId, attemptId }))
          yield* Effect.sleep(this.draw.between(1_000, 10_000))
          continue
        }
        // Every third tab is closed before it reports.
        if (this.draw.chance(0.33)) return
        for (let looks = 0; looks < 15; looks++) {
          const answer = yield* this.ask(who, this.reportOf(purchase, hash))
          if (answer?.status === 200 || answer?.status === 409) return
          if (this.draw.chance(0.07)) return
          yield* Effect.sleep(this.draw.between(700, 4_000))
        }
        return
      }
    })
  }

  /** From the wallet's own page: the service hears nothing of it. */
  sendPlainly(who: string, { amount, buyer, shop, unannounced }: Purchase): TransactionHash {
    const { hash } = this.#ledger.submit({
      sender: buyer,
      nonce: this.#ledger.pendingNonce(buyer),
      moves: [{ from: buyer, to: shop.receiver, amount }],
      noise: 0,
      reverts: false
    })
    unannounced.add(hash)
    this.#world.tell(who, `sends ${hash.slice(0, 10)} unannounced`)
    return hash
  }

  #reportPlainly(who: string, purchase: Purchase, hash: TransactionHash): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      for (let looks = 0; looks < 20; looks++) {
        const answer = yield* this.ask(who, this.reportOf(purchase, hash))
        // From now on the service knows of it.
        const knows = answer !== undefined && answer.status < 500 && answer.status !== 401
        if (knows && !purchase.sent.includes(hash)) purchase.sent.push(hash)
        if (answer?.status === 200 || answer?.status === 409) return
        yield* Effect.sleep(this.draw.between(1_000, 6_000))
      }
    })
  }

  /** Without the checkout: sends, and tells the service until it answers. */
  #payPlainly(who: string, purchase: Purchase): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      yield* Effect.sleep(this.draw.between(10, 6_000))
      yield* this.#reportPlainly(who, purchase, this.sendPlainly(who, purchase))
    })
  }

  /** Sends from the wallet, and opens the checkout when the service has read it. */
  #payBeforehand(who: string, purchase: Purchase): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const hash = this.sendPlainly(who, purchase)
      yield* this.untilStored(hash)
      yield* this.pay(who, purchase)
    })
  }

  /** A buyer who opens a payment and pays it, perhaps from two browsers at once. */
  buy(shop: Shop, number: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { amount, buyer } = this.pickBuyer(this.draw)
      const who = `buyer ${number}`
      const paymentId = yield* this.open(who, shop, amount)
      if (paymentId === undefined) return
      const purchase = purchaseOf({ shop, buyer, amount, paymentId })
      this.purchases.push(purchase)
      this.#world.tell(who, `has opened ${paymentId} of ${formatUsd(amount)} at ${shop.name}`)
      // Some look and go away.
      if (this.draw.chance(0.1)) return
      if (this.draw.chance(this.#plan.plain)) return yield* this.#payPlainly(who, purchase)
      if (this.draw.chance(0.05)) return yield* this.#payBeforehand(who, purchase)
      yield* this.draw.chance(0.3)
        ? Effect.all([this.pay(who, purchase), this.pay(`${who}, second browser`, purchase)], {
            concurrency: 2,
            discard: true
          })
        : this.pay(who, purchase)
    })
  }

  /** Once the faults have ceased, each request is answered, and who pays is served. */
  comeLate(shop: Shop): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const who = "late buyer"
      const served = (answer: Answer | undefined, what: string) => {
        // A key may have been rotated by a request whose answer was lost.
        if (answer === undefined || (answer.status >= 400 && answer.status !== 401))
          this.untrue.push(`once the faults have ceased, ${what} is answered ${answer?.status ?? "nothing"}`)
        return answer?.body
      }
      const amount = 2_000_000n
      const ask = { do: "create intent", key: shop.secret, amount: formatUsd(amount) } as const
      const intentToken = served(yield* this.insist(who, () => ask), ask.do)?.intentToken
      if (intentToken === undefined) return
      const opening = { do: "open", key: shop.publishable, intentToken } as const
      const paymentId = served(yield* this.insist(who, () => opening), opening.do)?.payment?.id
      if (paymentId === undefined) return
      const purchase = purchaseOf({ shop, buyer: lateBuyer, amount, paymentId })
      this.purchases.push(purchase)
      const hash = this.sendPlainly(who, purchase)
      for (let looks = 0; looks < 40; looks++) {
        const answer = yield* this.insist(who, () => this.reportOf(purchase, hash))
        served(answer, "a report")
        if (answer?.status === 200 || answer?.status === 401) return
        yield* Effect.sleep("5 seconds")
      }
      this.untrue.push(`once the faults have ceased, ${hash} does not settle ${paymentId}`)
    })
  }

  /** A transfer that nobody announced, to a shop that has payments. */
  stray(shop: Shop): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      yield* Effect.sleep(this.draw.between(0, 15_000))
      if (!this.#opened.has(shop)) return
      const amount = this.draw.pick([1_000_000n, 123n])
      this.#ledger.submit({
        sender: careless,
        nonce: this.#ledger.pendingNonce(careless),
        moves: [{ from: careless, to: shop.receiver, amount }],
        noise: 0,
        reverts: false
      })
      this.#world.tell("careless", `sends ${formatUsd(amount)} to ${shop.name} unasked`)
    })
  }
}

export const thief = addressOf(0x7e)
export const careless = addressOf(0xca)
const lateBuyer = addressOf(0xb9)
