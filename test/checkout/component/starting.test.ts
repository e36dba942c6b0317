// The start of a checkout on a page that lacks something: it ends with a code, and never stays at "loading".
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test"
import { Checkout } from "../../../src/checkout/component/Checkout.ts"

const paymentId = "11111111-1111-4111-8111-111111111111"
const token = ["{}", JSON.stringify({ jti: paymentId, receiver: "0x", token: { address: "0x", chainId: 1 } })]
  .map((part) => btoa(part))
  .join(".")

/** A page's storage; `refuse` throws where the browser would. */
const storage = (refuse: (call: "getItem" | "setItem", key: string) => void = () => {}) => {
  const stored = new Map<string, string>()
  return {
    stored,
    getItem: (key: string) => {
      refuse("getItem", key)
      return stored.get(key) ?? null
    },
    setItem: (key: string, value: string) => {
      refuse("setItem", key)
      stored.set(key, value)
    },
    removeItem: (key: string) => stored.delete(key)
  }
}

const names = ["addEventListener", "dispatchEvent", "document", "isSecureContext", "localStorage"] as const
const before = names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const)
const set = (name: string, value: unknown) =>
  Object.defineProperty(globalThis, name, { configurable: true, writable: true, value })
const logged = spyOn(console, "error")

beforeEach(() => {
  logged.mockReset().mockImplementation(() => {})
  set("isSecureContext", true)
  set("localStorage", storage())
  set("document", { addEventListener: () => {}, removeEventListener: () => {} })
  set("addEventListener", () => {})
  set("dispatchEvent", () => true)
  Object.defineProperty(navigator, "locks", {
    configurable: true,
    value: { query: async () => ({ held: [], pending: [] }) }
  })
})
afterEach(() => {
  for (const [name, value] of before) {
    if (value === undefined) Reflect.deleteProperty(globalThis, name)
    else Object.defineProperty(globalThis, name, value)
  }
  Reflect.deleteProperty(navigator, "locks")
})

/** The first code and reason that the page shows, and what its developer reads. */
const start = async () => {
  const shown = Promise.withResolvers<readonly [string | undefined, string | undefined]>()
  const checkout = new Checkout({
    // Nothing listens there.
    baseUrl: "http://127.0.0.1:1",
    intentToken: token,
    publishableKey: "pk_test_1",
    changed: ({ code, notice, reason }) => shown.resolve([code ?? notice?.key, reason])
  })
  checkout.start()
  const first = await shown.promise
  checkout.stop()
  return { first, said: logged.mock.calls.map((words) => words.join(" ")).join("\n") }
}

test("a page without faults reads the payment", async () => {
  expect((await start()).first).toEqual(["noticeUnreachable", undefined])
})

test("storage that is refused, or that reads but cannot write, is named at the start", async () => {
  for (const refused of ["getItem", "setItem"]) {
    set(
      "localStorage",
      storage((call) => {
        if (call === refused) throw new DOMException("no", "QuotaExceededError")
      })
    )
    const { first, said } = await start()
    expect(first).toEqual(["STORAGE_BLOCKED", "failedStorage"])
    expect(said).toContain(refused === "getItem" ? "is blocked here" : "does not store here")
  }
})

test("a payment that is on record is followed although the page's storage is full now", async () => {
  const full = storage((call) => {
    if (call === "setItem") throw new DOMException("full", "QuotaExceededError")
  })
  full.stored.set(`quittance-address:${paymentId}`, String(Date.now()))
  set("localStorage", full)
  expect((await start()).first).toEqual(["noticeUnreachable", undefined])
})

test("a page on which the search for wallets throws ends with a code, and the error is logged", async () => {
  set("dispatchEvent", () => {
    throw new TypeError("parameter 1 is not an Event")
  })
  const { first, said } = await start()
  expect(first).toEqual(["UNEXPECTED", "failedInvalid"])
  expect(said).toContain("could not start: TypeError: parameter 1 is not an Event")
})
