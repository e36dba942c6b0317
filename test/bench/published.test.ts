// The documents show the numbers that were measured.
import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Predicate } from "effect"
import { headline, published, sections } from "./published.ts"

const read = (path: string) => readFileSync(join(import.meta.dir, "../..", path), "utf8")

test("docs/performance.md shows the published results", () => {
  expect(read("docs/performance.md")).toContain(sections(published()))
})

test("the README's line of numbers is the first machine's that has all of them", () => {
  const line = published().map(headline).find(Predicate.isNotUndefined)
  expect(line).toBeDefined()
  expect(read("README.md").split("\n")).toContain(line ?? "")
})
