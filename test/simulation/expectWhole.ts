// What the suites expect of a run.
import { failureOf } from "./failureOf.ts"
import type { Outcome } from "./simulate.ts"

/** Every invariant held: otherwise it fails with the fewest faults that a minute finds, and the end of the story. */
export const expectWhole = async (outcome: Outcome): Promise<void> => {
  if (outcome.broken !== undefined) throw new Error(await failureOf(outcome, { withinMillis: 60_000 }))
}
