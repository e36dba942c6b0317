import { expect, test } from "bun:test"
import { withOlder } from "../../src/dashboard/browser/withOlder.ts"

const idOf = (one: number) => one

test("items that others add hide no loaded ones, and nothing is listed twice", () => {
  const before = [5, 4, 3, 2, 1]
  expect(withOlder([5, 4, 3], [], idOf)).toEqual([5, 4, 3])
  expect(withOlder([5, 4, 3], before, idOf)).toEqual([5, 4, 3, 2, 1])
  expect(withOlder([7, 6, 5], before, idOf)).toEqual([7, 6, 5, 4, 3, 2, 1])
})
