// `bun run mutate`: breaks verifier, log decoding, money and state machine in one
// place at a time, in a copy of the tree, and counts what the tests notice.
import { cp, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Mutant, mutantsOf } from "./mutants.ts"
import { targets } from "./targets.ts"

const root = join(import.meta.dir, "../..")
const tests = [
  "test/chain/ChainVerifier/judgeTransfer.test.ts",
  "test/chain/judgeTransferAny.test.ts",
  "test/chain/explainMismatch.test.ts",
  "test/chain/ChainVerifier/judgeBlock.test.ts",
  "test/chain/ChainVerifier/TransferLog.test.ts",
  "test/chain/ChainVerifier.memory.test.ts",
  "test/domain"
]
const floor = 85
const workers = Math.max(1, Math.min(4, navigator.hardwareConcurrency))

const copyTree = async (): Promise<string> => {
  const copy = await mkdtemp(join(tmpdir(), "quittance-mutants-"))
  for (const part of ["src", "test", "migrations", "package.json", "tsconfig.json", "bunfig.toml"]) {
    await cp(join(root, part), join(copy, part), { recursive: true })
  }
  await symlink(join(root, "node_modules"), join(copy, "node_modules"))
  return copy
}

const passes = async (tree: string): Promise<boolean> => {
  const run = Bun.spawn(["bun", "test", "--bail", ...tests], {
    cwd: tree,
    stdout: "ignore",
    stderr: "ignore"
  })
  const limit = setTimeout(() => run.kill("SIGKILL"), 60_000)
  const code = await run.exited
  clearTimeout(limit)
  return code === 0
}

const mutants = (
  await Promise.all(targets.map(async (file) => mutantsOf(file, await Bun.file(join(root, file)).text())))
).flat()

const trees = await Promise.all(Array.from({ length: workers }, copyTree))
try {
  const [first] = trees
  if (first === undefined || !(await passes(first))) throw new Error("the tests fail without any mutation")
  const survivors: Array<Mutant> = []
  const queue = [...mutants]
  await Promise.all(
    trees.map(async (tree) => {
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        const path = join(tree, mutant.file)
        await writeFile(path, mutant.text)
        if (await passes(tree)) survivors.push(mutant)
        await cp(join(root, mutant.file), path)
      }
    })
  )
  for (const { change, file, line } of survivors) console.log(`survived  ${file}:${line}  ${change}`)
  for (const file of targets) {
    const all = mutants.filter((one) => one.file === file).length
    const alive = survivors.filter((one) => one.file === file).length
    console.log(`${file.padEnd(34)} ${all - alive}/${all}`)
  }
  const score = (100 * (mutants.length - survivors.length)) / mutants.length
  console.log(`mutation score ${score.toFixed(1)} % of ${mutants.length} (at least ${floor} %)`)
  process.exitCode = score >= floor ? 0 : 1
} finally {
  await Promise.all(trees.map((tree) => rm(tree, { recursive: true, force: true })))
}
