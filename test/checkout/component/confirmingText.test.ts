// The time that the page tells a buyer to wait, by network and amount.
import { expect, test } from "bun:test"
import type { CheckoutContext } from "../../../src/checkout/component/CheckoutContext.ts"
import { initial } from "../../../src/checkout/component/Model.ts"
import { confirmingText } from "../../../src/checkout/component/render/confirmingText.ts"
import { translation } from "../../../src/checkout/component/translate.ts"
import { context, payment } from "./tenDollars.ts"

const live: CheckoutContext = {
  ...context,
  chain: { id: 42161, name: "Arbitrum One" },
  settlement: [{ upTo: "100000000", seconds: 2 }, { upTo: "10000000000", seconds: 600 }, { seconds: 1_200 }]
}
const said = (amount: string, at = live, language = "en", polls = 0) => {
  const t = translation([language]).text
  return confirmingText({ model: { ...initial, context: at, payment: { ...payment, amount }, polls }, t })
}

test("says a few seconds if it takes no longer", () => {
  for (const text of [said("10.00", context), said("100.00")])
    expect(text).toBe("This usually takes a few seconds. You can close this page; the payment continues.")
})

test("says the minutes of the network and the amount", () => {
  expect(said("100.01")).toBe(
    "Arbitrum One confirms this amount in about 10 minutes. You can close this page; the payment continues."
  )
  expect(said("10000.01")).toContain("in about 20 minutes")
  expect(said("10000.01", live, "de")).toContain("in etwa 20 Minuten")
})

test("says not to pay again after three minutes, or twice the time of the amount", () => {
  const late = "This takes longer than usual. Do not pay again."
  expect(said("10.00", context, "en", 20)).not.toStartWith(late)
  expect(said("10.00", context, "en", 26)).toStartWith(late)
  expect(said("10000.01", live, "en", 200)).not.toStartWith(late)
  expect(said("10000.01", live, "en", 250)).toStartWith(late)
})

test("says that the chain has halted, whatever the amount", () => {
  const halted = { ...live, chain: { ...live.chain, haltedSince: "2026-01-01T00:00:00.000Z" } }
  expect(said("10.00", halted)).toStartWith("Arbitrum One is not confirming payments at the moment.")
})
