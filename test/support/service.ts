// The whole service for tests over HTTP: a free port, a real database, the in-memory chain and sender. Every response
// is checked against the OpenAPI document.
import { Context, Effect, Layer, Option, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpServer } from "effect/http"
import * as App from "../../src/app/App.ts"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import { ContractSignatures } from "../../src/chain/ContractSignatures.ts"
import { Faucet } from "../../src/chain/faucet/Faucet.ts"
import { MemoryChain } from "../../src/chain/MemoryChain.ts"
import { DerivedWallets } from "../../src/chain/wallets/DerivedWallets.ts"
import { Address, type Env } from "../../src/domain/Chain.ts"
import { MerchantId } from "../../src/domain/Merchant.ts"
import { AtomicUsdc } from "../../src/domain/Money.ts"
import { AuditLog } from "../../src/merchants/audit/AuditLog.ts"
import { Branding } from "../../src/merchants/Branding.ts"
import { type FirstKeys, KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { SettlementLimits } from "../../src/merchants/settlementLevels/SettlementLimits.ts"
import { BuyerIdentity } from "../../src/payments/buyers/BuyerIdentity.ts"
import { layerPaymentRepos } from "../../src/payments/layerPaymentRepos.ts"
import { LinkRepo } from "../../src/payments/links/LinkRepo.ts"
import { ReceiptMails } from "../../src/payments/receipts/ReceiptMails.ts"
import { Receipts } from "../../src/payments/receipts/Receipts.ts"
import type { AppConfig } from "../../src/platform/AppConfig.ts"
import { Alerts } from "../../src/platform/alerts/Alerts.ts"
import { EgressPolicy } from "../../src/platform/egress/EgressPolicy.ts"
import * as Server from "../../src/platform/http/Server.ts"
import { RateLimiter } from "../../src/platform/limits/RateLimiter.ts"
import { SecretBox } from "../../src/platform/SecretBox.ts"
import { DeliveryWake } from "../../src/webhooks/DeliveryWake.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { WebhookSender, WebhookSenderMemory } from "../../src/webhooks/WebhookSender.ts"
import { AgentRepo } from "../../src/x402/agents/AgentRepo.ts"
import { Agents } from "../../src/x402/agents/Agents.ts"
import { Releases } from "../../src/x402/agents/Releases.ts"
import { Facilitator } from "../../src/x402/Facilitator.ts"
import type { TestDatabase } from "./database.ts"
import { addressesFrom } from "./freshAddress.ts"
import { testConfig } from "./memory.ts"

/** The first merchant's receiver. */
export const receiver = Address.make("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")

const services = (database: TestDatabase, config: Partial<typeof AppConfig.Service>) =>
  Layer.mergeAll(
    KeyAuth.layer,
    layerPaymentRepos,
    ChainVerifier.layerMemory,
    BuyerIdentity.layerMemory,
    ContractSignatures.layerNone,
    WebhookSender.layerMemory,
    DeliveryWake.layerLocal,
    RateLimiter.layerMemory,
    Faucet.layerMemory(() => Effect.succeed([])),
    Agents.layer.pipe(Layer.provide([AgentRepo.layer, DerivedWallets.layer])),
    Facilitator.layerNone,
    Releases.layerNone,
    LinkRepo.layer,
    Branding.layer,
    SettlementLimits.layer,
    Receipts.layer.pipe(Layer.provide(SecretBox.layer)),
    ReceiptMails.layer,
    Alerts.layer,
    EgressPolicy.layerOf({ ownHosts: ["localhost", "pay.example.com"], allowedHosts: [] })
  ).pipe(
    Layer.provideMerge(Layer.mergeAll(WebhookRepo.layer, AuditLog.layer)),
    Layer.provideMerge(database.layer),
    Layer.provideMerge(Layer.mergeAll(SecureRandom.layerWebCrypto, testConfig(config)))
  )

export type TestServices = Layer.Success<ReturnType<typeof services>>

export interface TestMerchant {
  readonly id: string
  readonly keys: FirstKeys
  /** In both environments. */
  readonly receiver: Address
}

export interface TestService {
  readonly baseUrl: string
  readonly context: Context.Context<TestServices>
  readonly chain: MemoryChain["Service"]
  readonly sender: WebhookSenderMemory["Service"]
  readonly auth: KeyAuth["Service"]
  readonly alerts: { readonly raise: (about: { tenant: string; subject: string }) => Effect.Effect<void> }
  readonly newMerchant: Effect.Effect<TestMerchant>
  readonly newKey: (
    merchant: TestMerchant,
    kind: "secret" | "agent",
    env: Env,
    permission: "manage" | "read"
  ) => Effect.Effect<string>
}

/** Starts the service; it ends with the scope. */
export const startService = (
  database: TestDatabase,
  config: Partial<typeof AppConfig.Service> = {}
): Effect.Effect<TestService, never, Scope.Scope> =>
  Effect.gen(function* () {
    const context = yield* Layer.build(services(database, config))
    const http = yield* Layer.build(
      App.layerHttp(Layer.orDie(Server.layerOf({ port: 0, hostname: "127.0.0.1" }))).pipe(
        Layer.provide(Layer.succeedContext(context))
      )
    )
    const { address } = Context.get(http, HttpServer.HttpServer)
    const port = address._tag === "UnixPathAddress" ? 0 : address.port
    const use = <A, E>(effect: Effect.Effect<A, E, TestServices>) => Effect.provideContext(effect, context)
    const auth = yield* use(Effect.service(KeyAuth))
    const alerts = yield* use(Effect.service(Alerts))

    const nextReceiver = addressesFrom(receiver)
    const newMerchant = Effect.suspend(() => {
      const address = nextReceiver()
      return Effect.map(
        Effect.orDie(auth.createMerchant({ name: "Shop", receivers: { test: address, live: address } })),
        ({ merchant, keys }): TestMerchant => ({ id: merchant.id, keys, receiver: address })
      )
    })
    return {
      baseUrl: `http://127.0.0.1:${port}`,
      context,
      chain: yield* use(Effect.service(MemoryChain)),
      sender: yield* use(Effect.service(WebhookSenderMemory)),
      auth,
      alerts: {
        raise: ({ tenant, subject }) =>
          alerts.raise({
            kind: "transfer_dropped",
            tenant: Option.some({ merchantId: MerchantId.make(tenant), env: "test" }),
            subject,
            message: "The transfer is no longer on chain."
          })
      },
      newMerchant,
      newKey: (merchant, kind, env, permission) =>
        Effect.gen(function* () {
          const principal = yield* Effect.orDie(auth.authenticate(merchant.keys.test.secret))
          if (kind === "secret") {
            const issued = yield* auth.createKey(principal.merchant.id, { kind, env, permission })
            return issued.key
          }
          const agents = yield* use(Effect.service(Agents))
          const provisioned = yield* Effect.orDie(
            agents.provision({
              merchantId: principal.merchant.id,
              env,
              name: "Agent",
              capPerPayment: AtomicUsdc.make(5_000_000n),
              capPerDay: AtomicUsdc.make(20_000_000n),
              allowedHosts: null,
              allowedPayees: null
            })
          )
          return provisioned.key
        })
    }
  })
