// A defect that is put back is found.
import { expect, test } from "bun:test"
import { join } from "node:path"

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
}, 60_000)
