// Who pays by signature: buyers without gas, agents, and those who sign for a wallet that is not theirs.
import { Effect } from "effect"
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { Address, networks } from "../../src/domain/Chain.ts"
import { formatUsd } from "../../src/domain/Money.ts"
import { type Authorization, type SignedAuthorization, typedDataOf } from "../../src/x402/Authorization.ts"
import type { Ledger } from "./chain/Ledger.ts"
import type { Draw } from "./Draw.ts"
import { type People, type Purchase, purchaseOf, type Shop } from "./People.ts"
import type { Plan } from "./Plan.ts"
import { SimulatedAgents } from "./Signers/SimulatedAgents.ts"
import { Strangers } from "./Signers/Strangers.ts"
import type { World } from "./World.ts"

/** Wallets without gas. */
export const accounts: ReadonlyArray<PrivateKeyAccount> = [1, 2, 3].map((number) =>
  privateKeyToAccount(`0x${number.toString(16).padStart(64, "0")}`)
)

export class Signers {
  readonly agents: SimulatedAgents
  /** Nonces that somebody else has signed in a wallet's name. */
  readonly forged = new Set<string>()
  readonly #world: World
  readonly #people: People
  readonly #strangers: Strangers
  readonly #plan: Plan
  readonly #draw: Draw

  constructor(world: World, people: People, ledger: Ledger, plan: Plan, draw: Draw) {
    this.#world = world
    this.#people = people
    this.#plan = plan
    this.#draw = draw.of("signers")
    this.#strangers = new Strangers(world, ledger, this.#draw)
    this.agents = new SimulatedAgents(world, people, ledger, this.#strangers, this.#draw)
    for (const { address } of accounts) ledger.fund(Address.make(address), 1_000_000_000n)
  }

  /** One of those who have come to pay at a shop. */
  come(shop: Shop, number: number): Effect.Effect<void> {
    const who = `signer ${number}`
    const buys = () => this.#buyBySignature(who, shop)
    const others = [
      buys,
      buys,
      () => this.agents.buyByAgent(who, shop),
      () => this.agents.useResource(who, shop)
    ] as const
    // Where the wallet is often empty it is buyers who come, whose settlements are retried when they ask again.
    const pays = this.#isShort && this.#draw.chance(0.7) ? buys : this.#draw.pick(others)
    const forges = this.#draw.chance(0.3)
      ? this.#draw.pick([
          () => this.#forge(who, shop),
          () => this.agents.payElsewhere(who, shop),
          () => this.agents.writeOddly(who, shop)
        ])()
      : Effect.void
    return Effect.all([pays(), forges, this.#draw.chance(0.3) ? this.agents.pause(shop) : Effect.void], {
      concurrency: 2,
      discard: true
    })
  }

  get #isShort(): boolean {
    return this.#plan.faults.has("the relaying wallet is empty")
  }

  /** Signs for a wallet of which it has no key. */
  #forge(who: string, shop: Shop): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const [owner, forger] = accounts
      const paymentId = yield* this.#people.open(who, shop, 1_000_000n)
      if (owner === undefined || forger === undefined || paymentId === undefined) return
      const purchase = purchaseOf({ shop, buyer: Address.make(owner.address), amount: 1_000_000n, paymentId })
      const terms = yield* this.#readTerms(who, purchase)
      if (terms === undefined) return
      const signature = yield* Effect.promise(() => forger.signTypedData(typedDataOf(networks.test, terms)))
      this.forged.add(terms.nonce)
      yield* this.#handIn(who, purchase, { ...terms, signature }, 3)
    })
  }

  /** A buyer without gas, perhaps with a second browser that pays by signature or by transfer. */
  #buyBySignature(who: string, shop: Shop): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const account = accounts[this.#draw.below(accounts.length)]
      const amount = this.#draw.pick([1_000_000n, 2_500_000n])
      const paymentId = yield* this.#people.open(who, shop, amount)
      if (account === undefined || paymentId === undefined) return
      const buyer = Address.make(account.address)
      const purchase = purchaseOf({ shop, buyer, amount, paymentId })
      this.#people.purchases.push(purchase)
      this.#world.tell(who, `has opened ${paymentId} of ${formatUsd(amount)} at ${shop.name}, to sign`)
      const sign = (browser: string, mayLeak: boolean, tries = mayLeak ? 8 : 2) =>
        this.#sign(browser, purchase, account, mayLeak, tries)
      const pay = this.#people.pay(who, purchase)
      const other = `${who}, second browser`
      // Hands it in a few times, pays from the wallet's own page, and comes back when that has arrived.
      const impatient = () =>
        Effect.flatMap(sign(who, false, 3), (refused) =>
          refused === undefined
            ? Effect.void
            : Effect.suspend(() => this.#people.untilStored(this.#people.sendPlainly(who, purchase))).pipe(
                Effect.andThen(this.#handIn(who, purchase, refused, 8)),
                Effect.asVoid
              )
        )
      const leaves = () => Effect.asVoid(sign(who, false, 1))
      if (this.#isShort && this.#draw.chance(0.7)) return yield* this.#draw.pick([impatient, leaves])()
      // A transfer beside a signature that strangers have is the buyer's own loss: nobody can hold it back.
      yield* this.#draw.pick([
        () => sign(who, true),
        () => sign(who, true),
        () => Effect.all([sign(who, true), sign(other, true)], { concurrency: 2, discard: true }),
        () =>
          Effect.all([sign(who, false), this.#people.pay(other, purchase)], {
            concurrency: 2,
            discard: true
          }),
        // Where the service does not relay it at once, by a transfer: the first browser goes on asking.
        () =>
          Effect.flatMap(sign(who, false), (refused) =>
            refused === undefined
              ? Effect.void
              : Effect.all([this.#handIn(who, purchase, refused, 8), pay], { concurrency: 2, discard: true })
          ),
        impatient,
        // From the wallet first, as one who does not trust the page.
        () =>
          Effect.suspend(() => this.#people.untilStored(this.#people.sendPlainly(who, purchase))).pipe(
            Effect.andThen(sign(who, false)),
            Effect.asVoid
          )
      ])()
    })
  }

  /** Looks again for a while where nothing would be relayed. */
  #readTerms(
    who: string,
    { buyer: payer, paymentId, shop }: Purchase
  ): Effect.Effect<Authorization | undefined> {
    return Effect.gen({ self: this }, function* () {
      for (let looks = 0; looks < 4; looks++) {
        const told = yield* this.#people.insist(who, () => ({
          do: "read terms",
          key: shop.publishable,
          paymentId,
          payer
        }))
        const terms = told?.signing?.terms
        if (terms !== undefined) return terms
        yield* Effect.sleep(this.#draw.between(1_000, 6_000))
      }
      return undefined
    })
  }

  /**
   * One browser: asks for the terms, signs them, and hands the signature in until it hears that the payment is paid.
   * The signature, where it does not hear that.
   */
  #sign(
    who: string,
    purchase: Purchase,
    account: PrivateKeyAccount,
    mayLeak: boolean,
    tries: number
  ): Effect.Effect<SignedAuthorization | undefined> {
    const { paymentId } = purchase
    return Effect.gen({ self: this }, function* () {
      const terms = yield* this.#readTerms(who, purchase)
      if (terms === undefined) return undefined
      yield* Effect.sleep(this.#draw.between(500, 9_000))
      const signature = yield* Effect.promise(() => account.signTypedData(typedDataOf(networks.test, terms)))
      const authorization: SignedAuthorization = { ...terms, signature }
      if (!purchase.nonces.includes(terms.nonce)) purchase.nonces.push(terms.nonce)
      this.#world.tell(who, `signs ${terms.nonce.slice(0, 10)} for ${paymentId}`)
      if (mayLeak && (yield* this.#strangers.use(authorization)) && this.#draw.chance(0.5))
        // The buyer's browser is slow: what others have used is read before it comes to the service.
        yield* Effect.sleep(this.#draw.between(15_000, 60_000))
      const isPaid = yield* this.#handIn(who, purchase, authorization, tries)
      return isPaid ? undefined : authorization
    })
  }

  #handIn(
    who: string,
    { paymentId, shop }: Purchase,
    authorization: SignedAuthorization,
    mostTries: number
  ): Effect.Effect<boolean> {
    return Effect.gen({ self: this }, function* () {
      for (let tries = 0; tries < mostTries; tries++) {
        const answer = yield* this.#people.ask(who, {
          do: "pay by signature",
          key: shop.publishable,
          paymentId,
          authorization
        })
        if (answer?.status === 200) return answer.body.payment?.status === "settled"
        if (this.#draw.chance(0.15)) return false
        yield* Effect.sleep(this.#draw.between(1_000, 8_000))
      }
      return false
    })
  }
}
