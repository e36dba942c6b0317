// The documents show the numbers that were measured.
import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { headline, published } from "./published.ts"
import { markdown } from "./report.ts"

const read = (path: string) => readFileSync(join(import.meta.dir, "../..", path), "utf8")

test("docs/performance.md shows the published results", () => {
  const results = published()
  expect(read("docs/performance.md")).toContain(markdown(results.machine, results))
})

test("the README's line of numbers is theirs", () => {
  const line = headline(published())
  expect(line).toBeDefined()
  expect(read("README.md").split("\n")).toContain(line ?? "")
})
