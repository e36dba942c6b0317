// Plants each defect in a copy of the tree, and runs seeds until an invariant breaks.
import { cp, mkdtemp, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Defect, defects } from "./defects.ts"

const root = join(import.meta.dir, "../..")
/** The number of seeds to try if the recorded one finds nothing. */
const mostSeeds = 12

/** The changed source. Fails if the place of the defect is not in its file exactly once. */
export const sourceWith = async ({ file, from, name, to }: Defect): Promise<string> => {
  const source = await Bun.file(join(root, file)).text()
  if (source.split(from).length !== 2)
    throw new Error(`${name}: ${file} does not contain its place exactly once`)
  return source.replace(from, () => to)
}

/** Seed and invariant of the first failure. */
const firstFailure = async (tree: string, from: number, seeds: number) => {
  const seeded = ["test/simulation/main.ts", "--from", String(from), "--seeds", String(seeds)]
  const child = Bun.spawn([process.execPath, ...seeded], { cwd: tree, stdout: "pipe", stderr: "inherit" })
  let told = ""
  const decoder = new TextDecoder()
  for await (const chunk of child.stdout) {
    told += decoder.decode(chunk, { stream: true })
    const [, seed, invariant] = /^seed (\d+) {2}(.+?): .*$/mu.exec(told) ?? []
    if (seed === undefined || invariant === undefined) continue
    child.kill("SIGKILL")
    return { seed: Number(seed), invariant }
  }
  if ((await child.exited) !== 0) throw new Error(`the simulation ended by itself: ${told.slice(-500)}`)
  return undefined
}

/** True if all defects were found whose name contains the text. */
export const findDefects = async (part: string): Promise<boolean> => {
  const tree = await mkdtemp(join(tmpdir(), "quittance-defects-"))
  let [found, planted] = [0, 0]
  try {
    for (const one of ["src", "test", "docs", "migrations", "package.json", "tsconfig.json", "bunfig.toml"])
      await cp(join(root, one), join(tree, one), { recursive: true })
    await symlink(join(root, "node_modules"), join(tree, "node_modules"))
    for (const defect of defects.filter(({ name }) => name.includes(part))) {
      planted++
      const { file, seed } = defect
      await Bun.write(join(tree, file), await sourceWith(defect))
      const recorded = seed === undefined ? undefined : await firstFailure(tree, seed, 1)
      const failure = recorded ?? (await firstFailure(tree, 1, mostSeeds))
      await cp(join(root, file), join(tree, file))
      if (failure !== undefined) found++
      console.log(`${failure === undefined ? "NOT FOUND" : `seed ${failure.seed}`}  ${defect.name}`)
      if (failure !== undefined) console.log(`    ${failure.invariant}`)
    }
  } finally {
    await rm(tree, { recursive: true, force: true })
  }
  console.log(`${found} of ${planted} defects were found.`)
  return found === planted && planted > 0
}
