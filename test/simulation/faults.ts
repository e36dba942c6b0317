// The faults of a simulated world. Each seed draws its faults and their frequency (swarm testing), because a world with
// all of them at once gets little done.
import { Context, Effect, References, Scheduler } from "effect"
import type { FaultPoint } from "../support/faultPoints.ts"
import type { Draw } from "./Draw.ts"
import { CurrentOwner, type Owner, type World } from "./World.ts"

/** Every fault, with its probability at each occasion when it is frequent. */
export const faults = {
  "a statement fails before its commit": 0.05,
  "the answer of a commit is lost": 0.05,
  "a statement is slow": 0.05,
  "a request is lost": 0.1,
  "an answer is lost": 0.1,
  "a request comes twice": 0.1,
  "an answer is late": 0.1,
  "a node fails a call": 0.1,
  "a node answers nonsense": 0.05,
  "the answer of a node is lost": 0.05,
  "a node answers late": 0.1,
  "a node does not say who sent a transaction": 0.7,
  "a node is silent": 0.1,
  "a node stands still": 0.1,
  "a node goes back": 0.1,
  "a node lies": 1,
  "the chain is reorganised": 0.2,
  "a reorganisation is deep": 1,
  "a reorganisation loses transactions": 1,
  "a transaction is dropped from the mempool": 0.1,
  "blocks come late": 0.2,
  "the chain stands still": 0.05,
  "gas is dear": 0.1,
  "the relaying wallet is empty": 0.3,
  "a receiver refuses": 0.3,
  "a receiver hangs": 0.2,
  "a receiver resets after it has handled": 0.2,
  "a receiver answers late": 0.3,
  "a post arrives twice": 0.1,
  "a receiver is down for minutes": 0.7,
  "an instance is abandoned": 0.002,
  "an instance is abandoned at a fault point": 0.02,
  "an instance is stopped": 0.1,
  "all instances are down for a day": 0.03,
  "an instance stands still": 0.1,
  "a clock jumps": 0.05
} as const

export type FaultName = keyof typeof faults
export const faultNames: ReadonlyArray<FaultName> = Object.keys(faults).filter(
  (name): name is FaultName => name in faults
)

/** The frequency of each fault of a seed, as a fraction of its highest probability. */
export type FaultPlan = ReadonlyMap<FaultName, number>

export const drawFaults = (draw: Draw): FaultPlan => {
  const share = draw.pick([0, 0.15, 0.3, 0.5])
  const drawn = new Map(
    faultNames.flatMap((name): ReadonlyArray<[FaultName, number]> => {
      const one = draw.of(name)
      return one.chance(share) ? [[name, one.pick([0.1, 0.4, 1])]] : []
    })
  )
  // This fault depends on another.
  if (drawn.has("a reorganisation is deep") && !drawn.has("the chain is reorganised"))
    drawn.set("the chain is reorganised", 0.4)
  return drawn
}

/** True if the fiber is inside a statement: nested calls belong to it. */
const InStatement = Context.Reference<boolean>("quittance/simulation/InStatement", {
  defaultValue: () => false
})

const inStatement = <A, E, R>(call: Effect.Effect<A, E, R>) =>
  call.pipe(
    Effect.provideService(Scheduler.PreventSchedulerYield, true),
    Effect.provideService(InStatement, true)
  )

/** Fault points of database calls, which happen at once or not at all. */
const statements = /Repo\./
const atPoint = "an instance is abandoned at a fault point"

const shortly = (answer: unknown) =>
  Bun.inspect(answer, { depth: 3, compact: true }).replaceAll(/\s+/g, " ").slice(0, 600)

export class FaultBoard {
  /** The number of times each fault occurred. */
  readonly hits = new Map<FaultName, number>()
  /** The number of times each fault point of the product was passed. */
  readonly points = new Map<string, number>()
  /** The fault points of the product. */
  readonly builtPoints = new Set<string>()
  /** Ends an instance at its present step, and starts another one later. */
  abandon: (owner: Owner) => void = () => {}
  /** Set once the faults end. */
  calm = false
  /** True if every statement is in the trace. */
  verbose = false
  /** True if a row has changed, or a post has arrived, since the oracle last checked. */
  changed = false
  /** Transactions that have changed rows. */
  writes = 0
  readonly #plan: FaultPlan
  readonly #draws: ReadonlyMap<FaultName, Draw>
  readonly #order: Draw
  readonly #world: World

  constructor(world: World, plan: FaultPlan, draw: Draw) {
    this.#world = world
    this.#plan = plan
    this.#draws = new Map(faultNames.map((name) => [name, draw.of(`fault ${name}`)]))
    this.#order = draw.of("statements")
  }

  has(name: FaultName): boolean {
    return this.#plan.has(name)
  }

  /** True if the fault occurs now. */
  comes(name: FaultName): boolean {
    const part = this.#plan.get(name)
    if (this.calm || part === undefined) return false
    const comes = this.#draws.get(name)?.chance(faults[name] * part) === true
    if (!comes) return false
    this.hits.set(name, (this.hits.get(name) ?? 0) + 1)
    if (this.verbose) this.#world.trace.whisper(this.#world.elapsed, "fault", name)
    return true
  }

  /** An instance's statements are atomic, and anything may happen before and after one. */
  readonly at: FaultPoint = Object.assign(this.#at.bind(this), {
    built: (names: ReadonlyArray<string>) => {
      for (const name of names) this.builtPoints.add(name)
    }
  })

  #at<A, E, R>(name: string, call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.withFiber((fiber) => {
      const isInside = fiber.getRef(InStatement)
      const owner = fiber.getRef(CurrentOwner)
      const isStatement = statements.test(name)
      if (owner === this.#world.outside) return isStatement && !isInside ? inStatement(call) : call
      this.points.set(name, (this.points.get(name) ?? 0) + 1)
      if (isInside) return call
      const done = isStatement ? this.#around(name, owner.name, call) : call
      return this.#plan.has(atPoint) ? this.#abandonedAt(name, owner, done) : done
    })
  }

  /** Abandons before the call, or between the call and its answer. */
  #abandonedAt<A, E, R>(name: string, owner: Owner, call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    const here = Effect.suspend(() => {
      if (!this.comes(atPoint)) return Effect.void
      this.#world.tell(owner.name, `${name}: the instance goes no further`)
      this.abandon(owner)
      return Effect.never
    })
    return this.#order.chance(0.5) ? Effect.andThen(here, call) : Effect.tap(call, here)
  }

  #around<A, E, R>(name: string, who: string, statement: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    const fails = (what: FaultName) =>
      Effect.suspend(() => {
        this.#world.tell(who, `${name}: ${what}`)
        return Effect.die(new Error(`simulated: ${what}`))
      })
    const noted = Effect.map(statement, (answer) => {
      if (this.verbose) this.#world.trace.whisper(this.#world.elapsed, who, `  ${name}: ${shortly(answer)}`)
      return answer
    })
    const done = inStatement(noted)
    if (this.comes("a statement fails before its commit")) return fails("a statement fails before its commit")
    const late = this.comes("a statement is slow")
      ? Effect.sleep(this.#order.between(20, 3_000))
      : this.#order.chance(0.5)
        ? Effect.yieldNow
        : undefined
    const given = this.comes("the answer of a commit is lost")
      ? Effect.andThen(done, fails("the answer of a commit is lost"))
      : this.#order.chance(0.3)
        ? Effect.tap(done, Effect.yieldNow)
        : done
    return late === undefined ? given : Effect.andThen(late, given)
  }
}

/** No logs and no spans: the trace records what happens. */
export const quiet = Context.make(References.MinimumLogLevel, "None").pipe(
  Context.add(References.TracerEnabled, false)
)
