// Runs the cases, a few at once, in their order.
import { Console, Effect } from "effect"
import type { Case, CaseResult } from "./Case.ts"

const atOnce = 4
/** A line of progress for so many cases. */
const step = 50

/** Progress goes to standard error. */
export const runCases = Effect.fnUntraced(function* (cases: ReadonlyArray<Case>) {
  let done = 0
  return yield* Effect.forEach(
    cases,
    ({ run, group, id, reference, expected }) =>
      Effect.gen(function* () {
        const judgement = yield* run
        done++
        if (done % step === 0 || done === cases.length) yield* Console.error(`${done} of ${cases.length}`)
        const result: CaseResult = { group, id, reference, expected, ...judgement }
        return result
      }),
    { concurrency: atOnce }
  )
})
