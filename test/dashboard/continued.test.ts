import { expect, test } from "bun:test"
import { continued, meets } from "../../src/dashboard/browser/continued.ts"

const one = (at: number, id = `${at}`) => ({ id, at: `2026-01-01T00:00:0${at}.000Z` })
const ids = (list: ReadonlyArray<{ readonly id: string }>) => list.map(({ id }) => id).join(" ")

test("items that were loaded stay below the newest page, even if newer ones have displaced them", () => {
  const before = [5, 4, 3, 2, 1].map((at) => one(at))
  const pageOf = (...at: ReadonlyArray<number>) => ({ items: at.map((each) => one(each)), hasMore: true })
  expect(ids(continued(pageOf(5, 4, 3), []))).toBe("5 4 3")
  expect(ids(continued(pageOf(5, 4, 3), before))).toBe("5 4 3 2 1")
  expect(ids(continued(pageOf(7, 6, 5), before))).toBe("7 6 5 4 3 2 1")
})

test("if more items have come than a page holds, the loaded ones do not count as its continuation", () => {
  const before = [3, 2, 1].map((at) => one(at))
  expect(
    meets(
      [5, 4, 3].map((at) => one(at)),
      before
    )
  ).toBe(true)
  // Items between 3 and 7 may be missing.
  expect(
    meets(
      [9, 8, 7].map((at) => one(at)),
      before
    )
  ).toBe(false)
})

test("an item that the page covers but does not list is gone, and items of one time are listed once each", () => {
  const before = [one(5), one(4), one(3, "b"), one(3, "a"), one(2)]
  expect(ids(continued({ items: [one(5), one(3, "b")], hasMore: true }, before))).toBe("5 b a 2")
  expect(ids(continued({ items: [one(5)], hasMore: false }, before))).toBe("5")
})
