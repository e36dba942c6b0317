// Languages: complete, with the same placeholders, and money to the last digit.
import { describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { languages, translation } from "../../../src/checkout/component/translate.ts"
import { catalogues as linkCatalogues } from "../../../src/checkout/pages/links/catalogues.ts"
import { catalogues as receiptCatalogues } from "../../../src/payments/receipts/catalogues.ts"

const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort()

const rooms: ReadonlyArray<readonly [string, Readonly<Record<string, Readonly<Record<string, string>>>>]> = [
  ["checkout/component", languages],
  ["checkout/pages/links", linkCatalogues],
  ["payments/receipts", receiptCatalogues]
]

describe("Messages", () => {
  for (const [room, catalogues] of rooms) {
    const { en = {} } = catalogues
    const keys = Object.keys(en)

    test(`of ${room} exist in eight languages or more, and each file is registered`, () => {
      const files = readdirSync(join(import.meta.dir, "../../../src", room, "messages"))
      expect(Object.keys(catalogues).sort()).toEqual(files.map((file) => file.replace(".json", "")).sort())
      expect(files.length).toBeGreaterThanOrEqual(8)
    })

    for (const [language, messages] of Object.entries(catalogues)) {
      test(`of ${room} in ${language} are complete and translated, and keep every placeholder`, () => {
        expect(Object.keys(messages).sort()).toEqual([...keys].sort())
        for (const key of keys) {
          const [own = "", english = ""] = [messages[key], en[key]]
          expect(own.trim()).not.toBe("")
          expect({ key, words: placeholders(own) }).toEqual({ key, words: placeholders(english) })
          // Short words may be the same in both languages.
          if (language !== "en" && english.length > 16) expect(own).not.toBe(english)
        }
      })
    }
  }

  test("the first available language wins, otherwise English", () => {
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

  test("a wait has the plural of its number, and is in hours from two hours on", () => {
    const wait = (tag: string, minutes: number) =>
      translation([tag]).text("noticeFaucetLimit", { minutes: String(minutes) })
    expect(wait("en", 1)).toBe("The limit for test funds has been reached. Try again in 1 minute.")
    expect(wait("en", 5)).toEndWith("Try again in 5 minutes.")
    expect(wait("en", 1_440)).toEndWith("Try again in 24 hours.")
    expect(wait("de", 1)).toEndWith("in 1 Minute erneut.")
    expect(wait("de", 121)).toEndWith("in 3 Stunden erneut.")
    expect(wait("fr", 1)).toEndWith("dans 1 minute.")
  })

  test("a value that fills a placeholder is never read as a placeholder", () => {
    expect(translation(["en"]).text("payTo", { merchant: "{amount}", amount: "x" })).toBe("Pay {amount}")
  })
})
