// Every statement of the suite: each process adds those that it has not sent before to a file of its
// own, in a directory that `bun run test` makes.
import { appendFileSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { onStatement } from "../../src/platform/database/statementLog.ts"

const directory = process.env["TEST_STATEMENTS"]

let isRecording = false

/** Records from now on what this process sends. */
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

/** What the suite has sent; none where it was not recorded. */
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
