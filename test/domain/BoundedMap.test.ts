import { expect, test } from "bun:test"
import { BoundedMap } from "../../src/domain/BoundedMap.ts"

test("keeps its newest keys; a key that is set again keeps its place", () => {
  const map = new BoundedMap<string, number>(2)
  map.set("a", 1).set("b", 2).set("a", 3)
  expect([...map]).toEqual([
    ["a", 3],
    ["b", 2]
  ])
  map.set("c", 4)
  expect([...map]).toEqual([
    ["b", 2],
    ["c", 4]
  ])
})
