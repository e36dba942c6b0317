// The payment side of the service without HTTP: Payments on a repository of the caller's choice, over the in-memory
// chain, with a merchant and people.
import { DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { ChainHeights } from "../../src/chain/ChainHeights.ts"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import { MemoryChain } from "../../src/chain/MemoryChain.ts"
import type { Address, TransactionHash } from "../../src/domain/Chain.ts"
import type { Principal } from "../../src/domain/Merchant.ts"
import { AtomicUsdc } from "../../src/domain/Money.ts"
import { networks } from "../../src/domain/networks.ts"
import { type Payment, PaymentId } from "../../src/domain/Payment.ts"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { SettlementLimits } from "../../src/merchants/settlementLevels/SettlementLimits.ts"
import { AttemptRepo } from "../../src/payments/AttemptRepo.ts"
import { BuyerIdentity } from "../../src/payments/buyers/BuyerIdentity.ts"
import { ClaimRepo } from "../../src/payments/ClaimRepo.ts"
import { IncomingTransfers } from "../../src/payments/IncomingTransfers.ts"
import { IntentTokens } from "../../src/payments/intents/IntentTokens.ts"
import { layerPaymentRepos } from "../../src/payments/layerPaymentRepos.ts"
import { PaymentAttempts } from "../../src/payments/PaymentAttempts.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { Payments } from "../../src/payments/Payments.ts"
import { RefundRepo } from "../../src/payments/refunds/RefundRepo.ts"
import { TransferRepo } from "../../src/payments/TransferRepo.ts"
import type { AppConfig } from "../../src/platform/AppConfig.ts"
import { Alerts } from "../../src/platform/alerts/Alerts.ts"
import { RateLimiter } from "../../src/platform/limits/RateLimiter.ts"
import { DeliveryWake } from "../../src/webhooks/DeliveryWake.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { testConfig } from "./memory.ts"

/** The services of a payment stack, on any repository. */
export type PaymentStack =
  | Payments
  | PaymentAttempts
  | IncomingTransfers
  | ChainHeights
  | Repos
  | AppConfig
  | BuyerIdentity
  | SecureRandom.SecureRandom

type Repos = Layer.Success<typeof layerPaymentRepos> | WebhookRepo | KeyAuth | Alerts

const sqlRepos = Layer.mergeAll(layerPaymentRepos, WebhookRepo.layer, KeyAuth.layer, Alerts.layer)
/** Payments and their reports, without attempts, claims, transfers and refunds. */
const memoryRepos = Layer.mergeAll(
  PaymentRepo.layerMemory,
  AttemptRepo.layerNone,
  ClaimRepo.layerNone,
  TransferRepo.layerNone,
  RefundRepo.layerNone,
  KeyAuth.layerMemory,
  Alerts.layerLog
)

/** Payments and the services on top of them: the part that a restart replaces. */
const paymentsOver = Layer.mergeAll(IncomingTransfers.layer, PaymentAttempts.layer).pipe(
  Layer.provideMerge(Payments.layer),
  Layer.provideMerge(ChainHeights.layer),
  Layer.provide([
    IntentTokens.layer,
    DeliveryWake.layerLocal,
    RateLimiter.layerMemory,
    SettlementLimits.layerNone
  ])
)

const over = <R>(
  repos: Layer.Layer<Repos, never, R | SecureRandom.SecureRandom>,
  buyers: Layer.Layer<BuyerIdentity> = BuyerIdentity.layerMemory
) =>
  paymentsOver.pipe(
    Layer.provideMerge(buyers),
    Layer.provideMerge(repos),
    Layer.provideMerge(Layer.merge(testConfig(), SecureRandom.layerWebCrypto))
  )

/** In memory; the caller provides the verifier and the buyer tokens. */
export const memoryStackWith = (buyers: Layer.Layer<BuyerIdentity>) => over(memoryRepos, buyers)
/** In memory; the caller provides the verifier. */
export const memoryStack = over(memoryRepos)
/** On a database; the caller provides the verifier. */
export const sqlStack: Layer.Layer<PaymentStack, never, SqlClient.SqlClient | ChainVerifier> = over(sqlRepos)

export const memoryChain = ChainVerifier.layerMemory

/** A merchant with a webhook endpoint, as the principal of its test publishable key. */
export const newMerchant = (receiver: Address) =>
  Effect.gen(function* () {
    const keys = yield* KeyAuth
    const { keys: issued, merchant } = yield* Effect.orDie(
      keys.createMerchant({ name: "Shop", receivers: { test: receiver, live: receiver } })
    )
    const principal: Principal = yield* Effect.orDie(keys.authenticate(issued.test.publishable))
    const webhooks = yield* WebhookRepo
    const random = yield* SecureRandom.SecureRandom
    yield* webhooks.createEndpoint(
      { merchantId: merchant.id, env: "test" },
      {
        id: yield* random.uuidV7(),
        url: "https://shop.example.com/hook",
        secret: { kid: "test", ciphertext: new Uint8Array(48) },
        secretLastFour: "abcd"
      },
      yield* DateTime.nowAsDate
    )
    return { principal, tenant: { merchantId: merchant.id, env: "test" as const } }
  })

export const openPayment = (principal: Principal, receiver: Address, atomic: bigint) =>
  Effect.gen(function* () {
    const repo = yield* PaymentRepo
    const random = yield* SecureRandom.SecureRandom
    const { payment } = yield* repo.open({
      payerType: "human",
      merchantId: principal.merchant.id,
      env: principal.env,
      id: PaymentId.make(yield* random.uuidV7()),
      amount: AtomicUsdc.make(atomic),
      intentUrl: "https://shop.example.com/1",
      receiver,
      at: yield* DateTime.nowAsDate
    })
    return payment
  })

/** The checkout's report of a transfer that pays the payment. */
export const reportOf = (payment: Payment, buyer: Address, transactionId: TransactionHash) => ({
  buyerDidToken: `buyer:${buyer}`,
  transactionId,
  tokenChanges: [
    {
      amountAtomic: String(payment.amount),
      chainId: networks[payment.env].chainId,
      receiver: payment.receiver,
      tokenAddress: networks[payment.env].usdc.address
    }
  ]
})

/** The payment in the database. */
export const stateOf = (payment: Payment) =>
  Effect.gen(function* () {
    const repo = yield* PaymentRepo
    return Option.getOrThrow(yield* repo.find(payment, payment.id))
  })

/** A transfer on the in-memory chain, funded and confirmed. */
export const paid = (from: Address, payment: Payment, times = 1) =>
  Effect.gen(function* () {
    const chain = yield* MemoryChain
    const transfers = Array.from({ length: times }, () => ({
      from,
      to: payment.receiver,
      amount: payment.amount
    }))
    yield* chain.fund(from, { usdcAtomic: payment.amount * BigInt(times) })
    const hash = yield* chain.batch(transfers)
    yield* chain.mine(2)
    return hash
  })
