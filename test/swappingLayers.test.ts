// The way a developer runs the whole HTTP service in `bun test`, on an in-memory chain and store: swap the layers,
// drive the chain, speak HTTP. Copy this file.
import { expect, test } from "bun:test"
import { Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpRouter } from "effect/http"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import * as App from "../src/app/App.ts"
import { ChainVerifier } from "../src/chain/ChainVerifier.ts"
import { Faucet } from "../src/chain/faucet/Faucet.ts"
import { MemoryChain } from "../src/chain/MemoryChain.ts"
import { Address } from "../src/domain/Chain.ts"
import { networks } from "../src/domain/networks.ts"
import { KeyAuth } from "../src/merchants/keys/KeyAuth.ts"
import { createDidToken } from "../src/payments/buyers/createDidToken.ts"
import { PaymentRepo } from "../src/payments/PaymentRepo.ts"
import { routerConfig } from "../src/platform/http/Server.ts"
import { WebhookSender, WebhookSenderMemory } from "../src/webhooks/WebhookSender.ts"
import { testConfig } from "./support/memory.ts"

// 1. The five services with outside effects, in memory.
const memory = Layer.mergeAll(
  KeyAuth.layerMemory,
  PaymentRepo.layerMemory,
  ChainVerifier.layerMemory,
  Faucet.layerMemory(() => Effect.succeed([])),
  WebhookSender.layerMemory
).pipe(Layer.provideMerge(Layer.mergeAll(SecureRandom.layerWebCrypto, testConfig())))

const account = privateKeyToAccount(generatePrivateKey())
const buyer = Address.make(account.address)
const receiver = Address.make("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")

test("a payment settles on the in-memory chain and its webhook is sent", async () => {
  const program = Effect.gen(function* () {
    // 2. The whole HTTP service as a function from Request to Response.
    const services = yield* Effect.context<Layer.Success<typeof memory>>()
    const { handler } = HttpRouter.toWebHandler(
      App.layerRoutes.pipe(Layer.provide(Layer.succeedContext(services))),
      {
        routerConfig,
        disableLogger: true
      }
    )
    const call = (method: string, path: string, key: string, body?: unknown) =>
      Effect.promise(async () => {
        const response = await handler(
          new Request(`http://localhost${path}`, {
            method,
            headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
            ...(body === undefined ? {} : { body: JSON.stringify(body) })
          })
        )
        return { status: response.status, body: await response.json() }
      })

    // 3. A merchant with keys and a webhook endpoint.
    const auth = yield* KeyAuth
    const { keys } = yield* auth.createMerchant({
      name: "Shop",
      receivers: { test: receiver, live: receiver }
    })
    const { secret, publishable } = keys.test
    yield* call("POST", "/api/v1/webhook-endpoint", secret, { url: "https://shop.example.com/hook" })

    // 4. An intent, a payment, and a transfer on the chain that the test drives.
    const created = yield* call("POST", "/api/v1/payment-intents", secret, {
      amount: "10",
      intentUrl: "https://shop.example.com/orders/1"
    })
    const opened = yield* call("POST", "/api/v1/payments", publishable, {
      intentToken: created.body.intentToken
    })
    expect(opened.status).toBe(201)
    const chain = yield* MemoryChain
    yield* chain.fund(buyer, { usdcAtomic: 10_000_000n })
    const transactionId = yield* chain.transfer({ from: buyer, to: receiver, amount: 10_000_000n })

    const buyerDidToken = yield* Effect.promise(() =>
      createDidToken(account, {
        audience: "http://localhost:8787",
        lifetimeSeconds: 900,
        now: Math.floor(Date.now() / 1000)
      })
    )
    const report = call("PATCH", `/api/v1/payments/${opened.body.payment.id}`, publishable, {
      buyerDidToken,
      transactionId,
      tokenChanges: [
        { amountAtomic: "10000000", chainId: 84532, receiver, tokenAddress: networks.test.usdc.address }
      ]
    })
    expect(yield* report).toMatchObject({ status: 202, body: { error: { code: "TEST_SETTLEMENT_PENDING" } } })
    yield* chain.mine(2)
    expect(yield* report).toMatchObject({
      status: 200,
      body: { payment: { status: "settled", payerAddress: buyer } }
    })

    // 5. The request that the merchant's webhook server would have received.
    const sender = yield* WebhookSenderMemory
    const sent = yield* sender.sent.pipe(
      Effect.repeat({ until: (all) => all.length > 0 }),
      Effect.timeoutOption("2 seconds"),
      Effect.map(Option.getOrThrow)
    )
    expect(JSON.parse(new TextDecoder().decode(sent[0]?.body))).toMatchObject({
      type: "payment.settled",
      transactionId
    })
  })
  await Effect.runPromise(program.pipe(Effect.provide(memory)))
})
