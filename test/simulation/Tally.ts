// What many runs came to: how many, how fast, what they reached, and which of them failed.
import { nodeMethods } from "./chain/SimulatedNode.ts"
import { faultNames, sqlFaults } from "./faults.ts"
import type { Broken } from "./oracle/Oracle.ts"
import type { Plan } from "./Plan.ts"
import { possibleStates } from "./possibleStates.ts"
import type { Outcome } from "./simulate.ts"

/** One run, as a process tells it to another. */
export interface Told {
  readonly seed: string
  readonly steps: number
  readonly elapsed: number
  readonly broken: Broken | undefined
  readonly hits: ReadonlyArray<readonly [string, number]>
  readonly points: ReadonlyArray<string>
  readonly builtPoints: ReadonlyArray<string>
  readonly states: ReadonlyArray<string>
}

export const toldOf = ({
  broken,
  builtPoints,
  elapsed,
  hits,
  plan,
  points,
  states,
  steps
}: Outcome): Told => ({
  seed: plan.seed,
  steps,
  elapsed,
  broken,
  hits: [...hits],
  points: [...points.keys()],
  builtPoints: [...builtPoints],
  states: [...states.keys()]
})

export class Tally {
  seeds = 0
  steps = 0
  worldMillis = 0
  readonly failed: Array<Told> = []
  readonly hits = new Map<string, number>()
  /** In how many seeds each fault point was passed, and each state was come to. */
  readonly points = new Map<string, number>()
  readonly states = new Map<string, number>()
  /** What there is to meet. */
  readonly #faults: ReadonlyArray<string>
  readonly #points: Set<string>
  readonly #states: ReadonlyArray<string>
  /** The seed count at which something was last met for the first time. */
  #lastNew = 0
  readonly #began = performance.now()

  constructor(store: Plan["store"]) {
    this.#faults = faultNames.filter((name) => store === "sql" || !sqlFaults.has(name))
    this.#points = new Set(nodeMethods(store).map((method) => `RpcNode.${method}`))
    this.#states = possibleStates(store)
  }

  add(told: Told): void {
    this.seeds++
    this.steps += told.steps
    this.worldMillis += told.elapsed
    for (const [name, count] of told.hits) this.hits.set(name, (this.hits.get(name) ?? 0) + count)
    for (const name of told.points) this.#meet(this.points, name)
    for (const name of told.builtPoints) this.#points.add(name)
    for (const name of told.states) this.#meet(this.states, name)
    if (told.broken !== undefined) this.failed.push(told)
  }

  #meet(met: Map<string, number>, name: string): void {
    const count = met.get(name) ?? 0
    if (count === 0) this.#lastNew = this.seeds
    met.set(name, count + 1)
  }

  /** What was met, in how many seeds, and what there is and never was. */
  get coverage(): string {
    const table = (title: string, met: ReadonlyMap<string, number>, all: Iterable<string>) => [
      `\n${title}`,
      ...[...met]
        .toSorted(([, left], [, right]) => right - left)
        .map(([name, count]) => `${String(count).padStart(9)}  ${name}`),
      // Of an authorization's state the reason comes after a comma.
      ...[...all]
        .filter((name) => ![...met.keys()].some((one) => one === name || one.startsWith(`${name},`)))
        .map((name) => `    never  ${name}`)
    ]
    return [
      ...table("Faults, how often they came", this.hits, this.#faults),
      ...table("Fault points, in how many seeds they were passed", this.points, this.#points),
      ...table("States, in how many seeds they were come to", this.states, this.#states)
    ].join("\n")
  }

  get line(): string {
    const seconds = (performance.now() - this.#began) / 1_000
    const hits = [...this.hits.values()].reduce((sum, one) => sum + one, 0)
    return [
      `${this.seeds} seeds, ${(this.seeds / seconds).toFixed(1)}/s`,
      `${(this.worldMillis / 3_600_000).toFixed(0)} h of the world's time`,
      `${hits} faults of ${this.hits.size}/${this.#faults.length} kinds`,
      `${this.points.size}/${new Set([...this.#points, ...this.points.keys()]).size} fault points`,
      `${this.states.size} states (the last new one after ${this.#lastNew} seeds)`,
      `${this.failed.length} failed`
    ].join(" · ")
  }
}
