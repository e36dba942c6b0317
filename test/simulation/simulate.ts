// One run of one seed: builds the world, adds people and faults, ends the faults, and checks the invariants.
import { Context, Effect } from "effect"
import { recoverAddress } from "../../src/chain/recoverAddress.ts"
import { blocks } from "./blocks.ts"
import { Ledger } from "./chain/Ledger.ts"
import { SimulatedNode } from "./chain/SimulatedNode.ts"
import { Draw } from "./Draw.ts"
import { closeEntropy } from "./entropy.ts"
import { FaultBoard, type FaultName, quiet } from "./faults.ts"
import { makeParts, type Parts } from "./makeParts.ts"
import type { Nature } from "./Nature.ts"
import { always } from "./oracle/always.ts"
import { atEnd } from "./oracle/atEnd.ts"
import { type Broken, InvariantBroken, Oracle } from "./oracle/Oracle.ts"
import { describePlan, type Plan } from "./Plan.ts"
import { Receivers } from "./Receivers.ts"
import { shopping } from "./shopping.ts"
import { openDatabase } from "./sql/database.ts"
import type { Happening } from "./Trace.ts"
import { troubles } from "./troubles.ts"
import { beginning, type Owner, World, WorldStuck } from "./World.ts"

export interface Outcome {
  readonly plan: Plan
  /** Equal for two runs of a seed. */
  readonly hash: string
  readonly steps: number
  /** Milliseconds of the world's time. */
  readonly elapsed: number
  readonly broken: Broken | undefined
  readonly happenings: ReadonlyArray<Happening>
  readonly hits: ReadonlyMap<FaultName, number>
  readonly points: ReadonlyMap<string, number>
  /** The fault points of the product. */
  readonly builtPoints: ReadonlySet<string>
  /** The number of payments, deliveries, transfers, refunds and authorizations that ended in each state. */
  readonly states: ReadonlyMap<string, number>
}

/** All due work is done within this time after the faults have ended: three attempts, and the leases before them. */
const boundMillis = 15 * 60_000
/** An instance lets payments expire once it has run for as long as they wait. */
const patientMillis = 7 * 60_000
/** Seconds. The run does not wait for payments that wait longer. */
const shortExpiry = 300
const longestSteps = 400_000
/** Milliseconds between wake-ups after the faults have ended: nothing races then, and minutes must pass. */
const slowTick = 15_000

/** In one line, with the top of the stack. */
const describeError = (error: unknown) =>
  (error instanceof Error ? (error.stack ?? String(error)) : String(error))
    .split("\n")
    .slice(0, 6)
    .map((line) => line.trim())
    .join(" ")

/** Loads the library that recovers signers, because a world does not wait for files. */
const warmUp = Effect.runPromise(recoverAddress(`0x${"1".repeat(64)}`, `0x${"1".repeat(128)}1b`))

/** A verbose run also records every fault and every statement; its hash is the same. */
export const simulate = async (plan: Plan, verbose = false): Promise<Outcome> => {
  await warmUp
  await openDatabase()
  const nature = natureOf(plan)
  const { board, draw, world } = nature
  board.verbose = verbose
  const restore = closeEntropy(world, draw.of("entropy"))
  try {
    const run = new Run(nature)
    let broken: Broken | undefined
    try {
      run.play()
    } catch (error) {
      if (error instanceof InvariantBroken) broken = error.broken
      else if (error instanceof WorldStuck) broken = { invariant: "the world goes on", detail: error.message }
      else broken = { invariant: "nothing fails that was not foreseen", detail: describeError(error) }
    }
    run.noteRows()
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
      builtPoints: board.builtPoints,
      states: run.states
    }
  } finally {
    restore()
  }
}

const natureOf = (plan: Plan): Nature => {
  const draw = new Draw(plan.seed)
  const world = new World(draw, { preemptAfter: plan.preemptAfter, longest: longestSteps })
  const board = new FaultBoard(world, plan.faults, draw)
  const ledger = new Ledger(draw, Math.floor(beginning / 1000) - 60, plan)
  const nodes = Array.from(
    { length: plan.nodes },
    (_, index) => new SimulatedNode(`node ${index + 1}`, ledger)
  )
  return { plan, draw, world, board, ledger, nodes, receivers: new Receivers(world, board, draw) }
}

class Run {
  states: ReadonlyMap<string, number> = new Map()
  readonly #nature: Nature
  #built: { readonly parts: Parts; readonly oracle: Oracle } | undefined
  /** People who have not finished. */
  #busy = 0
  #steps = 0
  /** True if the buyer who comes after the faults has left. */
  #served = true

  constructor(nature: Nature) {
    this.#nature = nature
  }

  get #parts(): Parts {
    if (this.#built === undefined) throw new Error("the world is not built yet")
    return this.#built.parts
  }

  get #oracle(): Oracle {
    if (this.#built === undefined) throw new Error("the world is not built yet")
    return this.#built.oracle
  }

  /** Starts a fiber of the world's own. */
  #go(effect: Effect.Effect<unknown, unknown>): void {
    const { world } = this.#nature
    const context = Context.merge(world.context(world.outside), quiet)
    world.schedule(world.outside, () => {
      Effect.runForkWith(context)(effect).addObserver((exit) => {
        if (exit._tag === "Failure")
          throw new Error(`the world itself failed: ${Bun.inspect(exit.cause, { depth: 6 })}`)
      })
    })
  }

  play(): void {
    const nature = this.#nature
    const { board, plan, world } = nature
    const isPatient = plan.patient && plan.expirySeconds <= shortExpiry
    this.#go(
      Effect.map(makeParts(nature), (parts) => {
        this.#built = { parts, oracle: new Oracle(nature, parts, isPatient) }
      })
    )
    world.run(() => this.#built !== undefined)
    const { cluster } = this.#parts
    for (let count = 0; count < plan.instances; count++) cluster.start()
    board.abandon = (owner) => this.#abandon(owner)
    world.onStep = () => this.#afterStep()
    this.#go(blocks(nature, cluster))
    this.#go(troubles(nature, cluster))
    let shopped = false
    this.#go(
      Effect.andThen(
        shopping(nature, this.#parts, (effect) => this.#come(effect)),
        Effect.sync(() => {
          shopped = true
        })
      )
    )
    let [endAt, lookAt] = [Number.POSITIVE_INFINITY, 0]
    world.run(() => {
      if (!board.calm) {
        if (this.#busy > 0 || !shopped || cluster.down) return false
        this.#calm()
        endAt = world.now + boundMillis
        lookAt = world.now + (isPatient ? patientMillis : 0)
      }
      if (world.now < lookAt) return false
      lookAt = world.now + 1_000
      return world.now >= endAt || (this.#served && this.#oracle.isQuiet())
    })
    if (!this.#served)
      throw new InvariantBroken({
        invariant: "who comes once the faults have ceased is answered",
        detail: "the last buyer still waits"
      })
    this.#oracle.check({ ...always, ...atEnd })
    this.states = this.#oracle.states()
  }

  /** A person does their work. */
  #come(effect: Effect.Effect<void>): void {
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

  #abandon(owner: Owner): void {
    const { cluster } = this.#parts
    cluster.abandon(owner)
    cluster.startIn(100 + (this.#steps % 20) * 700)
  }

  /** The faults end: at least one good instance, and nodes that tell the truth. */
  #calm(): void {
    const { board, nodes, plan, world } = this.#nature
    board.calm = true
    this.#oracle.calmSince = world.now
    world.tick = slowTick
    world.tell("troubles", "the faults cease")
    for (const node of nodes) {
      node.lie = undefined
      node.recover()
    }
    const { cluster } = this.#parts
    for (const { owner } of cluster.instances) {
      owner.skewMillis = 0
      owner.frozenUntil = 0
    }
    if (cluster.instances.length === 0) cluster.start()
    if (!plan.lateBuyer) return
    this.#served = false
    this.#go(
      Effect.andThen(
        this.#parts.people.comeLate,
        Effect.sync(() => {
          this.#served = true
        })
      )
    )
  }

  #afterStep(): void {
    const { board } = this.#nature
    const { instances } = this.#parts.cluster
    this.#steps++
    const owner = instances[this.#steps % Math.max(1, instances.length)]?.owner
    if (owner !== undefined && board.comes("an instance is abandoned")) this.#abandon(owner)
    if (!board.changed) return
    board.changed = false
    this.#oracle.check(always)
  }

  /** Adds the resulting rows to the hash. */
  noteRows(): void {
    this.#built?.oracle.noteRows()
  }

  /** The stored rows, for the reader; nothing if the world was never built. */
  tellRows(): void {
    this.#built?.oracle.tellRows()
  }
}

/** A summary of the run in a few lines, after its story if requested. */
export const describeOutcome = (outcome: Outcome, withStory: boolean): string => {
  const { broken, elapsed, happenings, hash, hits, plan, states, steps } = outcome
  const counts = (all: ReadonlyMap<string, number>) =>
    [...all].map(([name, count]) => `${name} ${count}`).join("; ") || "none"
  const story = happenings.map(
    ({ at, what, who }) => `${(at / 1_000).toFixed(3).padStart(10)}  ${who.padEnd(16)} ${what}`
  )
  return [
    ...(withStory ? story : []),
    describePlan(plan),
    `${steps} steps, ${(elapsed / 1_000).toFixed(0)} s of the world's time, trace ${hash}`,
    `faults: ${counts(hits)}`,
    `states: ${counts(states)}`,
    broken === undefined ? "every invariant held" : `BROKEN  ${broken.invariant}: ${broken.detail}`
  ].join("\n")
}
