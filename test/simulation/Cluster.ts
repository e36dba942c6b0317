// Instances of the service over one store: started, stopped, abandoned between any two steps, and started
// again. Each has its own layers, clock and nodes' client; the store is all that they share.
import { Context, Deferred, Effect, Exit, Layer, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpRouter, HttpServer } from "effect/http"
import * as App from "../../src/App.ts"
import { AppConfig } from "../../src/AppConfig.ts"
import { Agents } from "../../src/agents/Agents.ts"
import { Releases } from "../../src/agents/Releases.ts"
import { Books } from "../../src/books/Books.ts"
import { BuyerIdentity } from "../../src/buyers/BuyerIdentity.ts"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import { ContractSignatures } from "../../src/chain/ContractSignatures.ts"
import { RpcPool } from "../../src/chain/RpcPool.ts"
import { EgressPolicy } from "../../src/egress/EgressPolicy.ts"
import { Faucet } from "../../src/faucet/Faucet.ts"
import { routerConfig } from "../../src/http/Server.ts"
import { SecretBox } from "../../src/keys/SecretBox.ts"
import { RateLimiter } from "../../src/limits/RateLimiter.ts"
import { LinkRepo } from "../../src/links/LinkRepo.ts"
import { Faces } from "../../src/merchants/Faces.ts"
import * as Routes from "../../src/Routes.ts"
import { ReceiptMails } from "../../src/receipts/ReceiptMails.ts"
import { Receipts } from "../../src/receipts/Receipts.ts"
import { DeliveryWake } from "../../src/webhooks/DeliveryWake.ts"
import { WebhookSender } from "../../src/webhooks/WebhookSender.ts"
import { DueWork } from "../../src/workers/DueWork.ts"
import { FaultPoints } from "../../src/workers/FaultPoints.ts"
import { Facilitator } from "../../src/x402/Facilitator.ts"
import { rpcNodeOf, type SimulatedNode } from "./chain/SimulatedNode.ts"
import { doorOfSigning } from "./Door/signing.ts"
import { type Answer, type Ask, type Door, doorOfHandlers, doorOfServices } from "./Door.ts"
import type { Draw } from "./Draw.ts"
import { type FaultBoard, quiet } from "./faults.ts"
import type { Plan } from "./Plan.ts"
import type { Store } from "./Store.ts"
import type { Owner, World } from "./World.ts"

interface Instance {
  readonly owner: Owner
  readonly scope: Scope.Closeable
  readonly context: Context.Context<never>
  door: Door | undefined
  /** What it had not answered when it was told to stop gets no answer. */
  stopping: boolean
  readonly gone: Deferred.Deferred<void>
}

export interface Surroundings {
  readonly world: World
  readonly plan: Plan
  readonly board: FaultBoard
  readonly store: Pick<Store, "layer" | "signing">
  readonly random: SecureRandom.SecureRandom["Service"]
  /** Called for an instance that takes no further step. */
  readonly abandoned: (owner: Owner) => void
  readonly config: typeof AppConfig.Service
  readonly nodes: ReadonlyArray<SimulatedNode>
  readonly sender: WebhookSender["Service"]
  readonly draw: Draw
  /** A node has told what the relaying wallet holds. */
  readonly balanceTold: () => void
  /** Whether any payment waits to be paid. */
  readonly isAwaited: () => boolean
}

/** People hang up after so long. */
const patience = "20 seconds"

const nothingElse = Layer.mergeAll(
  Agents.layerNone,
  Facilitator.layerNone,
  Releases.layerNone,
  HttpServer.layerServices,
  Faucet.layerMemory(() => Effect.succeed([]))
)

export class Cluster {
  readonly instances: Array<Instance> = []
  readonly #stopping = new Set<Instance>()
  readonly #around: Surroundings
  readonly #draw: Draw
  #started = 0
  /** Milliseconds by which an instance's clock was ever wrong. */
  worstSkew = 0
  /** For a day no instance runs, and few blocks are mined. */
  down = false
  /** An operator keeps all instances stopped. */
  closed = false
  abandoned = 0

  constructor(around: Surroundings) {
    this.#around = around
    this.#draw = around.draw.of("cluster")
  }

  /** Starts one more instance, on the fiber of the world. */
  start(): void {
    const { board, world } = this.#around
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
    this.#around.world.tell(owner.name, `its clock is ${owner.skewMillis} ms ahead`)
  }

  /** After so long, unless somebody keeps all of them down. */
  startIn(millis: number): void {
    const { world } = this.#around
    world.after(millis, world.outside, () => {
      if (!this.down && !this.closed) this.start()
    })
  }

  /** As a machine that is suspended: what it has begun goes on later, whatever has happened meanwhile. */
  freeze(owner: Owner, millis: number): void {
    const { world } = this.#around
    owner.frozenUntil = world.now + millis
    world.tell(owner.name, `stands still for ${millis} ms`)
  }

  #run(instance: Instance, effect: Effect.Effect<unknown, unknown>): void {
    const { world } = this.#around
    world.schedule(instance.owner, () => {
      Effect.runForkWith(instance.context)(effect)
    })
  }

  /** It takes no further step, and nothing that it slept for happens. */
  abandon(owner: Owner): void {
    const instance = this.instances.find((one) => one.owner === owner)
    if (instance === undefined || !owner.alive) return
    owner.alive = false
    this.abandoned++
    this.instances.splice(this.instances.indexOf(instance), 1)
    this.#around.world.tell(owner.name, "is abandoned")
    this.#around.abandoned(owner)
    Deferred.doneUnsafe(instance.gone, Exit.void)
  }

  /** Ends as on SIGTERM. */
  stop(instance: Instance): void {
    const { world } = this.#around
    this.instances.splice(this.instances.indexOf(instance), 1)
    world.tell(instance.owner.name, "stops")
    instance.stopping = true
    this.#stopping.add(instance)
    this.#run(
      instance,
      Effect.andThen(
        Scope.close(instance.scope, Exit.void),
        Effect.sync(() => {
          instance.owner.alive = false
          this.#stopping.delete(instance)
          world.tell(instance.owner.name, "has stopped")
          Deferred.doneUnsafe(instance.gone, Exit.void)
        })
      )
    )
  }

  /** Kills what has been told to stop and still runs. */
  endStopping(): void {
    for (const { gone, owner } of this.#stopping) {
      owner.alive = false
      this.#around.world.tell(owner.name, "is killed")
      this.#around.abandoned(owner)
      Deferred.doneUnsafe(gone, Exit.void)
    }
    this.#stopping.clear()
  }

  /** Asks an instance, as a browser or a server does; undefined where no answer came. */
  ask(who: string, ask: Ask): Effect.Effect<Answer | undefined> {
    return Effect.suspend(() => {
      const { board, world } = this.#around
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
        const answer: Answer = Exit.isSuccess(exit) ? exit.value : { status: 500, body: {} }
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
            const { body, signing } = answer ?? {}
            const code = body?.error?.code ?? signing?.settle?.errorReason ?? body?.payment?.status ?? ""
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
    const { board, config, draw, nodes, plan, random, sender, store } = this.#around
    const trouble = {
      fails: () => board.comes("a node fails a call"),
      malformed: () => board.comes("a node answers nonsense"),
      slow: () => board.comes("a node answers late"),
      loses: () => board.comes("the answer of a node is lost"),
      forgets: () => board.comes("a node does not say who sent a transaction"),
      balanceTold: this.#around.balanceTold
    }
    // A queue that nothing has written to since it was looked at is looked at less often: so it is by a
    // database that tells when something is due.
    const seen = new Map<string, number>()
    const pace = (queue: string) => {
      const isStill = seen.get(queue) === board.writes
      seen.set(queue, board.writes)
      return plan.paceMillis * (isStill ? 3 : 1)
    }
    const stream = draw.of(instance.owner.name)
    const test = nodes.map((node) => rpcNodeOf(node, stream, trouble))
    const below = Layer.mergeAll(
      ChainVerifier.layerConfig,
      Layer.succeed(WebhookSender, sender),
      BuyerIdentity.layerMemory,
      DeliveryWake.layerLocal,
      RateLimiter.layerMemory,
      EgressPolicy.layerOf({ ownHosts: ["localhost"], allowedHosts: [] }),
      ReceiptMails.layerNone,
      Receipts.layerMemory.pipe(Layer.provide(SecretBox.layer)),
      LinkRepo.layerMemory,
      Faces.layerMemory,
      Books.layerNone,
      Layer.succeed(DueWork, {
        next: (queue) => Effect.suspend(() => Effect.sleep(pace(queue))),
        isAwaited: this.#around.isAwaited
      })
    ).pipe(
      Layer.provideMerge(Layer.merge(RpcPool.layerNodes({ test, live: [] }), ContractSignatures.layerNone)),
      Layer.provideMerge(Layer.merge(store.layer, Layer.succeed(AppConfig, config))),
      Layer.provideMerge(Layer.succeed(FaultPoints, board.at)),
      Layer.provideMerge(Layer.succeed(SecureRandom.SecureRandom, random))
    )
    return Effect.gen(function* () {
      const service = App.layerServices.pipe(Layer.provideMerge(below))
      if (store.signing !== undefined)
        return doorOfSigning(
          yield* Layer.buildWithScope(store.signing.pipe(Layer.provideMerge(service)), instance.scope)
        )
      const services = yield* Layer.buildWithScope(service, instance.scope)
      if (!plan.handlers) return doorOfServices(services)
      const routes = Routes.layer.pipe(
        Layer.provide(nothingElse),
        Layer.provide(Layer.succeedContext(services))
      )
      return doorOfHandlers(
        yield* HttpRouter.toHttpEffect(routes).pipe(
          Effect.provideService(Scope.Scope, instance.scope),
          Effect.provideService(HttpRouter.RouterConfig, routerConfig)
        ),
        doorOfServices(services)
      )
    })
  }
}
