// The fewest faults with which a seed still breaks the same invariant: of so many that halving leaves, every set is
// tried, the small ones first.
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

/** All but the whole, by size. */
const subsetsOf = (names: ReadonlyArray<FaultName>): ReadonlyArray<ReadonlyArray<FaultName>> =>
  Array.from({ length: 2 ** names.length - 1 }, (_, bits) =>
    names.filter((_, index) => (bits >> index) % 2 === 1)
  ).toSorted((left, right) => left.length - right.length)

/** Leaves out halves of the faults, then each by itself, for as long as the run still fails. */
export const shrink = async (failed: Outcome): Promise<Outcome> => {
  const invariant = failed.broken?.invariant
  if (invariant === undefined) return failed
  let smallest = failed
  for (
    let size = Math.ceil(failed.plan.faults.size / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    const names = [...smallest.plan.faults.keys()]
    for (let from = 0; from < names.length; from += size) {
      const dropped = new Set(names.slice(from, from + size))
      const smaller = without(smallest.plan, dropped)
      if (smaller.faults.size === smallest.plan.faults.size) continue
      const outcome = await runPlan(smaller)
      if (outcome.broken?.invariant === invariant) smallest = outcome
    }
  }
  const left = [...smallest.plan.faults.keys()]
  if (left.length > mostTried) return smallest
  for (const kept of subsetsOf(left)) {
    const outcome = await runPlan(
      without(smallest.plan, new Set(left.filter((name) => !kept.includes(name))))
    )
    if (outcome.broken?.invariant === invariant) return outcome
  }
  return smallest
}
