// The results in lines for people, and as a document for machines.
import type { CaseResult } from "./Case.ts"

export interface Totals {
  readonly held: number
  readonly failed: number
  readonly skipped: number
}

const totalsOf = (results: ReadonlyArray<CaseResult>): Totals => {
  const count = (verdict: CaseResult["verdict"]) => results.filter((one) => one.verdict === verdict).length
  return { held: count("held"), failed: count("failed"), skipped: count("skipped") }
}

/** How many cases were skipped for each reason. */
const skippedBy = (results: ReadonlyArray<CaseResult>): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { actual, verdict } of results)
    if (verdict === "skipped") counts[actual] = (counts[actual] ?? 0) + 1
  return counts
}

const sentence = ({ held, failed, skipped }: Totals) => `${held} held, ${failed} failed, ${skipped} skipped`

const marks = { held: "held   ", failed: "FAILED ", skipped: "skipped" } as const

const widest = (texts: ReadonlyArray<string>) => Math.max(0, ...texts.map((text) => text.length))

const groupsOf = (results: ReadonlyArray<CaseResult>) => [...new Set(results.map(({ group }) => group))]

/** A line a case, a line a group, and the totals. */
export const scorecard = (results: ReadonlyArray<CaseResult>): ReadonlyArray<string> => {
  const ids = widest(results.map(({ id }) => id))
  const references = widest(results.map(({ reference }) => reference))
  const groups = groupsOf(results)
  const names = widest(groups)
  return [
    ...results.map(
      ({ verdict, id, reference, expected, actual }) =>
        `${marks[verdict]}  ${id.padEnd(ids)}  ${reference.padEnd(references)}  expected: ${expected}; actual: ${actual}`
    ),
    "",
    ...groups.map(
      (name) => `${name.padEnd(names)}  ${sentence(totalsOf(results.filter(({ group }) => group === name)))}`
    ),
    sentence(totalsOf(results)),
    ...Object.entries(skippedBy(results)).map(([reason, count]) => `${count} skipped: ${reason}`)
  ]
}

export const document = (target: string, results: ReadonlyArray<CaseResult>) => ({
  target,
  cases: results,
  groups: Object.fromEntries(
    groupsOf(results).map((name) => [name, totalsOf(results.filter(({ group }) => group === name))])
  ),
  totals: totalsOf(results),
  skipped: skippedBy(results)
})

/** 0: all that was sent held. 1: findings. 2: nothing could be sent. */
export const exitCodeOf = (results: ReadonlyArray<CaseResult>): 0 | 1 | 2 => {
  const { held, failed } = totalsOf(results)
  if (failed > 0) return 1
  return held > 0 ? 0 : 2
}
