// The parts of a world: instances of the service over one database, and everybody who deals with them.
import { Context, DateTime, Duration, Effect, Layer, Redacted, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SettlementLevels } from "../../src/domain/Finality.ts"
import { settlementLevelsOf } from "../../src/domain/networks.ts"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { AppConfig } from "../../src/platform/AppConfig.ts"
import { SecretBox } from "../../src/platform/SecretBox.ts"
import { newEndpointSecret } from "../../src/webhooks/regenerateSecret.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { buildWithFaultPoints } from "../support/faultPoints.ts"
import { testConfig } from "../support/memory.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { Cluster } from "./Cluster.ts"
import type { Nature } from "./Nature.ts"
import { addressOf, People, type Shop } from "./People.ts"
import { shopUrl } from "./Receivers.ts"
import { RefundDesk } from "./RefundDesk.ts"
import { Signers } from "./Signers.ts"
import { type Database, databaseOf, relayer, walletMnemonics } from "./sql/database.ts"
import { Thief } from "./Thief.ts"
import { emptyRelayer } from "./troubles.ts"

export interface Parts {
  readonly database: Database
  readonly shop: Shop
  readonly cluster: Cluster
  readonly people: People
  readonly thief: Thief
  readonly signers: Signers
  readonly refundDesk: RefundDesk
}

const { env, execution, postingGas, finalityRule } = moneyNetwork

/** The relayer wallet's balance, its daily budget for one payer, and the gas of one payment. */
const relayerWei = 10n ** 18n
const weiPerPayment = (160_000n + postingGas) * 2_000_001n
const weiPerPayer = (260_000n + 2n * postingGas) * 2_000_001n

/** Each level covers some of the amounts that people pay. */
const upTo = [1_000_000n, 2_000_000n]
export const levels: SettlementLevels = settlementLevelsOf(moneyNetwork).map((level, index) =>
  level.upTo === null ? level : { ...level, upTo: upTo[index] ?? null }
)

const baseConfig: typeof AppConfig.Service = Effect.runSync(
  Effect.scoped(Effect.map(Layer.build(testConfig()), (context) => Context.get(context, AppConfig)))
)

/** The only shop, with its webhook endpoint. */
const openShop = (
  url: string
): Effect.Effect<Shop, never, KeyAuth | WebhookRepo | SecretBox | SecureRandom.SecureRandom> =>
  Effect.gen(function* () {
    const receiver = addressOf(0x501)
    const { keys, merchant } = yield* Effect.flatMap(KeyAuth, ({ createMerchant }) =>
      createMerchant({ name: "Shop", receivers: { test: receiver, live: receiver } })
    )
    const id = crypto.randomUUID()
    const { secret, stored } = yield* newEndpointSecret(id)
    const webhooks = yield* WebhookRepo
    const tenant = { merchantId: merchant.id, env }
    yield* webhooks.createEndpoint(tenant, { id, url, ...stored }, yield* DateTime.nowAsDate)
    const { publishable, secret: key } = keys[env]
    return { merchant, receiver, secret: key, publishable, webhookSecret: Redacted.value(secret) }
  }).pipe(Effect.orDie)

export const makeParts = (nature: Nature): Effect.Effect<Parts> => {
  const { board, draw, ledger, plan, receivers, world } = nature
  const random = SecureRandom.make((size) => draw.bytes(size))
  return Effect.gen(function* () {
    const database = databaseOf(world, board)
    const first = database.layer.pipe(Layer.provideMerge(SecretBox.layer), Layer.provide(testConfig()))
    const shop = yield* Effect.provideContext(
      openShop(shopUrl),
      yield* buildWithFaultPoints(first, board.at).pipe(Scope.provide(Scope.makeUnsafe()))
    )
    receivers.trust(shop.webhookSecret)
    const troubles = draw.of("relaying wallet")
    const cluster = new Cluster(nature, {
      layers: database,
      random,
      abandoned: database.abandon,
      config: {
        ...baseConfig,
        walletMnemonics,
        paymentExpiry: Duration.seconds(plan.expirySeconds),
        opened: execution === "open" ? [] : [env],
        confirmations: { ...baseConfig.confirmations, [env]: plan.confirmations },
        finalityDepth: finalityRule === "finalized" ? {} : { [env]: plan.finality },
        settlementLevels: { ...baseConfig.settlementLevels, [env]: levels },
        relaying: {
          ...baseConfig.relaying,
          wei: {
            ...baseConfig.relaying.wei,
            [env]: { merchant: BigInt(plan.relayed) * weiPerPayment, payer: weiPerPayer, total: relayerWei }
          }
        }
      },
      balanceTold: () => emptyRelayer(nature, troubles)
    })
    ledger.relayer = relayer
    ledger.wei.set(relayer, relayerWei)
    const people = new People(nature, cluster, shop)
    return {
      database,
      shop,
      cluster,
      people,
      thief: new Thief(nature, people),
      refundDesk: new RefundDesk(nature, people),
      signers: new Signers(nature, people)
    }
  }).pipe(Effect.provideService(SecureRandom.SecureRandom, random))
}
