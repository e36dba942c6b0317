// Every statement of the suite: each process adds its new statements to a file of its own, in a directory that `bun run
// test` creates.
import { appendFileSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { onStatement } from "../../src/platform/database/statementLog.ts"

const directory = process.env["TEST_STATEMENTS"]

let isRecording = false

/** From now on, records the statements that this process sends. */
export const recordStatements = (): void => {
  if (directory === undefined || isRecording) return
  isRecording = true
  const known = new Set<string>()
  onStatement((text) => {
    if (known.has(text)) return
    known.add(text)
    appendFileSync(join(directory, `${process.pid}.jsonl`), `${JSON.stringify(text)}\n`)
  })
}

/** The statements of the suite; none if they were not recorded. */
export const recordedStatements = (): ReadonlySet<string> =>
  new Set(
    directory === undefined
      ? []
      : readdirSync(directory).flatMap((name) =>
          readFileSync(join(directory, name), "utf8")
            .split("\n")
            .filter((line) => line !== "")
            .map((line) => String(JSON.parse(line)))
        )
  )
