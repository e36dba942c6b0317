// The fewest faults with which a seed still breaks the same invariant: none, one or two of them, where that is enough.
// Where it is not, halves are left out, and of what that leaves every set is tried, the small ones first.
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

/** The first of these sets with which the run still fails. */
const firstOf = async ({ broken, plan }: Outcome, sets: ReadonlyArray<ReadonlyArray<FaultName>>) => {
  for (const kept of sets) {
    const dropped = [...plan.faults.keys()].filter((name) => !kept.includes(name))
    const outcome = await runPlan(without(plan, new Set(dropped)))
    if (outcome.broken?.invariant === broken?.invariant) return outcome
  }
  return undefined
}

/** Of a run that has failed; any other one is answered as it is. */
export const shrink = async (failed: Outcome): Promise<Outcome> => {
  const invariant = failed.broken?.invariant
  if (invariant === undefined) return failed
  const names = [...failed.plan.faults.keys()]
  const small = names.length > 2 ? await firstOf(failed, smallSets(names)) : undefined
  if (small !== undefined) return small
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
  return (await firstOf(smallest, subsetsOf(left))) ?? smallest
}
