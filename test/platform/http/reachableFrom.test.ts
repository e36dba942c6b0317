import { expect, test } from "bun:test"
import { browserNode } from "../../../src/checkout/browserNode.ts"
import { isLoopback } from "../../../src/platform/http/isLoopback.ts"
import { reachableFrom } from "../../../src/platform/http/reachableFrom.ts"

test("loopback is an address or localhost, but not a name that resolves to it", () => {
  for (const host of ["localhost", "127.0.0.1", "127.9.9.9", "[::1]", "::1", "::ffff:127.0.0.1"])
    expect([host, isLoopback(host)]).toEqual([host, true])
  for (const host of [
    "",
    "localhost.example",
    "rebound.example",
    "0.0.0.0",
    "10.0.0.1",
    "203.0.113.9",
    "[2001:db8::1]"
  ])
    expect([host, isLoopback(host)]).toEqual([host, false])
})

test("a development service with a public name or address says where it can be reached", () => {
  const local = "http://localhost:8787"
  expect(reachableFrom({ baseUrl: "https://pay.example.com", host: "127.0.0.1" })).toBe(
    "https://pay.example.com"
  )
  expect(reachableFrom({ baseUrl: local, host: "8.8.8.8" })).toBe("8.8.8.8")
  for (const host of ["127.0.0.1", "::1", "10.1.2.3", "192.168.1.5", "localhost"])
    expect(reachableFrom({ baseUrl: local, host })).toBeUndefined()
})

test("a browser gets a node's address only if it is on the developer's own machine", () => {
  const nodes = (...test: ReadonlyArray<string>) => ({ test, live: ["https://arb.example/v2/SECRET"] })
  const node = (environment: "development" | "production", ...test: ReadonlyArray<string>) =>
    browserNode({ environment, rpcUrls: nodes(...test) }, "test")
  expect(node("development", "https://base.example/v2/SECRET", "http://127.0.0.1:8545")).toBe(
    "http://127.0.0.1:8545"
  )
  expect(node("development", "https://base.example/v2/SECRET")).toBeUndefined()
  expect(node("development", "http://chain:8545")).toBeUndefined()
  expect(
    browserNode({ environment: "development", rpcUrls: nodes("http://127.0.0.1:8545") }, "live")
  ).toBeUndefined()
  expect(node("production", "http://127.0.0.1:8545")).toBeUndefined()
})
