// WalletConnect is offered only where its library works.
import { afterEach, expect, spyOn, test } from "bun:test"
import { makeWalletConnect } from "../../../src/checkout/component/walletConnect.ts"
import { context } from "./tenDollars.ts"

const walletConnect = { projectId: "0".repeat(32), relayUrl: "wss://relay.example" }
const offered = () => makeWalletConnect("https://pay.example", { ...context, walletConnect })?.name

const warned = spyOn(console, "warn").mockImplementation(() => {})
afterEach(() => {
  warned.mockClear()
})

/** Runs with the page's value in place of the browser's. */
const withChange = <A>(of: object, name: string, value: unknown, run: () => A): A => {
  const before = Object.getOwnPropertyDescriptor(of, name)
  Object.defineProperty(of, name, { configurable: true, enumerable: true, writable: true, value })
  try {
    return run()
  } finally {
    if (before === undefined) Reflect.deleteProperty(of, name)
    else Object.defineProperty(of, name, before)
  }
}

test("on a page that changed nothing it is offered", () => {
  expect(offered()).toBe("WalletConnect")
  expect(warned).not.toHaveBeenCalled()
})

test("on a page whose library would garble its messages it is not offered, and the developer reads why", () => {
  const keysIn = (of: object) => {
    const keys: Array<string> = []
    for (const key in of) keys.push(key)
    return keys
  }
  const changes = [
    [Array.prototype, "toJSON", () => "[]"],
    [Object.prototype, "toJSON", () => "{}"],
    // Prototype.js and MooTools read no iterator.
    [Array, "from", (items: { readonly length?: number }) => Array(items.length ?? 0)],
    [Object, "keys", (of: object) => [...keysIn(of), "extend"]]
  ] as const
  for (const [of, name, value] of changes)
    expect([name, withChange(of, name, value, offered)]).toEqual([name, undefined])
  expect(warned).toHaveBeenCalledTimes(changes.length)
  expect(warned.mock.calls[0]?.[0]).toContain("WalletConnect is not offered")
})
