// Simulates a few days of a shop within seconds, so that every tab of the demo's dashboard shows something.
import { Effect, Schema } from "effect"
import { erc20Abi } from "viem"
import { Address } from "../../domain/Chain.ts"
import { faucetNetwork } from "../../domain/networks.ts"
import type { FirstKeys } from "../../merchants/keys/KeyAuth.ts"
import type { LocalChain } from "./LocalChain.ts"
import { CreatedIntent, fail, makeApi, Opened } from "./merchantApi.ts"
import { payIntent } from "./payIntent.ts"
import type { Shop } from "./Shop.ts"

export interface DemoWorld {
  readonly baseUrl: string
  readonly keys: FirstKeys["test"]
  readonly chain: LocalChain["Service"]
  readonly shop: Shop
  /** A buyer, and one of their transfers that has already paid. */
  readonly buyerDidToken: string
  readonly transactionId: string
}

/** The merchant's receiving wallet and a stranger's, both accounts of the development mnemonic. */
export const merchantWallet = 5
const strangerWallet = 6

const { usdc, chainId } = faucetNetwork
const Paid = Schema.Struct({ payment: Schema.Struct({ payerAddress: Address }) })
const Link = Schema.Struct({ link: Schema.Struct({ id: Schema.String, url: Schema.String }) })
const Receipt = Schema.Struct({ url: Schema.String })

/** Uses only requests that anybody could make. Returns the pages to open. */
export const makeHistory = Effect.fn("makeHistory")(function* (world: DemoWorld) {
  const { baseUrl, chain, keys, shop } = world
  const api = makeApi(baseUrl)

  const open = Effect.fnUntraced(function* (amount: string) {
    const body = { amount, intentUrl: `http://localhost:${shop.port}/orders/1044` }
    const { intent, intentToken } = (yield* api(
      "POST",
      "/api/v1/payment-intents",
      keys.secret,
      body,
      CreatedIntent,
      [201]
    )).body
    const opened = yield* api("POST", "/api/v1/payments", keys.publishable, { intentToken }, Opened, [201])
    return { id: opened.body.payment.id, receiver: intent.receiver }
  })
  const pay = (amount: string) =>
    payIntent({
      baseUrl,
      secretKey: keys.secret,
      publishableKey: keys.publishable,
      amount,
      onStep: () => Effect.void
    })
  const transfer = (wallet: number, to: Address, atomicUsdc: bigint) =>
    Effect.tryPromise({
      try: () =>
        chain.walletClient(wallet).writeContract({
          address: chain.usdc,
          abi: erc20Abi,
          functionName: "transfer",
          args: [to, atomicUsdc]
        }),
      catch: (error) => fail(`A transfer failed: ${error instanceof Error ? error.message : "unknown"}`)
    })

  /** Reported with a transfer of another amount: the payment stays pending, and its timeline says why. */
  const mismatched = Effect.gen(function* () {
    const { id, receiver } = yield* open("64.00")
    const change = { amountAtomic: "64000000", chainId, receiver, tokenAddress: usdc.address }
    const body = {
      buyerDidToken: world.buyerDidToken,
      transactionId: world.transactionId,
      tokenChanges: [change]
    }
    yield* api("PATCH", `/api/v1/payments/${id}`, keys.publishable, body, Schema.Unknown, [202, 422])
  })

  const refunded = Effect.gen(function* () {
    const { paymentId } = yield* pay("7.25")
    const { body } = yield* api("GET", `/api/v1/payments/${paymentId}`, keys.secret, undefined, Paid, [200])
    const transactionId = yield* transfer(merchantWallet, body.payment.payerAddress, 7_250_000n)
    const refund = { paymentId, transactionId, reason: "Damaged in the post" }
    yield* api("POST", "/api/v1/refunds", keys.secret, refund, Schema.Unknown, [201])
  })

  const withReceipt = Effect.gen(function* () {
    const { paymentId } = yield* pay("120.00")
    return (yield* api(
      "POST",
      `/api/v1/payments/${paymentId}/receipt`,
      keys.publishable,
      undefined,
      Receipt,
      [200, 201]
    )).body.url
  })

  /** A transfer that nobody announced: the merchant must say what it is for. */
  const unannounced = Effect.gen(function* () {
    yield* chain.mint(Address.make(chain.account(strangerWallet).address), 12_340_000n)
    yield* transfer(strangerWallet, Address.make(chain.account(merchantWallet).address), 12_340_000n)
  })

  const link = (terms: Readonly<Record<string, string>>) =>
    Effect.map(api("POST", "/api/v1/payment-links", keys.secret, terms, Link, [201]), ({ body }) => body.link)

  // Its webhook is refused once and then retried on schedule.
  shop.failOnce()
  yield* pay("18.50")
  const { print, counter, receipt } = yield* Effect.all(
    {
      receipt: withReceipt,
      print: link({ description: "Signed print", amount: "9.00" }),
      counter: link({ description: "At the counter", minAmount: "1.00", maxAmount: "500.00" }),
      refunded,
      mismatched,
      unannounced,
      waiting: open("33.00")
    },
    { concurrency: "unbounded" }
  )
  return {
    order: `http://localhost:${shop.port}/orders/1043`,
    link: print.url,
    counter: `${baseUrl}/counter#link=${counter.id}`,
    receipt
  }
})
