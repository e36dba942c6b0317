// `bun test/simulation/bite.ts`: puts each defect back in a copy of the tree, and counts the seeds until an
// invariant breaks. `--mutants` does it with the mutants of what judges money, but for those that are known to
// live. `--limit` and `--sql-limit` for how many seeds are tried: 20,000 and 2,000, 4,000 for a mutant.
import { cp, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { mutantsOf } from "../mutation/mutants.ts"
import { targets } from "../mutation/targets.ts"
import { defects } from "./defects.ts"
import { type ChangedFile, filesWith } from "./filesWith.ts"
import { linesOf } from "./linesOf.ts"
import { whyLives } from "./livingMutants.ts"
import type { Told } from "./Tally.ts"
import { treeCopy } from "./treeCopy.ts"

const root = join(import.meta.dir, "../..")
const refuse = (message: string): never => {
  console.error(message)
  process.exit(2)
}
const { values } = parseArgs({
  options: {
    mutants: { type: "boolean", default: false },
    limit: { type: "string" },
    "sql-limit": { type: "string", default: "2000" },
    only: { type: "string", default: "" }
  }
})

interface Change {
  readonly name: string
  readonly store?: "sql" | undefined
  readonly files: ReadonlyArray<ChangedFile>
}

const textOf = (file: string) => Bun.file(join(root, file)).text()

const putBack = (): Promise<ReadonlyArray<Change>> =>
  Promise.all(
    defects.map(async (defect) => ({
      name: defect.name,
      store: defect.store,
      files: await filesWith(defect)
    }))
  )

const mutants = async (): Promise<ReadonlyArray<Change>> => {
  const all = await Promise.all(
    targets.map(async (file) => {
      const source = await textOf(file)
      return mutantsOf(file, source).filter((mutant) => whyLives(mutant, source) === undefined)
    })
  )
  return all
    .flat()
    .map(({ change, file, line, text }) => ({ name: `${file}:${line}  ${change}`, files: [{ file, text }] }))
}

const changes = (values.mutants ? await mutants() : await putBack()).filter(({ name }) =>
  name.includes(values.only)
)
if (changes.length === 0) refuse(`No name holds ${values.only}.`)
for (const limit of [values.limit ?? "1", values["sql-limit"]])
  if (!/^[1-9]\d*$/.test(limit)) refuse(`A limit is a whole number from 1 on, not ${limit}.`)

const tree = await treeCopy()

/** Seeds until one breaks an invariant, and which; undefined where none of them does. */
const seedsUntil = async ({ files, store }: Change) => {
  for (const { file, text } of files) await writeFile(join(tree, file), text)
  const limit = store === "sql" ? values["sql-limit"] : (values.limit ?? (values.mutants ? "4000" : "20000"))
  const seeded = ["--every", "1", "--from", "1", "--seeds", limit, ...(store === "sql" ? ["--sql"] : [])]
  const child = Bun.spawn([process.execPath, "test/simulation/main.ts", ...seeded], {
    cwd: tree,
    stdout: "pipe",
    stderr: "ignore"
  })
  let seeds = 0
  let killed: string | undefined
  for await (const line of linesOf(child.stdout)) {
    const told: Told = JSON.parse(line)
    seeds++
    if (told.broken === undefined) continue
    killed = told.broken.invariant
    break
  }
  child.kill("SIGKILL")
  const code = await child.exited
  for (const { file } of files) await cp(join(root, file), join(tree, file))
  if (values.mutants && seeds === 0 && code !== 0) return { seeds: 1, killed: "the service starts" }
  if (killed === undefined && seeds < Number(limit))
    throw new Error(`With the defect the simulation ends by itself, with ${code}, after ${seeds} seeds.`)
  return { seeds, killed }
}

let kills = 0
try {
  for (const change of changes) {
    const { killed, seeds } = await seedsUntil(change)
    if (killed !== undefined) kills++
    console.log(
      `| ${change.name} | ${change.store ?? "memory"} | ${killed === undefined ? `not in ${seeds}` : seeds} | ${killed ?? ""} |`
    )
  }
} finally {
  await rm(tree, { recursive: true, force: true })
}
console.log(`${kills} of ${changes.length} killed`)
process.exit(kills === changes.length ? 0 : 1)
