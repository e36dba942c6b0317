// Languages: complete, with the same placeholders, and money to the last digit.
import { describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { en, type MessageKey } from "../../../src/checkout/component/messages/en.ts"
import { languages, translation } from "../../../src/checkout/component/translate.ts"

const keys = Object.keys(en) as Array<MessageKey>
const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort()

describe("Messages", () => {
  test("are there in eight languages or more, each file of them known", () => {
    const files = readdirSync(join(import.meta.dir, "../../../src/checkout/component/messages"))
    expect(Object.keys(languages).sort()).toEqual(files.map((file) => file.replace(".ts", "")).sort())
    expect(files.length).toBeGreaterThanOrEqual(8)
  })

  for (const [language, messages] of Object.entries(languages)) {
    test(`in ${language} are complete, and keep every placeholder`, () => {
      expect(Object.keys(messages).sort()).toEqual([...keys].sort())
      for (const key of keys) {
        expect(messages[key].trim()).not.toBe("")
        expect({ key, words: placeholders(messages[key]) }).toEqual({ key, words: placeholders(en[key]) })
      }
    })

    test(`in ${language} are translated`, () => {
      if (language === "en") return
      const same = keys.filter((key) => messages[key] === en[key])
      // Short words may be alike.
      expect(same.filter((key) => en[key].length > 12)).toEqual([])
    })
  }

  test("the first language that there is wins, English otherwise", () => {
    expect(translation(["de-AT", "fr"]).language).toBe("de")
    expect(translation(["xx", "pt-BR"]).language).toBe("pt")
    expect(translation(["xx"]).language).toBe("en")
    expect(translation([]).language).toBe("en")
    expect(translation(["__proto__", "constructor"]).language).toBe("en")
    expect(translation(["ar-EG"]).direction).toBe("rtl")
  })

  test("money is formatted by locale, without losing a digit", () => {
    expect(translation(["en"]).money("10.00")).toBe("$10.00")
    expect(translation(["de"]).money("1234.50")).toBe("1.234,50\u00a0$")
    expect(translation(["en"]).money("0.000001")).toBe("$0.000001")
    expect(translation(["en"]).money("99999999999999.999999")).toBe("$99,999,999,999,999.999999")
    expect(translation(["en-x-"]).money("1.00")).toContain("1.00")
  })

  test("what fills a placeholder is never read as one", () => {
    expect(translation(["en"]).text("payTo", { merchant: "{amount}", amount: "x" })).toBe("Pay {amount}")
  })
})
