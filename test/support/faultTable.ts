// The cost of each fault, for the table at the end of `bun run test` and `bun run test:faults`.
import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { type Answered, isServed, servedAfter } from "./databaseWorld.ts"

const file = process.env["TEST_FAULTS"]

interface Cost {
  readonly fault: string
  /** The outcome, such as `served again after 0.4 s`. */
  readonly outcome: string
}

/** Adds a line to the table of this run, if there is one. */
export const noteFault = (fault: string, outcome: string): void => {
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ fault, outcome } satisfies Cost)}\n`)
}

const seconds = (millis: number) => `${(millis / 1000).toFixed(1)} s`

/** The line of a fault that ended at `since`, from the answers to clients. */
export const noteOutage = (fault: string, answers: ReadonlyArray<Answered>, since: number): void => {
  const refused = answers.filter(({ status }) => !isServed(status)).length
  const longest = Math.max(...answers.map(({ tookMillis }) => tookMillis))
  noteFault(
    fault,
    `served again after ${seconds(servedAfter(answers, since))}; ${refused} of ${answers.length} requests 503; the longest took ${seconds(longest)}`
  )
}

/** The table as text; empty if no fault was noted. */
export const faultTable = (path: string): string => {
  if (!existsSync(path)) return ""
  const rows = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Cost => JSON.parse(line))
  const width = Math.max(...rows.map(({ fault }) => fault.length))
  return rows.map(({ fault, outcome }) => `  ${fault.padEnd(width)}  ${outcome}`).join("\n")
}
