// Buyers without gas, who sign; strangers who use their signatures; and a forger who signs for others' wallets.
import { Effect } from "effect"
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { Address } from "../../src/domain/Chain.ts"
import { formatUsd } from "../../src/domain/Money.ts"
import { type Authorization, type SignedAuthorization, typedDataOf } from "../../src/x402/Authorization.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import type { Ledger } from "./chain/Ledger.ts"
import type { Draw } from "./Draw.ts"
import type { Nature } from "./Nature.ts"
import { addressOf, type People, type Purchase, purchaseOf } from "./People.ts"
import type { Plan } from "./Plan.ts"
import type { World } from "./World.ts"

/** Wallets without gas. */
const accounts: ReadonlyArray<PrivateKeyAccount> = [1, 2, 3].map((number) =>
  privateKeyToAccount(`0x${number.toString(16).padStart(64, "0")}`)
)

const stranger = addressOf(0x57)

/** May submit an authorization to the chain, as anybody who sees it can; returns whether somebody has. */
type Stranger = (authorization: SignedAuthorization) => Effect.Effect<boolean>

const strangerOf =
  (world: World, ledger: Ledger, draw: Draw): Stranger =>
  ({ from, nonce, to, validAfter, validBefore, value }) =>
    Effect.gen(function* () {
      if (!draw.chance(0.2)) return false
      yield* Effect.sleep(draw.between(0, 6_000))
      ledger.submit({
        sender: stranger,
        nonce: ledger.pendingNonce(stranger),
        moves: [{ from, to, amount: value }],
        noise: 0,
        reverts: false,
        spending: { payer: from, nonce, cancels: false, validAfter, validBefore }
      })
      world.tell("stranger", `uses ${nonce.slice(0, 10)}`)
      return true
    })

export class Signers {
  /** Nonces that a forger has signed in a wallet's name. */
  readonly forged = new Set<string>()
  readonly #world: World
  readonly #people: People
  readonly #stranger: Stranger
  readonly #plan: Plan
  readonly #draw: Draw

  constructor({ draw, ledger, plan, world }: Nature, people: People) {
    this.#world = world
    this.#people = people
    this.#plan = plan
    this.#draw = draw.of("signers")
    this.#stranger = strangerOf(world, ledger, this.#draw)
    for (const { address } of accounts) ledger.fund(Address.make(address), 1_000_000_000n)
  }

  /** One of the signers comes to pay. */
  come(number: number): Effect.Effect<void> {
    const who = `signer ${number}`
    const forges = this.#draw.chance(0.2) ? this.#forge(who) : Effect.void
    return Effect.all([this.#buyBySignature(who), forges], { concurrency: 2, discard: true })
  }

  get #isShort(): boolean {
    return this.#plan.faults.has("the relaying wallet is empty")
  }

  /** Signs for a wallet without its key. */
  #forge(who: string): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const [owner, forger] = accounts
      const amount = 1_000_000n
      const paymentId = yield* this.#people.open(who, amount)
      if (owner === undefined || forger === undefined || paymentId === undefined) return
      const purchase = purchaseOf({ buyer: Address.make(owner.address), amount, paymentId })
      const terms = yield* this.#readTerms(who, purchase)
      if (terms === undefined) return
      const signature = yield* Effect.promise(() => forger.signTypedData(typedDataOf(moneyNetwork, terms)))
      this.forged.add(terms.nonce)
      yield* this.#handIn(who, purchase, { ...terms, signature }, 3)
    })
  }

  /** A buyer without gas, perhaps with a second browser that pays by signature or by transfer. */
  #buyBySignature(who: string): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const account = accounts[this.#draw.below(accounts.length)]
      const amount = this.#draw.pick([1_000_000n, 2_500_000n])
      const paymentId = yield* this.#people.open(who, amount)
      if (account === undefined || paymentId === undefined) return
      const buyer = Address.make(account.address)
      const purchase = purchaseOf({ buyer, amount, paymentId })
      this.#people.purchases.push(purchase)
      this.#world.tell(who, `has opened ${paymentId} of ${formatUsd(amount)}, to sign`)
      const sign = (browser: string, mayLeak: boolean, tries = mayLeak ? 8 : 2) =>
        this.#sign(browser, purchase, account, mayLeak, tries)
      const other = `${who}, second browser`
      const together = (one: Effect.Effect<unknown>, another: Effect.Effect<unknown>) =>
        Effect.all([one, another], { concurrency: 2, discard: true })
      const sendPlainly = Effect.suspend(() => this.#people.untilStored(this.#people.sendPlainly(purchase)))
      /** Signs, and runs `rest` if the service has not accepted the signature. */
      const orElse = (tries: number, rest: (refused: SignedAuthorization) => Effect.Effect<unknown>) =>
        Effect.flatMap(sign(who, false, tries), (refused) =>
          refused === undefined ? Effect.void : Effect.asVoid(rest(refused))
        )
      // Pays from the wallet's own page, and returns when the transfer has arrived.
      const impatient = () =>
        orElse(3, (refused) => Effect.andThen(sendPlainly, this.#handIn(who, purchase, refused, 8)))
      const leaves = () => Effect.asVoid(sign(who, false, 1))
      if (this.#isShort && this.#draw.chance(0.7)) return yield* this.#draw.pick([impatient, leaves])()
      // A transfer besides a signature that strangers have is the buyer's own loss: nobody can prevent it.
      yield* this.#draw.pick<() => Effect.Effect<unknown>>([
        () => sign(who, true),
        () => sign(who, true),
        () => together(sign(who, true), sign(other, true)),
        () => together(sign(who, false), this.#people.pay(other, purchase)),
        // By a transfer, while the first browser keeps asking.
        () =>
          orElse(2, (refused) =>
            together(this.#handIn(who, purchase, refused, 8), this.#people.pay(who, purchase))
          ),
        impatient,
        () => Effect.andThen(sendPlainly, sign(who, false))
      ])()
    })
  }

  /** Polls for a while if nothing would be relayed. */
  #readTerms(who: string, { buyer: payer, paymentId }: Purchase): Effect.Effect<Authorization | undefined> {
    const ask = { do: "read terms", key: this.#people.shop.publishable, paymentId, payer } as const
    return Effect.gen({ self: this }, function* () {
      for (let looks = 0; looks < 4; looks++) {
        const terms = (yield* this.#people.insist(who, ask))?.terms
        if (terms !== undefined) return terms
        yield* Effect.sleep(this.#draw.between(1_000, 6_000))
      }
      return undefined
    })
  }

  /**
   * One browser: reads the terms, signs them, and hands the signature in until the payment is paid. Returns the
   * signature if that does not happen.
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
      const signature = yield* Effect.promise(() => account.signTypedData(typedDataOf(moneyNetwork, terms)))
      const authorization: SignedAuthorization = { ...terms, signature }
      if (!purchase.nonces.includes(terms.nonce)) purchase.nonces.push(terms.nonce)
      this.#world.tell(who, `signs ${terms.nonce.slice(0, 10)} for ${paymentId}`)
      if (mayLeak && (yield* this.#stranger(authorization)) && this.#draw.chance(0.5))
        // The buyer's browser is slow: the service reads what others have used before the signature arrives.
        yield* Effect.sleep(this.#draw.between(15_000, 60_000))
      const isPaid = yield* this.#handIn(who, purchase, authorization, tries)
      return isPaid ? undefined : authorization
    })
  }

  #handIn(
    who: string,
    { paymentId }: Purchase,
    authorization: SignedAuthorization,
    mostTries: number
  ): Effect.Effect<boolean> {
    const { publishable: key } = this.#people.shop
    const ask = { do: "pay by signature", key, paymentId, authorization } as const
    return Effect.gen({ self: this }, function* () {
      for (let tries = 0; tries < mostTries; tries++) {
        const answer = yield* this.#people.ask(who, ask)
        if (answer?.status === 200) return answer.payment?.status === "settled"
        if (this.#draw.chance(0.15)) return false
        yield* Effect.sleep(this.#draw.between(1_000, 8_000))
      }
      return false
    })
  }
}
