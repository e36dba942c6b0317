// The result of many runs: how many, how fast, their coverage, and the failures.
import { faultNames } from "./faults.ts"
import type { Outcome } from "./simulate.ts"

export class Tally {
  readonly failed: Array<string> = []
  #seeds = 0
  #worldMillis = 0
  readonly #began = performance.now()
  readonly #hits = new Map<string, number>()
  /** The number of seeds that passed each fault point, and reached each state. */
  readonly #points = new Map<string, number>()
  readonly #states = new Map<string, number>()
  readonly #builtPoints = new Set<string>()

  add({ broken, builtPoints, elapsed, hits, plan, points, states }: Outcome): void {
    this.#seeds++
    this.#worldMillis += elapsed
    const count = (counts: Map<string, number>, name: string, by = 1) =>
      counts.set(name, (counts.get(name) ?? 0) + by)
    for (const [name, times] of hits) count(this.#hits, name, times)
    for (const name of points.keys()) count(this.#points, name)
    for (const name of states.keys()) count(this.#states, name)
    for (const name of builtPoints) this.#builtPoints.add(name)
    if (broken !== undefined) this.failed.push(plan.seed)
  }

  /** The coverage, and the faults and fault points that never occurred. */
  get coverage(): string {
    const table = (title: string, met: ReadonlyMap<string, number>, all: Iterable<string>) => [
      `\n${title}`,
      ...[...met]
        .toSorted(([, left], [, right]) => right - left)
        .map(([name, count]) => `${String(count).padStart(9)}  ${name}`),
      ...[...all].filter((name) => !met.has(name)).map((name) => `    never  ${name}`)
    ]
    return [
      ...table("Faults, how often they came", this.#hits, faultNames),
      ...table("Fault points, in how many seeds they were passed", this.#points, this.#builtPoints),
      ...table("States, in how many seeds they were reached", this.#states, [])
    ].join("\n")
  }

  get line(): string {
    const seconds = (performance.now() - this.#began) / 1_000
    return [
      `${this.#seeds} seeds, ${(this.#seeds / seconds).toFixed(1)}/s`,
      `${(this.#worldMillis / 3_600_000).toFixed(0)} h of the world's time`,
      `${this.#hits.size}/${faultNames.length} faults`,
      `${this.#points.size} fault points`,
      `${this.#states.size} states`,
      `${this.failed.length} failed`
    ].join(" · ")
  }
}
