// The documents show the numbers that were measured.
import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Predicate } from "effect"
import { isAtLeast, judge, meetsAim } from "./floors.ts"
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

test("an aim that is met on each machine is held to a tenth, and what was measured last is above the floors", () => {
  const rules = Map.groupBy(published().flatMap(judge), ({ what }) => what)
  for (const [what, judged] of rules) {
    const [rule] = judged
    if (rule === undefined || judged.length < published().length || !judged.every(meetsAim)) continue
    const bound = isAtLeast(rule) ? rule.aim * 0.9 : rule.aim * 1.1
    expect([what, rule.floor]).toEqual([what, expect.closeTo(bound, 5)])
  }
  const [latest = {}] = published()
  expect(judge(latest).filter(({ met }) => !met)).toEqual([])
})
