// The announcements of a screen reader.
import { expect, test } from "bun:test"
import { spoken } from "../../../src/checkout/component/render/spoken.ts"

test("each text is one sentence, whatever its punctuation", () => {
  expect(spoken(["Not enough funds", undefined, "Your wallet holds $0.00.", ""])).toBe(
    "Not enough funds. Your wallet holds $0.00."
  )
  expect(spoken(["お支払い", "しばらくお待ちください。", "Checking…"])).toBe(
    "お支払い. しばらくお待ちください。 Checking…"
  )
})
