// A plan, run on what a process keeps warm between the runs.
import type { Plan } from "./Plan.ts"
import { type Outcome, simulate } from "./simulate.ts"
import { openSql } from "./sql/sqlStore.ts"
import { warmUp } from "./warmUp.ts"

export const runPlan = async (plan: Plan, verbose = false, everyStep = false): Promise<Outcome> => {
  await warmUp()
  if (plan.store === "sql") await openSql()
  return simulate(plan, verbose, everyStep)
}
