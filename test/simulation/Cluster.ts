// Instances of the service over one database: started, stopped, abandoned between any two steps, and restarted. Each
// has its own layers, clock and nodes' client.
import { Context, Deferred, Effect, Exit, Layer, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import * as App from "../../src/app/App.ts"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import { ContractSignatures } from "../../src/chain/ContractSignatures.ts"
import type { RpcNode } from "../../src/chain/RpcPool/RpcNode.ts"
import { RpcPool } from "../../src/chain/RpcPool.ts"
import { byEnv } from "../../src/domain/networks.ts"
import { SettlementLimits } from "../../src/merchants/settlementLevels/SettlementLimits.ts"
import { BuyerIdentity } from "../../src/payments/buyers/BuyerIdentity.ts"
import { AppConfig } from "../../src/platform/AppConfig.ts"
import { EgressPolicy } from "../../src/platform/egress/EgressPolicy.ts"
import { RateLimiter } from "../../src/platform/limits/RateLimiter.ts"
import { layerOpenNetworks } from "../../src/platform/Networks.ts"
import { DueWork } from "../../src/platform/workers/DueWork.ts"
import { DeliveryWake } from "../../src/webhooks/DeliveryWake.ts"
import { WebhookSender } from "../../src/webhooks/WebhookSender.ts"
import { buildWithFaultPoints, withFaultPoints } from "../support/faultPoints.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { rpcNodeOf } from "./chain/SimulatedNode.ts"
import { type Answer, type Ask, type Door, doorOf } from "./Door.ts"
import type { Draw } from "./Draw.ts"
import { quiet } from "./faults.ts"
import type { Nature } from "./Nature.ts"
import type { Database } from "./sql/database.ts"
import type { Owner } from "./World.ts"

interface Instance {
  readonly owner: Owner
  readonly scope: Scope.Closeable
  readonly context: Context.Context<never>
  door: Door | undefined
  /** Once it stops, requests that it has not answered get no answer. */
  stopping: boolean
  readonly gone: Deferred.Deferred<void>
}

/** The parts that its instances are built from. */
interface Materials {
  readonly layers: Pick<Database, "layer" | "signing">
  readonly random: SecureRandom.SecureRandom["Service"]
  readonly config: typeof AppConfig.Service
  /** Called when an instance takes no further step. */
  readonly abandoned: (owner: Owner) => void
  /** A node has returned the relayer wallet's balance. */
  readonly balanceTold: () => void
}

/** People hang up after this long. */
const patience = "20 seconds"

/** The interval at which each worker polls. */
const paceMillis = 5_000

export class Cluster {
  readonly instances: Array<Instance> = []
  readonly #nature: Nature
  readonly #materials: Materials
  readonly #draw: Draw
  #started = 0
  /** The largest error that an instance's clock ever had, in milliseconds. */
  worstSkew = 0
  /** No instance runs for a day, and few blocks are mined. */
  down = false

  constructor(nature: Nature, materials: Materials) {
    this.#nature = nature
    this.#materials = materials
    this.#draw = nature.draw.of("cluster")
  }

  /** Starts one more instance, on the fiber of the world. */
  start(): void {
    const { board, world } = this.#nature
    const name = `instance ${++this.#started}`
    const owner: Owner = { name, alive: true, skewMillis: 0 }
    if (board.comes("a clock jumps")) this.skew(owner)
    const instance: Instance = {
      owner,
      scope: Scope.makeUnsafe(),
      context: Context.merge(world.context(owner), quiet),
      door: undefined,
      stopping: false,
      gone: Deferred.makeUnsafe()
    }
    this.instances.push(instance)
    world.tell(name, "starts")
    this.#run(
      instance,
      Effect.map(this.#build(instance), (door) => {
        instance.door = door
        world.tell(name, "is ready")
      })
    )
  }

  skew(owner: Owner): void {
    const most = this.#draw.pick([20_000, 120_000])
    owner.skewMillis = this.#draw.between(-most, most)
    this.worstSkew = Math.max(this.worstSkew, Math.abs(owner.skewMillis))
    this.#nature.world.tell(owner.name, `its clock is ${owner.skewMillis} ms ahead`)
  }

  /** After this long, unless all instances are down. */
  startIn(millis: number): void {
    const { world } = this.#nature
    world.after(millis, world.outside, () => {
      if (!this.down) this.start()
    })
  }

  /** Like a suspended machine: its running work continues later, whatever has happened in between. */
  freeze(owner: Owner, millis: number): void {
    const { world } = this.#nature
    owner.frozenUntil = world.now + millis
    world.tell(owner.name, `stands still for ${millis} ms`)
  }

  #run(instance: Instance, effect: Effect.Effect<unknown, unknown>): void {
    const { world } = this.#nature
    world.schedule(instance.owner, () => {
      Effect.runForkWith(instance.context)(effect)
    })
  }

  /** It takes no further step, and none of its timers fires. */
  abandon(owner: Owner): void {
    const instance = this.instances.find((one) => one.owner === owner)
    if (instance === undefined || !owner.alive) return
    owner.alive = false
    this.instances.splice(this.instances.indexOf(instance), 1)
    this.#nature.world.tell(owner.name, "is abandoned")
    this.#materials.abandoned(owner)
    Deferred.doneUnsafe(instance.gone, Exit.void)
  }

  /** Ends as on SIGTERM. */
  stop(instance: Instance): void {
    const { world } = this.#nature
    this.instances.splice(this.instances.indexOf(instance), 1)
    world.tell(instance.owner.name, "stops")
    instance.stopping = true
    this.#run(
      instance,
      Effect.andThen(
        Scope.close(instance.scope, Exit.void),
        Effect.sync(() => {
          instance.owner.alive = false
          world.tell(instance.owner.name, "has stopped")
          Deferred.doneUnsafe(instance.gone, Exit.void)
        })
      )
    )
  }

  /** Sends a request to an instance, as a browser or a server does; returns undefined if no answer arrived. */
  ask(who: string, ask: Ask): Effect.Effect<Answer | undefined> {
    return Effect.suspend(() => {
      const { board, world } = this.#nature
      const ready = this.instances.filter((one) => one.door !== undefined)
      const instance = ready[this.#draw.below(ready.length)]
      const door = instance?.door
      if (instance === undefined || door === undefined) return Effect.as(Effect.sleep("1 second"), undefined)
      if (board.comes("a request is lost")) {
        world.tell(who, `${ask.do}: the request is lost`)
        return Effect.as(Effect.sleep("3 seconds"), undefined)
      }
      const answered = Deferred.makeUnsafe<Answer | undefined>()
      const deliver = Effect.flatMap(Effect.exit(door(ask)), (exit) => {
        if (Exit.isFailure(exit) && instance.stopping) return Effect.void
        if (board.comes("an answer is lost")) return Effect.void
        const answer: Answer = Exit.isSuccess(exit) ? exit.value : { status: 500 }
        const late = board.comes("an answer is late") ? this.#draw.between(100, 15_000) : 0
        const give = Deferred.succeed(answered, answer)
        return late === 0 ? give : Effect.andThen(Effect.sleep(late), give)
      })
      this.#run(instance, deliver)
      if (board.comes("a request comes twice")) this.#run(instance, deliver)
      const gone = Effect.as(Deferred.await(instance.gone), undefined)
      return Effect.raceFirst(
        Effect.raceFirst(Deferred.await(answered), gone),
        Effect.as(Effect.sleep(patience), undefined)
      ).pipe(
        Effect.tap((answer) =>
          Effect.sync(() => {
            const { error, payment } = answer ?? {}
            const code = error?.code ?? payment?.status ?? ""
            world.tell(
              who,
              `${ask.do} at ${instance.owner.name}: ${answer === undefined ? "no answer" : `${answer.status} ${code}`}`
            )
          })
        )
      )
    })
  }

  #build(instance: Instance) {
    const { board, draw, nodes, receivers } = this.#nature
    const { balanceTold, config, layers, random } = this.#materials
    const trouble = {
      fails: () => board.comes("a node fails a call"),
      malformed: () => board.comes("a node answers nonsense"),
      slow: () => board.comes("a node answers late"),
      loses: () => board.comes("the answer of a node is lost"),
      forgets: () => board.comes("a node does not say who sent a transaction"),
      balanceTold
    }
    // While nothing is written, workers poll less often: a real database wakes them when something is due.
    const seen = new Map<string, number>()
    const pace = (queue: string) => {
      const isStill = seen.get(queue) === board.writes
      seen.set(queue, board.writes)
      return paceMillis * (isStill ? 3 : 1)
    }
    const stream = draw.of(instance.owner.name)
    const own = nodes
      .map((node) => rpcNodeOf(node, stream, trouble))
      .map(
        (node): RpcNode => ({
          ...node,
          call: (method, params, result) => board.at(`RpcNode.${method}`, node.call(method, params, result))
        })
      )
    const below = Layer.mergeAll(
      ChainVerifier.layerConfig,
      Layer.succeed(WebhookSender, withFaultPoints("WebhookSender", receivers.sender, board.at)),
      BuyerIdentity.layerMemory,
      DeliveryWake.layerLocal,
      RateLimiter.layerMemory,
      EgressPolicy.layerOf({ ownHosts: ["localhost"], allowedHosts: [] }),
      Layer.succeed(DueWork, {
        next: (queue) => Effect.suspend(() => Effect.sleep(pace(queue))),
        isAwaited: () => false
      })
    ).pipe(
      Layer.provideMerge(SettlementLimits.layerNone),
      Layer.provideMerge(
        Layer.merge(
          RpcPool.layerNodes({ ...byEnv(() => []), [moneyNetwork.env]: own }),
          ContractSignatures.layerNone
        )
      ),
      Layer.provideMerge(
        Layer.mergeAll(layers.layer, Layer.succeed(AppConfig, config), layerOpenNetworks(config.opened))
      ),
      Layer.provideMerge(Layer.succeed(SecureRandom.SecureRandom, random))
    )
    const service = layers.signing.pipe(Layer.provideMerge(App.layerServices), Layer.provideMerge(below))
    return buildWithFaultPoints(service, board.at).pipe(Scope.provide(instance.scope), Effect.map(doorOf))
  }
}
