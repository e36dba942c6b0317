// The fewest faults with which a seed still breaks the same invariant: none, one or two of them, where that is enough.
// Where it is not, halves are left out, and of what that leaves every set is tried, the small ones first. At the end
// of its time it answers the smallest set so far.
import type { FaultName } from "./faults.ts"
import type { Plan } from "./Plan.ts"
import { runPlan } from "./runPlan.ts"
import type { Outcome } from "./simulate.ts"

const without = (plan: Plan, dropped: ReadonlySet<FaultName>): Plan => ({
  ...plan,
  faults: new Map([...plan.faults].filter(([name]) => !dropped.has(name)))
})

/** 2 to the power of it are the runs that it takes. */
const mostTried = 7

/** None, each, and each two of them. */
const smallSets = (names: ReadonlyArray<FaultName>): ReadonlyArray<ReadonlyArray<FaultName>> => [
  [],
  ...names.map((name) => [name]),
  ...names.flatMap((first, index) => names.slice(index + 1).map((second) => [first, second]))
]

/** All but the whole, by size. */
const subsetsOf = (names: ReadonlyArray<FaultName>): ReadonlyArray<ReadonlyArray<FaultName>> =>
  Array.from({ length: 2 ** names.length - 1 }, (_, bits) =>
    names.filter((_, index) => (bits >> index) % 2 === 1)
  ).toSorted((left, right) => left.length - right.length)

export interface Shrunk {
  readonly outcome: Outcome
  readonly runs: number
  /** Whether no smaller set was left to try. */
  readonly triedAll: boolean
}

class Shrinking {
  runs = 0
  smallest: Outcome
  readonly #invariant: string
  readonly #end: number
  readonly #onRun: (runs: number, left: number) => void

  constructor(failed: Outcome, invariant: string, end: number, onRun: (runs: number, left: number) => void) {
    this.smallest = failed
    this.#invariant = invariant
    this.#end = end
    this.#onRun = onRun
  }

  get isOver(): boolean {
    return performance.now() >= this.#end
  }

  /** Whether the smallest run so far still fails without these. */
  async #failsWithout(dropped: ReadonlySet<FaultName>): Promise<boolean> {
    const outcome = await runPlan(without(this.smallest.plan, dropped))
    const fails = outcome.broken?.invariant === this.#invariant
    if (fails) this.smallest = outcome
    this.#onRun(++this.runs, this.smallest.plan.faults.size)
    return fails
  }

  /** Whether one of these sets is enough: the first that is. */
  async #isEnough(sets: ReadonlyArray<ReadonlyArray<FaultName>>): Promise<boolean> {
    const names = [...this.smallest.plan.faults.keys()]
    for (const kept of sets) {
      if (this.isOver) return false
      if (await this.#failsWithout(new Set(names.filter((name) => !kept.includes(name))))) return true
    }
    return false
  }

  async #leaveHalvesOut(): Promise<void> {
    const { size: all } = this.smallest.plan.faults
    for (let size = Math.ceil(all / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      const names = [...this.smallest.plan.faults.keys()]
      for (let from = 0; from < names.length; from += size) {
        if (this.isOver) return
        const dropped = new Set(names.slice(from, from + size))
        if ([...dropped].some((name) => this.smallest.plan.faults.has(name)))
          await this.#failsWithout(dropped)
      }
    }
  }

  /** Whether no smaller set is left to try. */
  async run(): Promise<boolean> {
    const names = [...this.smallest.plan.faults.keys()]
    if (names.length > 2 && (await this.#isEnough(smallSets(names)))) return true
    await this.#leaveHalvesOut()
    const left = [...this.smallest.plan.faults.keys()]
    if (left.length > mostTried) return false
    const isSmaller = await this.#isEnough(subsetsOf(left))
    return isSmaller || !this.isOver
  }
}

/** Of a run that has failed; any other one is answered as it is. `onRun` hears of runs, and of faults that are left. */
export const shrink = async (
  failed: Outcome,
  withinMillis: number,
  onRun: (runs: number, left: number) => void = () => {}
): Promise<Shrunk> => {
  const invariant = failed.broken?.invariant
  if (invariant === undefined) return { outcome: failed, runs: 0, triedAll: true }
  const shrinking = new Shrinking(failed, invariant, performance.now() + withinMillis, onRun)
  const triedAll = await shrinking.run()
  return { outcome: shrinking.smallest, runs: shrinking.runs, triedAll }
}
