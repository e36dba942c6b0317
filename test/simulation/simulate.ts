// One run of one seed: builds the world, lets people and faults loose on it, ends the faults, and holds what
// has become of it against the invariants.
import { Context, Duration, Effect, Layer, Scope, Semaphore } from "effect"
import { SecureRandom } from "effect/crypto"
import type {} from "../../src/AppConfig.ts"
import { AppConfig } from "../../src/AppConfig.ts"
import { KeyAuth } from "../../src/keys/KeyAuth.ts"
import { FaultPoints } from "../../src/workers/FaultPoints.ts"
import { testConfig } from "../support/memory.ts"
import { blocks } from "./blocks.ts"
import { Cluster } from "./Cluster.ts"
import { Ledger } from "./chain/Ledger.ts"
import { SimulatedNode } from "./chain/SimulatedNode.ts"
import { Shopper } from "./checkout/Shopper.ts"
import { Draw } from "./Draw.ts"
import { closeEntropy } from "./entropy.ts"
import { FaultBoard, type FaultName, quiet } from "./faults.ts"
import { always } from "./oracle/always.ts"
import { atEnd } from "./oracle/atEnd.ts"
import type { Look, PaymentOf, Rows } from "./oracle/Look.ts"
import { addressOf, People, type Shop } from "./People.ts"
import type { Plan } from "./Plan.ts"
import { Receivers } from "./Receivers.ts"
import { ShopPeople } from "./ShopPeople.ts"
import { Signers } from "./Signers.ts"
import { memoryStore, type Store } from "./Store.ts"
import { sqlStore } from "./sql/sqlStore.ts"
import { Thief } from "./Thief.ts"
import type { Happening } from "./Trace.ts"
import { troubles } from "./troubles.ts"
import { beginning, type Owner, World, WorldStuck } from "./World.ts"

export interface Broken {
  readonly invariant: string
  readonly detail: string
}

export interface Outcome {
  readonly plan: Plan
  readonly hash: string
  readonly steps: number
  /** Milliseconds of the world's time. */
  readonly elapsed: number
  readonly broken: Broken | undefined
  readonly happenings: ReadonlyArray<Happening>
  readonly hits: ReadonlyMap<FaultName, number>
  readonly points: ReadonlyMap<string, number>
  /** What payments and deliveries came to, by name. */
  readonly states: ReadonlyMap<string, number>
}

class InvariantBroken extends Error {
  readonly broken: Broken
  constructor(broken: Broken) {
    super(`${broken.invariant}: ${broken.detail}`)
    this.broken = broken
  }
}

/** What is due once the faults have ceased is done within this time: three attempts, and the leases before them. */
const boundMillis = 15 * 60_000
/** An instance lets payments expire once it has run for as long as they wait, of what waits for minutes. */
const patientMillis = 7 * 60_000
/** Seconds: who waits for longer is not waited for. */
const shortExpiry = 300
const longestSteps = 400_000
/** The step of the world's time once the faults have ceased: nothing races any more, and minutes have to pass. */
const slowTick = 15_000
const baseConfig: typeof AppConfig.Service = Effect.runSync(
  Effect.scoped(Effect.map(Layer.build(testConfig()), (context) => Context.get(context, AppConfig)))
)

export const simulate = (plan: Plan, verbose = false): Outcome => {
  const draw = new Draw(plan.seed)
  const world = new World(draw, { preemptAfter: plan.preemptAfter, longest: longestSteps })
  const board = new FaultBoard(world, plan.faults, draw)
  board.verbose = verbose
  const restore = closeEntropy(world, draw.of("entropy"))
  try {
    const run = new Run(plan, draw, world, board)
    let broken: Broken | undefined
    try {
      run.play()
    } catch (error) {
      if (error instanceof InvariantBroken) broken = error.broken
      else if (error instanceof WorldStuck) broken = { invariant: "the world goes on", detail: error.message }
      else throw error
    }
    if (broken !== undefined) {
      world.tell("oracle", `${broken.invariant}: ${broken.detail}`)
      if (verbose) run.tellRows()
    }
    return {
      plan,
      hash: world.trace.hash,
      steps: world.steps,
      elapsed: world.elapsed,
      broken,
      happenings: world.trace.happenings,
      hits: board.hits,
      points: board.points,
      states: run.states
    }
  } finally {
    restore()
  }
}

interface Parts {
  readonly store: Store
  readonly cluster: Cluster
  readonly people: People
  readonly shopPeople: ShopPeople
  readonly thief: Thief
  readonly shopper: Shopper
  readonly signers: Signers
}

/** What the service's wallet holds, what is paid of it for one payer in a day, and the gas of one payment. */
const relayerWei = 10n ** 18n
const gasPerPayer = 260_000n
const gasPerPayment = 77_500n

class Run {
  readonly states = new Map<string, number>()
  readonly #plan: Plan
  readonly #draw: Draw
  readonly #world: World
  readonly #board: FaultBoard
  readonly #ledger: Ledger
  readonly #nodes: ReadonlyArray<SimulatedNode>
  readonly #receivers: Receivers
  readonly #shops: Array<Shop> = []
  #rowsBefore: ReadonlyArray<Rows> = []
  #before: ReadonlyMap<string, PaymentOf> = new Map()
  #ended: ReadonlyMap<string, string> = new Map()
  #parts: Parts | undefined
  /** People who have not finished. */
  #busy = 0
  #steps = 0
  #awaited = false

  constructor(plan: Plan, draw: Draw, world: World, board: FaultBoard) {
    this.#plan = plan
    this.#draw = draw
    this.#world = world
    this.#board = board
    this.#ledger = new Ledger(draw, Math.floor(beginning / 1000) - 60)
    this.#nodes = Array.from(
      { length: plan.nodes },
      (_, index) => new SimulatedNode(`node ${index + 1}`, this.#ledger)
    )
    this.#receivers = new Receivers(world, board, draw)
  }

  get #gasPerMerchant(): bigint {
    return BigInt(this.#plan.relayed) * gasPerPayment
  }

  get #isPatient(): boolean {
    return this.#plan.patient && this.#plan.expirySeconds <= shortExpiry
  }

  get #built(): Parts {
    if (this.#parts === undefined) throw new Error("the world is not built yet")
    return this.#parts
  }

  /** Starts a fiber of the world's own. */
  #go(effect: Effect.Effect<unknown, unknown>): void {
    const { outside } = this.#world
    const context = Context.merge(this.#world.context(outside), quiet)
    this.#world.schedule(outside, () => {
      Effect.runForkWith(context)(effect).addObserver((exit) => {
        if (exit._tag === "Failure")
          throw new Error(`the world itself failed: ${Bun.inspect(exit.cause, { depth: 6 })}`)
      })
    })
  }

  play(): void {
    this.#go(
      Effect.map(this.#build(), (parts) => {
        this.#parts = parts
      })
    )
    this.#world.run(() => this.#parts !== undefined)
    const { cluster } = this.#built
    for (let count = 0; count < this.#plan.instances; count++) cluster.start()
    this.#board.abandon = (owner) => this.#abandon(owner)
    this.#world.onStep = () => this.#afterStep()
    const nature = {
      world: this.#world,
      plan: this.#plan,
      board: this.#board,
      ledger: this.#ledger,
      nodes: this.#nodes,
      cluster,
      draw: this.#draw
    }
    this.#go(blocks(nature))
    this.#go(troubles(nature))
    this.#go(this.#shopping())
    let [endAt, lookAt] = [Number.POSITIVE_INFINITY, 0]
    this.#world.run(() => {
      if (!this.#board.calm) {
        if (this.#busy > 0 || !this.#shopped || cluster.down) return false
        this.#calm()
        endAt = this.#world.now + boundMillis
        lookAt = this.#world.now + (this.#isPatient ? patientMillis : 0)
      }
      if (this.#world.now < lookAt) return false
      lookAt = this.#world.now + 1_000
      return this.#world.now >= endAt || this.#isQuiet()
    })
    this.#check({ ...always, ...atEnd })
    this.#count()
  }

  #shopped = false
  #calmSince = 0

  #build() {
    const random = SecureRandom.make((size) => this.#draw.bytes(size))
    return Effect.gen({ self: this }, function* () {
      const faultPoints = Layer.succeed(FaultPoints, this.#board.at)
      const store =
        this.#plan.store === "sql"
          ? sqlStore(this.#world, this.#board, this.#draw, this.#plan.upkeep)
          : yield* memoryStore(this.#world.outside).pipe(Effect.provide(faultPoints))
      const layer = store.layer.pipe(Layer.provide(faultPoints))
      const { signing } = store
      const first = yield* Layer.buildWithScope(layer, Scope.makeUnsafe())
      const keys = Context.get(first, KeyAuth)
      for (let number = 1; number <= this.#plan.merchants; number++) {
        const receiver = addressOf(0x500 + number)
        const { keys: issued, merchant } = yield* Effect.orDie(
          keys.createMerchant({ name: `Shop ${number}`, receivers: { test: receiver, live: receiver } })
        )
        this.#shops.push({
          name: `shop${number}`,
          merchant,
          receiver,
          secret: issued.test.secret,
          publishable: issued.test.publishable,
          url: `https://shop${number}.example.com/hook`,
          desk: Semaphore.makeUnsafe(1)
        })
      }
      const { expirySeconds, confirmations } = this.#plan
      const cluster = new Cluster({
        world: this.#world,
        plan: this.#plan,
        board: this.#board,
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
          finalityDepth: confirmations + 4,
          relaying: { ...baseConfig.relaying, gasPerMerchant: this.#gasPerMerchant, gasPerPayer }
        },
        nodes: this.#nodes,
        sender: this.#receivers.sender,
        isAwaited: () => this.#plan.attentive && this.#awaited,
        draw: this.#draw
      })
      const people = new People({
        world: this.#world,
        cluster,
        ledger: this.#ledger,
        draw: this.#draw,
        plan: this.#plan
      })
      const signers = new Signers(this.#world, people, this.#ledger, this.#draw)
      if (store.relayer !== undefined) {
        this.#ledger.relayer = store.relayer
        this.#ledger.wei.set(store.relayer, relayerWei)
      }
      const shopper = new Shopper({
        world: this.#world,
        people,
        ledger: this.#ledger,
        nodes: this.#nodes,
        draw: this.#draw,
        signs: store.relayer !== undefined
      })
      return {
        store,
        cluster,
        people,
        shopPeople: new ShopPeople(people, this.#receivers),
        thief: new Thief(this.#world, people, this.#ledger, this.#plan),
        shopper,
        signers
      }
    }).pipe(Effect.provideService(SecureRandom.SecureRandom, random))
  }

  /** People come, one after the other. */
  #shopping(): Effect.Effect<void> {
    const draw = this.#draw.of("shopping")
    return Effect.gen({ self: this }, function* () {
      const { people, shopPeople, shopper, signers, thief } = this.#built
      const start = (effect: Effect.Effect<void>) => {
        this.#busy++
        this.#go(
          Effect.ensuring(
            effect,
            Effect.sync(() => {
              this.#busy--
            })
          )
        )
      }
      for (const shop of this.#shops) start(shopPeople.register(shop))
      start(this.#upkeep())
      yield* Effect.sleep(draw.between(0, 5_000))
      for (let number = 1; number <= this.#plan.payments; number++) {
        const shop = this.#shops[draw.below(this.#shops.length)]
        if (shop === undefined) continue
        start(this.#plan.checkout && draw.chance(0.7) ? shopper.buy(shop, number) : people.buy(shop, number))
        if (draw.chance(0.25)) start(thief.steal(shop))
        if (draw.chance(0.15)) start(people.stray(shop))
        if (draw.chance(0.15)) start(shopPeople.operate(shop))
        yield* Effect.sleep(draw.between(0, this.#plan.arrivalMillis))
      }
      for (let number = 1; number <= this.#plan.signers; number++) {
        const shop = this.#shops[draw.below(this.#shops.length)]
        if (shop !== undefined) start(signers.come(shop, number))
        yield* Effect.sleep(draw.between(0, this.#plan.arrivalMillis))
      }
      this.#shopped = true
    })
  }

  /** An operator changes the tables. */
  #upkeep(): Effect.Effect<void> {
    const draw = this.#draw.of("upkeep")
    return Effect.gen({ self: this }, function* () {
      const { cluster, store } = this.#built
      const { upkeep } = store
      if (upkeep === undefined || this.#plan.upkeep === "none") return
      yield* Effect.sleep(draw.between(0, 40_000))
      if (this.#plan.upkeep === "partition") return yield* upkeep.divide
      cluster.closed = true
      this.#world.tell("operator", "stops all instances")
      for (const instance of [...cluster.instances]) cluster.stop(instance)
      yield* Effect.sleep("20 seconds")
      cluster.endStopping()
      yield* upkeep.backAndForth
      cluster.closed = false
      if (!cluster.down) for (let count = 0; count < this.#plan.instances; count++) cluster.start()
    })
  }

  #abandon(owner: Owner): void {
    const { cluster } = this.#built
    cluster.abandon(owner)
    cluster.startIn(100 + (this.#steps % 20) * 700)
  }

  /** The faults cease: one good instance at least, nodes that tell the truth. */
  #calm(): void {
    this.#board.calm = true
    this.#calmSince = this.#world.now
    this.#world.tick = slowTick
    this.#world.tell("troubles", "the faults cease")
    for (const node of this.#nodes) {
      node.lie = undefined
      node.down = false
      node.stuck = false
      node.follow()
    }
    const { cluster } = this.#built
    for (const { owner } of cluster.instances) {
      owner.skewMillis = 0
      owner.frozenUntil = 0
    }
    if (cluster.instances.length === 0) cluster.start()
  }

  #afterStep(): void {
    const { cluster } = this.#built
    this.#steps++
    const owner = cluster.instances[this.#steps % Math.max(1, cluster.instances.length)]?.owner
    if (owner !== undefined && this.#board.comes("an instance is abandoned")) this.#abandon(owner)
    if (!this.#board.changed) return
    this.#board.changed = false
    this.#check(always)
  }

  /** Undefined while somebody is in a transaction. */
  #look(): Look | undefined {
    const { cluster, people, signers, store, thief } = this.#built
    const rows = store.rows(this.#shops)
    if (rows === undefined) return undefined
    return {
      now: this.#world.now,
      rows,
      rowsBefore: this.#rowsBefore,
      before: this.#before,
      ended: this.#ended,
      ledger: this.#ledger,
      posts: this.#receivers.posts,
      people,
      thief,
      signers,
      confirmations: this.#plan.confirmations,
      openTransactions: this.#board.calm ? store.openTransactions() : 0,
      gasPerMerchant: this.#gasPerMerchant,
      board: this.#board,
      expiryMillis: this.#plan.expirySeconds * 1_000,
      overdueBefore: this.#isPatient && this.#board.calm ? this.#calmSince : undefined,
      skewMillis: cluster.worstSkew
    }
  }

  #check(invariants: Readonly<Record<string, (look: Look) => string | undefined>>): void {
    const look = this.#look()
    if (look === undefined) {
      this.#board.changed = true
      return
    }
    for (const [invariant, holds] of Object.entries(invariants)) {
      const detail = holds(look)
      if (detail !== undefined) throw new InvariantBroken({ invariant, detail })
    }
    this.#awaited = look.rows.some(({ payments }) => payments.some(({ status }) => status === "pending"))
    this.#built.people.stored(look.rows)
    this.#rowsBefore = look.rows
    this.#before = new Map(look.rows.flatMap(({ payments }) => payments.map((one) => [String(one.id), one])))
    this.#ended = new Map(
      look.rows.flatMap(({ deliveries }) =>
        deliveries.flatMap(({ id, status }) => (status === "pending" ? [] : [[id, status]]))
      )
    )
  }

  /** Whether nothing is due any more. */
  #isQuiet(): boolean {
    const look = this.#look()
    if (look === undefined) return false
    const read = this.#built.store.readUpTo()
    const busy = this.#ledger.fork.blocks.findLast(({ mined }) => mined.length > 0)?.number ?? -1
    if (read < busy || this.#ledger.isWaiting) return false
    return Object.values(atEnd).every((holds) => holds(look) === undefined)
  }

  /** What is stored, for the reader. */
  tellRows(): void {
    const tell = (what: string) => this.#world.trace.whisper(this.#world.elapsed, "rows", what)
    for (const { deliveries, payments, settlements, shop, transfers } of this.#look()?.rows ?? []) {
      for (const { id, nonce, paymentId, reason, status } of settlements)
        tell(
          `${shop.name} authorization ${nonce.slice(0, 10)} (${id}) for ${paymentId} ${status} ${reason ?? ""}`
        )
      for (const { id, reported, status } of payments)
        tell(`${shop.name} payment ${id} ${status} ${reported?.evidence.transactionId.slice(0, 10) ?? ""}`)
      for (const { blockNumber, droppedAt, kind, paymentId, transactionId } of transfers)
        tell(
          `${shop.name} transfer ${transactionId.slice(0, 10)} in ${blockNumber}, ${kind ?? "undecided"}, ${paymentId ?? "of no payment"}${droppedAt === null ? "" : ", dropped"}`
        )
      for (const { attempts, id, status, type } of deliveries)
        tell(`${shop.name} ${type} ${id} ${status} after ${attempts.length}`)
    }
  }

  #count(): void {
    for (const { deliveries, payments, settlements, transfers } of this.#look()?.rows ?? []) {
      const names = [
        ...settlements.map(
          ({ reason, status }) => `authorization ${status}${reason === null ? "" : `, ${reason}`}`
        ),
        ...payments.map(
          ({ failureReason, status }) =>
            `payment ${status}${failureReason === null ? "" : ` ${failureReason}`}`
        ),
        ...deliveries.map(({ attempts, status, type }) => `${type} ${status} after ${attempts.length}`),
        ...transfers.map(({ droppedAt, kind, paymentId }) =>
          droppedAt !== null
            ? "transfer dropped"
            : paymentId !== null
              ? "transfer explained"
              : `transfer ${kind ?? "undecided"}`
        )
      ]
      for (const name of names) this.states.set(name, (this.states.get(name) ?? 0) + 1)
    }
  }
}
