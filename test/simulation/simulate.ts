// One run of one seed: builds the world, lets people and faults loose on it, ends the faults, and checks the
// invariants.
import { Context, Effect } from "effect"
import { recoverAddress } from "../../src/chain/recoverAddress.ts"
import { blocks } from "./blocks.ts"
import { Ledger } from "./chain/Ledger.ts"
import { SimulatedNode } from "./chain/SimulatedNode.ts"
import { Draw } from "./Draw.ts"
import { closeEntropy } from "./entropy.ts"
import { FaultBoard, type FaultName, quiet } from "./faults.ts"
import { makeParts, type Parts } from "./makeParts.ts"
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
  /** Fault points that the product has. */
  readonly builtPoints: ReadonlySet<string>
  /** What payments and deliveries came to, by name. */
  readonly states: ReadonlyMap<string, number>
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

/** In one line, with the places that come first. */
const told = (error: unknown) =>
  (error instanceof Error ? (error.stack ?? String(error)) : String(error))
    .split("\n")
    .slice(0, 6)
    .map((line) => line.trim())
    .join(" ")

/** Loads the library that recovers signers: a world waits for no file. */
const warmUp = Effect.runPromise(recoverAddress(`0x${"1".repeat(64)}`, `0x${"1".repeat(128)}1b`))

/** A verbose run also tells every fault and every statement that writes; its hash is the same. */
export const simulate = async (plan: Plan, verbose = false): Promise<Outcome> => {
  await warmUp
  await openDatabase()
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
      // What nobody foresaw, in the product or in the world.
      else broken = { invariant: "nothing fails that was not foreseen", detail: told(error) }
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

class Run {
  states: ReadonlyMap<string, number> = new Map()
  readonly #plan: Plan
  readonly #draw: Draw
  readonly #world: World
  readonly #board: FaultBoard
  readonly #ledger: Ledger
  readonly #nodes: ReadonlyArray<SimulatedNode>
  readonly #receivers: Receivers
  #built: { readonly parts: Parts; readonly oracle: Oracle } | undefined
  /** People who have not finished. */
  #busy = 0
  #steps = 0
  /** Whether who came once the faults had ceased has gone. */
  #served = true

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
    const { outside } = this.#world
    const context = Context.merge(this.#world.context(outside), quiet)
    this.#world.schedule(outside, () => {
      Effect.runForkWith(context)(effect).addObserver((exit) => {
        if (exit._tag === "Failure")
          throw new Error(`the world itself failed: ${Bun.inspect(exit.cause, { depth: 6 })}`)
      })
    })
  }

  #build(isPatient: boolean): void {
    const [board, draw, ledger, nodes] = [this.#board, this.#draw, this.#ledger, this.#nodes]
    const [plan, receivers, world] = [this.#plan, this.#receivers, this.#world]
    this.#go(
      Effect.map(makeParts({ board, draw, ledger, nodes, plan, receivers, world }), (parts) => {
        const oracle = new Oracle({ board, isPatient, ledger, parts, plan, receivers, world })
        this.#built = { parts, oracle }
      })
    )
    world.run(() => this.#built !== undefined)
  }

  play(): void {
    const isPatient = this.#plan.patient && this.#plan.expirySeconds <= shortExpiry
    this.#build(isPatient)
    const { cluster } = this.#parts
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
    let shopped = false
    this.#go(
      shopping({
        plan: this.#plan,
        draw: this.#draw,
        parts: this.#parts,
        start: (effect) => this.#come(effect),
        done: () => {
          shopped = true
        }
      })
    )
    let [endAt, lookAt] = [Number.POSITIVE_INFINITY, 0]
    this.#world.run(() => {
      if (!this.#board.calm) {
        if (this.#busy > 0 || !shopped || cluster.down) return false
        this.#calm()
        endAt = this.#world.now + boundMillis
        lookAt = this.#world.now + (isPatient ? patientMillis : 0)
      }
      if (this.#world.now < lookAt) return false
      lookAt = this.#world.now + 1_000
      return this.#world.now >= endAt || (this.#served && this.#oracle.isQuiet())
    })
    if (!this.#served)
      throw new InvariantBroken({
        invariant: "who comes once the faults have ceased is answered",
        detail: "the last buyer still waits"
      })
    this.#oracle.check({ ...always, ...atEnd })
    this.states = this.#oracle.states()
  }

  /** Somebody does what they have come for. */
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

  /** The faults cease: one good instance at least, nodes that tell the truth. */
  #calm(): void {
    this.#board.calm = true
    this.#oracle.calmSince = this.#world.now
    this.#world.tick = slowTick
    this.#world.tell("troubles", "the faults cease")
    for (const node of this.#nodes) {
      node.lie = undefined
      node.recover()
    }
    const { cluster } = this.#parts
    for (const { owner } of cluster.instances) {
      owner.skewMillis = 0
      owner.frozenUntil = 0
    }
    if (cluster.instances.length === 0) cluster.start()
    if (!this.#plan.lateBuyer) return
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
    const { cluster } = this.#parts
    this.#steps++
    const owner = cluster.instances[this.#steps % Math.max(1, cluster.instances.length)]?.owner
    if (owner !== undefined && this.#board.comes("an instance is abandoned")) this.#abandon(owner)
    if (this.#board.changed) {
      this.#board.changed = false
      this.#oracle.check(always)
    }
  }

  /** What has come of it, for the hash. */
  noteRows(): void {
    this.#built?.oracle.noteRows()
  }

  /** What is stored, for the reader; nothing of a world that was never built. */
  tellRows(): void {
    this.#built?.oracle.tellRows()
  }
}

/** The run in a few lines, after its story if that was wanted. */
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
