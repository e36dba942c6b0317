// The methods of each path, and those that pages of any origin may use.
import { expect, test } from "bun:test"
import {
  allowOf,
  type ContractEndpoint,
  entryOf,
  pathOf,
  pathTable
} from "../../../../src/platform/http/Routing/pathTable.ts"

const endpoint = (method: string, path: string, crossOrigin = false): ContractEndpoint => ({
  name: `${method} ${path}`,
  method,
  path,
  access: { by: "key", kinds: ["secret"], ...(crossOrigin ? { crossOrigin: true } : {}) }
})
const table = pathTable(
  [
    endpoint("GET", "/payments"),
    endpoint("POST", "/payments", true),
    endpoint("PATCH", "/payments/:id", true),
    endpoint("POST", "/payments/:id/attempts")
  ],
  ["/healthz"]
)
const methodsOf = (path: string) => {
  const entry = entryOf(table, path)
  return entry === undefined ? undefined : allowOf(entry)
}

test("GET implies HEAD; methods of a path are listed together", () => {
  expect(methodsOf("/payments")).toBe("GET, HEAD, POST")
  expect(methodsOf("/healthz")).toBe("GET, HEAD")
  expect(methodsOf("/payments/1")).toBe("PATCH")
})

test("a parameter is one segment, and not empty", () => {
  expect(methodsOf("/payments/1/attempts")).toBe("POST")
  expect(methodsOf("/payments/")).toBeUndefined()
  expect(methodsOf("/payments/1/2/attempts")).toBeUndefined()
})

test("other origins may use only the methods that are open to them", () =>
  expect([...(entryOf(table, "/payments")?.crossOrigin ?? [])]).toEqual(["POST"]))

test("a target's path ends at its query", () => {
  expect(pathOf("/payments?limit=1?2")).toBe("/payments")
  expect(pathOf("/payments")).toBe("/payments")
})
