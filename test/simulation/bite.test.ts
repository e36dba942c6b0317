// A defect that is put back is found; what is said not to be is still there.
import { expect, test } from "bun:test"
import { rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { mutantsOf } from "../mutation/mutants.ts"
import { targets } from "../mutation/targets.ts"
import { defects } from "./defects.ts"
import { filesWith } from "./filesWith.ts"
import { livingMutants, whyLives } from "./livingMutants.ts"
import { always } from "./oracle/always.ts"
import { atEnd } from "./oracle/atEnd.ts"
import { treeCopy } from "./treeCopy.ts"

const root = join(import.meta.dir, "../..")
const read = (file: string) => Bun.file(join(root, file)).text()

test("each mutant that is known to live is one of its file", async () => {
  const met = new Set<string>()
  for (const file of targets) {
    const source = await read(file)
    for (const mutant of mutantsOf(file, source)) {
      const why = whyLives(mutant, source)
      const text = source.split("\n")[mutant.line - 1] ?? ""
      for (const one of livingMutants)
        if (why === one.why && one.file === file && one.change === mutant.change && text.includes(one.line))
          met.add(JSON.stringify(one))
    }
  }
  expect(livingMutants.filter((one) => !met.has(JSON.stringify(one)))).toEqual([])
})

test("docs/simulation.md has a row for each defect, and each invariant but one breaks in one", async () => {
  const page = await read("docs/simulation.md")
  const rows = [...page.matchAll(/^\| (.+) \| (memory|sql) \| \d+ \| (.+) \|$/gmu)]
  expect(rows.map(([, name, store]) => `${store}: ${name}`).toSorted()).toEqual(
    defects.map(({ name, store = "memory" }) => `${store}: ${name}`).toSorted()
  )
  const broken = new Set(rows.map(([, , , invariant]) => invariant))
  const unbroken = Object.keys({ ...always, ...atEnd }).filter((name) => !broken.has(name))
  // A cancellation that comes while the chain proves the refund is too rare for a row.
  expect(unbroken).toEqual(["an ended refund stays so"])
})

test("a checkout that pays beside another browser's attempt breaks an invariant", async () => {
  const child = Bun.spawn(
    [
      process.execPath,
      join(import.meta.dir, "bite.ts"),
      ...["--only", "the checkout takes an attempt of another browser for none", "--limit", "400"]
    ],
    { stdout: "pipe", stderr: "inherit" }
  )
  expect(await new Response(child.stdout).text()).toMatch(/\| no buyer is charged twice \|\n1 of 1 killed/)
}, 240_000)

test("a run tells of seeds that fail, the fewest faults with which one does, and the end of its story", async () => {
  const defect = defects.find(({ name }) => name === "a settlement queues no webhook")
  if (defect === undefined) throw new Error("the defect has another name")
  const tree = await treeCopy()
  try {
    for (const { file, text } of await filesWith(defect)) await writeFile(join(tree, file), text)
    const child = Bun.spawn([process.execPath, "test/simulation/main.ts", "--seeds", "8"], {
      cwd: tree,
      stdout: "pipe",
      stderr: "inherit"
    })
    const told = await new Response(child.stdout).text()
    expect(await child.exited).toBe(1)
    const [, seed] = /^seed (\d+) {2}a settlement queues one delivery: /mu.exec(told) ?? []
    expect(seed).toBeDefined()
    expect(told).toContain("looking for the fewest of its faults that break it")
    expect(told).toContain(`lines before: bun run simulate --seed ${seed} --explain\n`)
    // As it goes with none of its faults, up to what breaks.
    expect(told).toMatch(/^00:\d\d:\d\d\.\d{3} {2}oracle +a settlement queues one delivery: /mu)
    expect(told).toMatch(/^faults: none came$/mu)
    expect(told).toMatch(/^BROKEN {2}a settlement queues one delivery: /mu)
    expect(told).toMatch(/^\d+ faults, 0 of them in the fewest with which it still breaks, of 1 runs$/mu)
  } finally {
    await rm(tree, { recursive: true, force: true })
  }
}, 240_000)
