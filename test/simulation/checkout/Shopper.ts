// A buyer who pays with the checkout itself: in one tab or more, in one browser or two, who reloads, closes and
// comes back. The requests of the checkout become those of the simulation's door.
import { Effect, Schema } from "effect"
import { readIntentToken } from "../../../src/checkout/component/intentToken.ts"
import type { Action } from "../../../src/checkout/component/Message.ts"
import type { Model } from "../../../src/checkout/component/Model.ts"
import { Address, networks, TransactionHash } from "../../../src/domain/Chain.ts"
import { errorCodes } from "../../../src/domain/ErrorCode.ts"
import { formatUsd } from "../../../src/domain/Money.ts"
import { refusalOf } from "../../../src/relaying/refusalOf.ts"
import { type Authorization, type SignedAuthorization, typedDataOf } from "../../../src/x402/Authorization.ts"
import type { Ledger } from "../chain/Ledger.ts"
import type { SimulatedNode } from "../chain/SimulatedNode.ts"
import type { Answer, Ask } from "../Door.ts"
import type { Draw } from "../Draw.ts"
import { type People, purchaseOf, type Shop } from "../People.ts"
import { accounts } from "../Signers.ts"
import { beginning, type World } from "../World.ts"
import { type Answered, Browser, type Fetch, type Tab } from "./Browser.ts"
import { Wallet } from "./Wallet.ts"

const baseUrl = "http://localhost:8787"
const { chainId, usdc } = networks.test

/** Of the shop, which no state of a payment changes. */
const checkoutContext = {
  merchant: { name: "Shop" },
  env: "test",
  now: new Date(beginning).toISOString(),
  paymentExpirySeconds: 86_400,
  audience: baseUrl,
  chain: { id: chainId, name: "Base Sepolia", explorerUrl: "https://explorer.example" },
  token: { address: usdc.address, symbol: "USDC", decimals: 6 },
  faucet: { enabled: false, usdcAtomic: "0" }
}

const isCode = (code: string): code is keyof typeof errorCodes => code in errorCodes

/** As HTTP has it. */
const answeredOf = ({ body, status }: Answer): Answered => {
  const { error } = body
  if (error === undefined) return { status, body }
  const retryable = isCode(error.code) && errorCodes[error.code].retryable
  return { status, body: { error: { ...error, retryable } } }
}
/** A signature's outcome, as `src/relaying/Http.ts` tells it. */
const signedAnswerOf = ({ body, signing, status }: Answer): Answered => {
  const { settle } = signing ?? {}
  const { payment } = body
  if (settle === undefined || payment?.status === "settled") return answeredOf({ body, status })
  if (payment?.status === "failed") return errorOf("PAYMENT_FAILED")
  if (settle.success || settle.errorReason === "settlement_pending") return { status: 202, body }
  const refusal = refusalOf(settle.errorReason ?? "invalid_exact_evm_transaction_failed")
  switch (refusal._tag) {
    case "Taken":
      return errorOf("PAYMENT_ATTEMPT_OPEN")
    case "Failed":
      return errorOf("PAYMENT_FAILED")
    case "NotRelayed":
      return errorOf("RELAY_UNAVAILABLE", refusal.reason)
    case "Refused":
      return errorOf("AUTHORIZATION_REFUSED", refusal.reason)
  }
}
const errorOf = (code: keyof typeof errorCodes, reason?: string): Answered =>
  answeredOf({ status: 409, body: { error: { code, ...(reason === undefined ? {} : { reason }) } } })

/** What the wallet is given to sign; the checkout reads numbers as text. */
const typedDataText = (terms: Authorization) =>
  JSON.stringify(typedDataOf(networks.test, terms), (_, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value
  )
const termsAnswerOf = ({ signing, status }: Answer): Answered => {
  const { terms } = signing ?? {}
  if (terms === undefined) return status < 500 ? notFound : errorOf("CHAIN_UNAVAILABLE")
  return { status: 200, body: { relayed: true, typedData: JSON.parse(typedDataText(terms)) } }
}

const Terms = Schema.Struct({
  message: Schema.Struct({
    from: Address,
    to: Address,
    value: Schema.BigIntFromString,
    validAfter: Schema.BigIntFromString,
    validBefore: Schema.BigIntFromString,
    nonce: TransactionHash
  })
})
const decodeTerms = Schema.decodeUnknownSync(Schema.fromJsonString(Terms))
const termsIn = (json: string): Authorization => decodeTerms(json).message

const notFound: Answered = {
  status: 404,
  body: { error: { code: "NOT_FOUND", retryable: false } }
}

const textAt = (value: unknown, key: string): string => {
  const found: unknown = value instanceof Object ? Reflect.get(value, key) : undefined
  return typeof found === "string" ? found : ""
}

/** What the simulation's `BuyerIdentity` reads: whose token, and for which payment. */
const tokenOf = (didToken: string): string => {
  const [, claim]: ReadonlyArray<string> = JSON.parse(atob(didToken))
  const read: unknown = JSON.parse(claim ?? "null")
  return `buyer:${textAt(read, "sub")}:${textAt(read, "tid")}`
}

interface Around {
  readonly world: World
  readonly people: People
  readonly ledger: Ledger
  readonly nodes: ReadonlyArray<SimulatedNode>
  readonly draw: Draw
  readonly signs: boolean
}

export class Shopper {
  readonly #world: World
  readonly #people: People
  readonly #ledger: Ledger
  readonly #nodes: ReadonlyArray<SimulatedNode>
  readonly #draw: Draw
  /** Whether the service relays, so that wallets are asked for signatures. */
  readonly #signs: boolean
  /** What wallets have signed, by its signature. */
  readonly #signed = new Map<string, SignedAuthorization>()

  constructor({ draw, ledger, nodes, people, signs, world }: Around) {
    this.#signs = signs
    this.#world = world
    this.#people = people
    this.#ledger = ledger
    this.#nodes = nodes
    this.#draw = draw.of("shopper")
  }

  /** One request of the checkout; undefined for what the service is not asked for. */
  #askOf(method: string, path: string, body: unknown, key: string): Ask | undefined {
    const [, paymentId = "", part = "", attemptId = ""] =
      /^\/payments\/([^/?]+)(?:\/([a-z]+))?(?:\/([^/?]+))?/.exec(path) ?? []
    if (path === "/payments") return { do: "open", key, intentToken: textAt(body, "intentToken") }
    if (method === "PATCH")
      return {
        do: "report",
        key,
        paymentId,
        buyerDidToken: tokenOf(textAt(body, "buyerDidToken")),
        transactionId: TransactionHash.make(textAt(body, "transactionId")),
        tokenChanges: Reflect.get(Object(body), "tokenChanges")
      }
    if (part === "authorization" && this.#signs) {
      if (method === "GET") {
        const payer = Address.make(new URLSearchParams(path.split("?")[1]).get("payer") ?? "")
        return { do: "read terms", key, paymentId, payer }
      }
      const authorization = this.#signed.get(textAt(body, "signature"))
      return authorization === undefined
        ? undefined
        : { do: "pay by signature", key, paymentId, authorization }
    }
    if (part !== "attempts") return undefined
    switch (method) {
      case "POST": {
        const nonce: unknown = Reflect.get(Object(body), "nonce")
        return {
          do: "announce",
          key,
          paymentId,
          buyerDidToken: tokenOf(textAt(body, "buyerDidToken")),
          attemptId: textAt(body, "attemptId"),
          ...(typeof nonce === "number" ? { nonce } : {})
        }
      }
      case "DELETE":
        return { do: "decline", key, paymentId, attemptId }
      default: {
        const query = new URLSearchParams(path.split("?")[1])
        const [payer, attemptId, nonce] = ["payer", "attemptId", "nonce"].map((name) => query.get(name))
        return {
          do: "read attempts",
          key,
          paymentId,
          ...(payer == null ? {} : { payer }),
          ...(attemptId == null || nonce == null ? {} : { own: { attemptId, nonce: Number(nonce) } })
        }
      }
    }
  }

  #fetchOf(who: string, shop: Shop, run: (effect: Effect.Effect<void>) => void): Fetch {
    return (method, path, body) => {
      if (path === "/checkout-context") return Promise.resolve({ status: 200, body: checkoutContext })
      if (path.startsWith("/checkout/test-balance")) {
        const balance = { usdcAtomic: "1000000000", gasWei: "1000000000000000000" }
        return Promise.resolve({ status: 200, body: { balance } })
      }
      const ask = this.#askOf(method, path, body, shop.publishable)
      if (ask === undefined) return Promise.resolve(notFound)
      return new Promise((resolve, reject) => {
        run(
          Effect.map(this.#people.ask(who, ask), (answer) => {
            if (answer === undefined) reject(new TypeError("no answer"))
            else if (ask.do === "read terms") resolve(termsAnswerOf(answer))
            else if (ask.do === "pay by signature") resolve(signedAnswerOf(answer))
            else resolve(answeredOf(answer))
          })
        )
      })
    }
  }

  /** What the buyer presses next, who looks at the page every few seconds. */
  #press({ account, busy, state, step, wallets }: Model, mayRepeat: boolean): Action | undefined {
    if (busy !== undefined) return undefined
    switch (state) {
      case "connect": {
        const [wallet] = wallets
        return account !== undefined || wallet === undefined
          ? undefined
          : { type: "ChooseWallet", walletId: wallet.id }
      }
      case "wrong-network":
        return { type: "SwitchNetwork" }
      case "needs-funds":
        return { type: "ContinueAnyway" }
      case "review":
        return { type: "Pay" }
      case "awaiting-signature":
        switch (step) {
          case "unsure":
            return mayRepeat && this.#draw.chance(0.3) ? { type: "SendAgain" } : { type: "CheckChain" }
          case "prove":
            return { type: "Prove" }
          default:
            return this.#draw.chance(0.04) ? { type: "StopWaiting" } : undefined
        }
      case "cancelled":
        return { type: "StartAgain" }
      default:
        return undefined
    }
  }

  /** Until the payment is decided, or the buyer leaves the tab; whether they come back. */
  #visit(who: string, tab: Tab, mayRepeat: boolean): Effect.Effect<boolean> {
    return Effect.gen({ self: this }, function* () {
      for (let looks = 0; looks < 40; looks++) {
        yield* Effect.sleep(this.#draw.between(300, 4_000))
        const { model } = tab.checkout
        if (["settled", "failed", "expired"].includes(model.state)) return false
        if (this.#draw.chance(0.04)) return this.#draw.chance(0.7)
        const action = this.#press(model, mayRepeat)
        if (action === undefined) continue
        this.#world.tell(who, `presses ${action.type}`)
        tab.checkout.send(action)
      }
      return false
    })
  }

  #browse(
    who: string,
    browser: Browser,
    shop: Shop,
    intentToken: string,
    mayRepeat: boolean
  ): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      for (let visits = 0; visits < 4; visits++) {
        const tab = browser.open({ baseUrl, intentToken, publishableKey: shop.publishable })
        const returns = yield* this.#visit(who, tab, mayRepeat)
        this.#world.tell(who, `leaves the page, which shows ${tab.checkout.model.state}`)
        tab.end()
        if (!returns) return
        yield* Effect.sleep(this.#draw.between(10, 20_000))
      }
    })
  }

  /** A buyer with an intent of the shop, and the checkout. */
  buy(shop: Shop, number: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const people = this.#people
      const draw = this.#draw
      const account = this.#signs ? accounts[draw.below(accounts.length)] : undefined
      const { amount, buyer: own } = people.pickBuyer(draw)
      // Some wallets take no nonce from a page. Whoever has one and is not sure does not send again.
      const takesNonce = account !== undefined || !draw.of("nonce").chance(0.2)
      const buyer = account === undefined ? own : Address.make(account.address)
      const who = `buyer ${number}`
      const made = yield* people.insist(shop.name, () => ({
        do: "create intent",
        key: shop.secret,
        amount: formatUsd(amount)
      }))
      const intentToken = made?.body.intentToken ?? ""
      const paymentId = readIntentToken(intentToken)?.id
      if (paymentId === undefined) return
      const purchase = purchaseOf({ shop, buyer, amount, paymentId })
      people.purchases.push(purchase)
      const fork = Effect.runForkWith(yield* Effect.context<never>())
      const wallet = new Wallet({
        takesNonce,
        address: buyer,
        world: this.#world,
        ledger: this.#ledger,
        nodes: this.#nodes,
        draw: draw.of(who),
        transfer: { to: shop.receiver, amount },
        sent: (hash, asAsked) => {
          purchase.sent.push(hash)
          if (!asAsked) purchase.withoutNonce.set(hash, this.#ledger.fork.height)
        },
        signTerms:
          account === undefined
            ? undefined
            : async (json) => {
                const terms = termsIn(json)
                const signature = await account.signTypedData(typedDataOf(networks.test, terms))
                this.#signed.set(signature, { ...terms, signature })
                if (!purchase.nonces.includes(terms.nonce)) purchase.nonces.push(terms.nonce)
                this.#world.tell(who, `signs ${terms.nonce.slice(0, 10)} for ${paymentId}`)
                return signature
              }
      })
      const hidden = draw.of("hidden")
      const lateMillis = hidden.chance(0.25) ? hidden.between(100, 4_000) : 0
      const browserOf = (name: string) =>
        new Browser({
          world: this.#world,
          provider: wallet.provider,
          lateMillis,
          fetch: this.#fetchOf(name, shop, (effect) => {
            fork(effect)
          })
        })
      const first = browserOf(who)
      const second = draw.chance(0.5) ? first : browserOf(`${who}, second browser`)
      yield* draw.chance(0.35)
        ? Effect.all(
            [
              this.#browse(who, first, shop, intentToken, takesNonce),
              this.#browse(`${who}, second tab`, second, shop, intentToken, takesNonce)
            ],
            { concurrency: 2, discard: true }
          )
        : this.#browse(who, first, shop, intentToken, takesNonce)
      // A prompt outlives its page.
      while (wallet.prompts > 0) yield* Effect.sleep("1 second")
    })
  }
}
