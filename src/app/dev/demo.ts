// The main flow on embedded defaults: a merchant, a buyer, a local chain with the real USDC contract, and one
// payment from intent to verified webhook.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { BunRuntime } from "@effect/platform-bun"
import {
  Cause,
  Clock,
  Console,
  Context,
  Duration,
  Effect,
  Layer,
  Redacted,
  References,
  Schedule,
  Schema
} from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { Address } from "../../domain/Chain.ts"
import { formatUsd } from "../../domain/Money.ts"
import { faucetNetwork } from "../../domain/networks.ts"
import { KeyAuth } from "../../merchants/keys/KeyAuth.ts"
import { createDidToken } from "../../payments/buyers/createDidToken.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import * as App from "../App.ts"
import { buildAhead } from "../guides/Site.ts"
import { createPerson } from "./createPerson.ts"
import { buyForecast, type DemoMerchant, fundRelayer, makeAgent } from "./demoAgent.ts"
import { makeHistory, merchantWallet } from "./demoHistory.ts"
import { freePort } from "./freePort.ts"
import { LocalChain } from "./LocalChain.ts"
import { CreatedIntent, fail, makeApi, Opened } from "./merchantApi.ts"
import { openShop, type Shop } from "./Shop.ts"

const amount = "4.20"
const { chainId } = faucetNetwork

/** One line of the timeline: the step, its outcome, and the time it took. */
const step = <A, E, R>(title: string, effect: Effect.Effect<A, E, R>, outcomeOf: (result: A) => string) =>
  Effect.gen(function* () {
    const [duration, result] = yield* Effect.timed(effect)
    const millis = Duration.toMillis(duration)
    yield* Console.log(
      `${title.padEnd(18)}${outcomeOf(result).padEnd(62)} ${millis.toFixed(0).padStart(6)} ms`
    )
    return result
  })

const Funded = Schema.Struct({ balance: Schema.Struct({ usdcAtomic: Schema.String }) })
const Fields = Schema.mutable(Schema.Array(Schema.Struct({ name: Schema.String, type: Schema.String })))
const Terms = Schema.Struct({
  typedData: Schema.Struct({
    types: Schema.Struct({ EIP712Domain: Fields, TransferWithAuthorization: Fields }),
    primaryType: Schema.Literal("TransferWithAuthorization"),
    domain: Schema.Struct({
      name: Schema.String,
      version: Schema.String,
      chainId: Schema.Int,
      verifyingContract: Address
    }),
    message: Schema.Record(Schema.String, Schema.String)
  })
})
const Settled = Schema.Struct({
  payment: Schema.Struct({
    status: Schema.String,
    reportedTransactionId: Schema.optionalKey(Schema.String)
  })
})
const CreatedEndpoint = Schema.Struct({ secret: Schema.String })

const serve = (port: number, chain: LocalChain["Service"], dataDir: string, receiver: string) =>
  App.layer.pipe(
    Layer.provideMerge(
      AppConfig.layer({
        PORT: String(port),
        DATA_DIR: dataDir,
        BASE_SEPOLIA_RPC_URLS: chain.rpcUrl,
        FAUCET_PRIVATE_KEY: Redacted.value(chain.faucetPrivateKey),
        TEST_WALLET: "on",
        FAUCET_GAS_WEI: "2000000000000000",
        WEBHOOK_ALLOWED_HOSTS: receiver
      })
    )
  )

const payOnce = Effect.fnUntraced(function* (shop: Shop, chain: LocalChain["Service"]) {
  const config = yield* AppConfig
  const keys = yield* KeyAuth
  const api = makeApi(config.baseUrl)
  const { keys: issued, merchant } = yield* step(
    "Merchant",
    keys.createMerchant({
      name: "Demo Books",
      receivers: {
        test: Address.make(chain.account(merchantWallet).address),
        live: Address.make(chain.account(merchantWallet).address)
      }
    }),
    ({ merchant }) => `"${merchant.name}" has keys and a receiving address`
  )
  const { secret, publishable } = issued.test
  const endpoint = yield* step(
    "Webhook endpoint",
    api(
      "POST",
      "/api/v1/webhook-endpoint",
      secret,
      { url: `http://127.0.0.1:${shop.port}/webhooks/quittance` },
      CreatedEndpoint,
      [201]
    ),
    () => `registered, 127.0.0.1:${shop.port}`
  )
  shop.open({
    baseUrl: config.baseUrl,
    secretKey: secret,
    publishableKey: publishable,
    webhookSecret: endpoint.body.secret
  })
  yield* fundRelayer(chain, { baseUrl: config.baseUrl, secret })

  const intent = yield* step(
    "Payment intent",
    api(
      "POST",
      "/api/v1/payment-intents",
      secret,
      { amount, intentUrl: "https://shop.example.com/orders/1042" },
      CreatedIntent,
      [201]
    ),
    ({ body }) => `$${body.intent.amount}, signed`
  )
  const opened = yield* step(
    "Payment",
    api("POST", "/api/v1/payments", publishable, { intentToken: intent.body.intentToken }, Opened, [201]),
    ({ body }) => `${body.payment.refCode} is ${body.payment.status}`
  )

  const buyer = privateKeyToAccount(generatePrivateKey())
  const buyerDidToken = yield* step(
    "Buyer",
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.promise(() =>
        createDidToken(buyer, { audience: config.baseUrl, lifetimeSeconds: 900, now: Math.floor(now / 1000) })
      )
    ),
    () => `${buyer.address.slice(0, 10)}… signed its identity token`
  )
  yield* step(
    "Faucet",
    api("POST", "/api/v1/checkout/test-funds", publishable, { buyerDidToken }, Funded, [201]),
    ({ body }) => `the buyer holds ${formatUsd(BigInt(body.balance.usdcAtomic))} USDC`
  )

  const path = `/api/v1/payments/${opened.body.payment.id}/authorization`
  const balance = Effect.promise(() => chain.publicClient.getBalance({ address: buyer.address }))
  const gas = yield* balance
  const signed = yield* step(
    "Signature",
    Effect.gen(function* () {
      const { body } = yield* api(
        "GET",
        `${path}?payer=${buyer.address}`,
        publishable,
        undefined,
        Terms,
        [200]
      )
      const { EIP712Domain: _, ...types } = body.typedData.types
      const signature = yield* Effect.promise(() => buyer.signTypedData({ ...body.typedData, types }))
      const { validAfter, validBefore } = body.typedData.message
      return { payer: buyer.address, validAfter, validBefore, signature }
    }),
    () => `one: $${amount} to the merchant, for this payment only`
  )
  const settled = yield* step(
    "Settlement",
    api("POST", path, publishable, signed, Settled, [200, 202]).pipe(
      Effect.repeat({ schedule: Schedule.spaced("250 millis"), until: ({ status }) => status === 200 }),
      Effect.timeoutOrElse({
        duration: "20 seconds",
        orElse: () => Effect.fail(fail("The transfer was not confirmed within 20 seconds."))
      })
    ),
    ({ body }) => `sent by the service, proven on chain ${chainId}: ${body.payment.status}`
  )
  const remainingBalance = yield* balance
  const event = yield* shop.settled.pipe(
    Effect.timeoutOrElse({
      duration: "10 seconds",
      orElse: () => Effect.fail(fail("The shop got no verified payment.settled within 10 seconds."))
    })
  )
  yield* Console.log(
    `${"Webhook".padEnd(18)}${event.type} verified; ${remainingBalance === gas ? "the buyer spent no gas" : "the buyer spent gas"}; the shop ships`
  )
  const transactionId = settled.body.payment.reportedTransactionId ?? ""
  return { issued, merchant, baseUrl: config.baseUrl, buyerDidToken, transactionId }
})

const agentBuys = Effect.fnUntraced(function* (merchant: DemoMerchant) {
  const { key } = yield* step(
    "Agent",
    makeAgent(merchant),
    ({ agent, funds, cap }) => `${agent.address.slice(0, 10)}… holds ${funds} USDC, may pay ${cap} at once`
  )
  const { command } = yield* step(
    "Paid API",
    buyForecast(merchant, key),
    ({ answer, paid }) => `402, then ${paid} USDC by x402, then ${answer}`
  )
  return command
})

const once = process.argv.includes("--once")

const startChain = Effect.map(Layer.build(LocalChain.layer({ blockTimeSeconds: 1 })), (context) =>
  Context.get(context, LocalChain)
)

const demo = Effect.fnUntraced(function* (chain: LocalChain["Service"], seconds: Effect.Effect<string>) {
  const shop = yield* openShop
  const port = yield* freePort(8787)
  const dataDir = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const directory = mkdtempSync(join(tmpdir(), "quittance-demo-"))
      // The demo's data is removed, however it ends.
      process.on("exit", () => rmSync(directory, { recursive: true, force: true }))
      return directory
    }),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  )
  const context = yield* step(
    "Service",
    Layer.build(serve(port, chain, dataDir, `127.0.0.1:${shop.port}`)),
    () => `on embedded Postgres, http://localhost:${port}`
  )
  const { issued, merchant, baseUrl, ...paid } = yield* payOnce(shop, chain).pipe(
    Effect.provideContext(context)
  )

  const command = yield* Effect.provideContext(
    agentBuys({
      baseUrl,
      merchantId: merchant.id,
      secret: issued.test.secret,
      receiver: merchant.receivers.test
    }),
    context
  )
  if (once) return
  const pages = yield* step(
    "History",
    makeHistory({ baseUrl, keys: issued.test, chain, shop, ...paid }),
    () => "a refund, links, a retried webhook, an unmatched transfer"
  )
  const person = yield* createPerson(merchant.id).pipe(
    Effect.provideContext(context),
    // The service's audit lines would interrupt the table.
    Effect.provideService(References.MinimumLogLevel, "Warn")
  )
  yield* Console.log(`
${yield* seconds} s in all. The demo keeps running. Open:

  Order to pay  ${pages.order}
  Dashboard     ${baseUrl}/dashboard  (${person.email}, ${person.password})
  Payment link  ${pages.link}
  Counter       ${pages.counter}
  Receipt       ${pages.receipt}

A program pays 0.05 USDC for a forecast:
  ${command}

Secret key       ${issued.test.secret}
Publishable key  ${issued.test.publishable}
Documentation    ${baseUrl}/docs    Playground  ${baseUrl}/playground#pk=${issued.test.publishable}
Chain            ${chain.rpcUrl} (chain id ${chainId})

Ctrl-C stops everything.`)
  yield* Effect.provideContext(buildAhead, context)
  return yield* Effect.never
})

/**
 * Prints the error and ends at once. Otherwise a service whose chain is dead would get its whole grace period
 * for requests that cannot finish.
 */
const failed = (cause: Cause.Cause<unknown>) => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.void
  const error = Cause.squash(cause)
  return Effect.andThen(
    Console.error(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}`),
    Effect.sync(() => process.exit(1))
  )
}

/** Waits in case the chain has ended, because that is the better explanation of a failure. */
const awaitChainEnd = (cause: Cause.Cause<unknown>) =>
  Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.sleep("500 millis")

const main = Effect.gen(function* () {
  yield* Console.log("One payment, from intent to verified webhook, on a local chain.\n")
  const started = yield* Clock.currentTimeMillis
  const seconds = Effect.map(Clock.currentTimeMillis, (now) => ((now - started) / 1000).toFixed(1))
  const chain = yield* step("Local chain", startChain, ({ rpcUrl }) => `anvil with Circle's USDC, ${rpcUrl}`)
  yield* Effect.raceFirst(demo(chain, seconds).pipe(Effect.tapCause(awaitChainEnd)), chain.died).pipe(
    Effect.tapCause(failed)
  )
  yield* Console.log(
    `\nThe order was paid, verified, settled and delivered. Then a program paid, within its cap. ${yield* seconds} s in all.`
  )
}).pipe(Effect.scoped)

main.pipe(
  Effect.catchCause(failed),
  Effect.andThen(Effect.sync(() => process.exit(0))),
  // Ctrl-C is the usual end.
  BunRuntime.runMain({ disableErrorReporting: true, teardown: (_, onExit) => onExit(0) })
)
