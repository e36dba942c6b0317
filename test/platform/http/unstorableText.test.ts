// Text that Postgres cannot store, wherever a body contains it.
import { expect, test } from "bun:test"
import { hasUnstorableTarget, unstorablePlace } from "../../../src/platform/http/unstorableText.ts"

const placeIn = (text: string) => unstorablePlace(text, JSON.parse(text))

test.each([
  ['{"a":"\\u0000"}', "body.a"],
  ['{"a":[1,{"b":"x\\u0000y"}]}', "body.a.1.b"],
  ['{"\\u0000":1}', "body"],
  ['{"a":"\\ud800"}', "body.a"],
  ['{"a":"\\uDC00"}', "body.a"],
  ['"\\u0000"', "body"]
])("%s is found at %s", (text, place) => expect(placeIn(text)).toBe(place))

test.each(['{"a":"\\ud83d\\ude00"}', '{"a":"\\\\u0000"}', '{"a":"é😀"}', "{}"])("%s can be stored", (text) =>
  expect(placeIn(text)).toBeUndefined()
)

test("a body nested a hundred thousand deep overflows no stack", () => {
  const text = `${"[".repeat(100_000)}"\\u0000"${"]".repeat(100_000)}`
  let value: unknown = "\u0000"
  for (let depth = 0; depth < 100_000; depth++) value = [value]
  expect(unstorablePlace(text, value)?.length).toBeLessThanOrEqual(200)
})

test("U+0000 in a target is found by its escape", () => {
  expect(hasUnstorableTarget("/payments/%00")).toBe(true)
  expect(hasUnstorableTarget("/payments/%20")).toBe(false)
})
