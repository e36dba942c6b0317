// What many runs came to: how many, how fast, what they reached, and which of them failed.
import { faultNames } from "./faults.ts"
import type { Outcome } from "./simulate.ts"

/** One run, as a process tells it to another. */
export interface Told {
  readonly seed: string
  readonly steps: number
  readonly elapsed: number
  readonly broken: string | undefined
  readonly hits: ReadonlyArray<readonly [string, number]>
  readonly points: ReadonlyArray<string>
  readonly states: ReadonlyArray<string>
}

export const toldOf = ({ broken, elapsed, hits, plan, points, states, steps }: Outcome): Told => ({
  seed: plan.seed,
  steps,
  elapsed,
  broken: broken === undefined ? undefined : `${broken.invariant}: ${broken.detail}`,
  hits: [...hits],
  points: [...points.keys()],
  states: [...states.keys()]
})

export class Tally {
  seeds = 0
  steps = 0
  worldMillis = 0
  readonly failed: Array<Told> = []
  readonly hits = new Map<string, number>()
  readonly points = new Set<string>()
  readonly states = new Set<string>()
  readonly #began = performance.now()

  add(told: Told): void {
    this.seeds++
    this.steps += told.steps
    this.worldMillis += told.elapsed
    for (const [name, count] of told.hits) this.hits.set(name, (this.hits.get(name) ?? 0) + count)
    for (const name of told.points) this.points.add(name)
    for (const name of told.states) this.states.add(name)
    if (told.broken !== undefined) this.failed.push(told)
  }

  get line(): string {
    const seconds = (performance.now() - this.#began) / 1_000
    const hits = [...this.hits.values()].reduce((sum, one) => sum + one, 0)
    return [
      `${this.seeds} seeds, ${(this.seeds / seconds).toFixed(1)}/s`,
      `${(this.worldMillis / 3_600_000).toFixed(0)} h of the world's time`,
      `${hits} faults of ${this.hits.size}/${faultNames.length} kinds`,
      `${this.points.size} fault points`,
      `${this.states.size} states`,
      `${this.failed.length} failed`
    ].join(" · ")
  }
}
