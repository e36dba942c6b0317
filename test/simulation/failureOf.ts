// A run that has failed, as people read it: the fewest faults that still break it, and its story up to there.
import { summary, timeline } from "./explain.ts"
import { runPlan } from "./runPlan.ts"
import { shrink } from "./shrink.ts"
import type { Outcome } from "./simulate.ts"

/** Lines of a story that are told unasked. */
const lastLines = 40

/** With `isWhole` the whole story, otherwise its last lines and how to read it all. */
export const failureOf = async (
  failed: Outcome,
  options: {
    readonly withinMillis: number
    readonly isWhole?: boolean
    readonly onRun?: (runs: number, left: number) => void
  }
): Promise<string> => {
  const { outcome, runs, triedAll } = await shrink(failed, options.withinMillis, options.onRun)
  const { seed, store } = outcome.plan
  const story = timeline(await runPlan(outcome.plan, true)).split("\n")
  const told = options.isWhole === true ? story : story.slice(-lastLines)
  const before = story.length - told.length
  return [
    ...(before === 0
      ? []
      : [
          `${before} lines before: bun run simulate --seed ${seed} --explain${store === "sql" ? " --sql" : ""}\n`
        ]),
    ...told,
    "",
    summary(outcome),
    `${failed.plan.faults.size} faults, ${outcome.plan.faults.size} of them in the fewest with which it still breaks, of ${runs} runs${triedAll ? "" : "; not all sets were tried"}`
  ].join("\n")
}
