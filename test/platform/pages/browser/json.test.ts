// JSON that does not depend on changes of a page to its prototypes.
import { expect, test } from "bun:test"
import fc from "fast-check"
import { fromJson, toJson } from "../../../../src/platform/pages/browser/json.ts"

test("any data is read back as JSON.stringify would have written it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      expect(JSON.parse(toJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
    })
  )
})

test("plain data is written byte for byte as by JSON.stringify", () => {
  for (const value of [
    {
      a: [1, -0.5, 1e21, true, null, undefined],
      b: undefined,
      'q"\\': "x\n\u2028ü",
      nested: { list: [[]], empty: {} }
    },
    "\u0000\ud800",
    []
  ])
    expect(toJson(value)).toBe(JSON.stringify(value).replace("\\n", "\\u000a"))
  expect(() => toJson({ a: 1n })).toThrow("JSON has no bigint")
})

test("a page's prototypes and replaced globals change nothing", () => {
  const plain = { typedData: { list: ["a", { b: 1 }], text: "x" } }
  const written = JSON.stringify(plain)
  const kept = { keys: Object.keys, json: globalThis.JSON }
  const garble = { configurable: true, enumerable: true, value: () => "garbled" }
  const prototypes = [Array.prototype, String.prototype, Number.prototype, Object.prototype]
  for (const one of prototypes) Object.defineProperty(one, "toJSON", garble)
  Object.defineProperty(Object.prototype, "extend", garble)
  Object.keys = () => ["garbled"]
  Object.defineProperty(globalThis, "JSON", { configurable: true, writable: true, value: {} })
  const result = [toJson(plain), fromJson(written)] as const
  Object.defineProperty(globalThis, "JSON", { configurable: true, writable: true, value: kept.json })
  Object.keys = kept.keys
  for (const one of prototypes) Reflect.deleteProperty(one, "toJSON")
  Reflect.deleteProperty(Object.prototype, "extend")
  expect(result[0]).toBe(written)
  expect(result[1]).toEqual(plain)
})
