// What a world is made of: the service's instances over one store, and everybody who deals with them.
import { Context, Duration, Effect, Layer, Scope, Semaphore } from "effect"
import { SecureRandom } from "effect/crypto"
import type {} from "../../src/AppConfig.ts"
import { AppConfig } from "../../src/AppConfig.ts"
import { KeyAuth } from "../../src/keys/KeyAuth.ts"
import { FaultPoints } from "../../src/workers/FaultPoints.ts"
import { testConfig } from "../support/memory.ts"
import { Cluster } from "./Cluster.ts"
import type { Ledger } from "./chain/Ledger.ts"
import type { SimulatedNode } from "./chain/SimulatedNode.ts"
import { Shopper } from "./checkout/Shopper.ts"
import type { Draw } from "./Draw.ts"
import type { FaultBoard } from "./faults.ts"
import { Intruder } from "./Intruder.ts"
import { addressOf, People, type Shop } from "./People.ts"
import type { Plan } from "./Plan.ts"
import type { Receivers } from "./Receivers.ts"
import { RefundDesk } from "./RefundDesk.ts"
import { ShopPeople } from "./ShopPeople.ts"
import { Signers } from "./Signers.ts"
import { memoryStore, type Store } from "./Store.ts"
import { sqlStore } from "./sql/sqlStore.ts"
import { Thief } from "./Thief.ts"
import { emptyRelayer } from "./troubles.ts"
import type { World } from "./World.ts"

export interface Parts {
  readonly store: Store
  readonly shops: ReadonlyArray<Shop>
  readonly cluster: Cluster
  readonly people: People
  readonly shopPeople: ShopPeople
  readonly thief: Thief
  readonly shopper: Shopper
  readonly signers: Signers
  readonly refundDesk: RefundDesk
  readonly intruder: Intruder
  /** What may be relayed for a merchant in a day. */
  readonly gasPerMerchant: bigint
  /** Of the service. */
  readonly baseUrl: string
}

/** What the service's wallet holds, what is paid of it for one payer in a day, and the gas of one payment. */
const relayerWei = 10n ** 18n
const gasPerPayer = 260_000n
const gasPerPayment = 77_500n

const baseConfig: typeof AppConfig.Service = Effect.runSync(
  Effect.scoped(Effect.map(Layer.build(testConfig()), (context) => Context.get(context, AppConfig)))
)

export const makeParts = ({
  board,
  draw,
  isAwaited,
  ledger,
  nodes,
  plan,
  receivers,
  world
}: {
  readonly plan: Plan
  readonly draw: Draw
  readonly world: World
  readonly board: FaultBoard
  readonly ledger: Ledger
  readonly nodes: ReadonlyArray<SimulatedNode>
  readonly receivers: Receivers
  /** Whether a payment waits for its money. */
  readonly isAwaited: () => boolean
}): Effect.Effect<Parts> => {
  const random = SecureRandom.make((size) => draw.bytes(size))
  return Effect.gen(function* () {
    const faultPoints = Layer.succeed(FaultPoints, board.at)
    const store =
      plan.store === "sql"
        ? sqlStore(world, board, draw)
        : yield* memoryStore(world.outside).pipe(Effect.provide(faultPoints))
    const layer = store.layer.pipe(Layer.provide(faultPoints))
    const { signing } = store
    const first = yield* Layer.buildWithScope(layer, Scope.makeUnsafe())
    const keys = Context.get(first, KeyAuth)
    const shops: Array<Shop> = []
    for (let number = 1; number <= plan.merchants; number++) {
      const receiver = addressOf(0x500 + number)
      const { keys: issued, merchant } = yield* Effect.orDie(
        keys.createMerchant({ name: `Shop ${number}`, receivers: { test: receiver, live: receiver } })
      )
      shops.push({
        name: `shop${number}`,
        merchant,
        receiver,
        secret: issued.test.secret,
        publishable: issued.test.publishable,
        live: issued.live,
        url: `https://shop${number}.example.com/hook`,
        desk: Semaphore.makeUnsafe(1)
      })
    }
    const gasPerMerchant = BigInt(plan.relayed) * gasPerPayment
    const { expirySeconds, confirmations } = plan
    const troubles = draw.of("relaying wallet")
    const cluster = new Cluster({
      world,
      plan,
      board,
      store: {
        layer,
        ...(signing === undefined ? {} : { signing: signing.pipe(Layer.provide(faultPoints)) })
      },
      random,
      abandoned: store.abandon,
      config: {
        ...baseConfig,
        paymentExpiry: Duration.seconds(expirySeconds),
        testnetConfirmations: confirmations,
        finalityDepth: plan.finality,
        relaying: { ...baseConfig.relaying, gasPerMerchant, gasPerPayer }
      },
      nodes,
      sender: receivers.sender,
      balanceTold: () => emptyRelayer({ board, ledger, world }, troubles),
      isAwaited,
      draw
    })
    const people = new People({ world, cluster, ledger, draw, plan, nodes })
    if (store.relayer !== undefined) {
      ledger.relayer = store.relayer
      ledger.wei.set(store.relayer, relayerWei)
    }
    const signs = store.relayer !== undefined
    return {
      store,
      shops,
      cluster,
      people,
      shopPeople: new ShopPeople(people, receivers),
      thief: new Thief(world, people, ledger, plan),
      shopper: new Shopper({ world, people, ledger, nodes, draw, signs }),
      intruder: new Intruder(world, people, board),
      refundDesk: new RefundDesk(world, people, ledger, plan),
      signers: new Signers(world, people, ledger, plan, draw),
      gasPerMerchant,
      baseUrl: baseConfig.baseUrl
    }
  }).pipe(Effect.provideService(SecureRandom.SecureRandom, random))
}
