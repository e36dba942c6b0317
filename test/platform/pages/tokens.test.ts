// One look: tokens.css defines every colour, shadow, radius, gap and type size, and every other style sheet refers to
// it.
import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Glob } from "bun"

const root = join(import.meta.dir, "../../..")
const tokensPath = "src/platform/pages/browser/tokens.css"
const withoutComments = (css: string) => css.replaceAll(/\/\*[\s\S]*?\*\//g, "")
const read = (path: string) => withoutComments(readFileSync(join(root, path), "utf8"))
const sheets = [...new Glob("src/**/*.css").scanSync(root)].filter((path) => path !== tokensPath).toSorted()

const ownColour =
  /#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color|light-dark)\(|:[^;]*\b(?:white|black|gr[ae]y|red|green|blue|orange|yellow|purple|silver)\b/i

/** The declarations with a value that belongs in tokens.css. */
const ownValues = (css: string): ReadonlyArray<string> =>
  [...css.matchAll(/([\w-]+):\s*([^;{}]+);/g)].flatMap(([, name = "", value = ""]) =>
    ownColour.test(`:${value};`) ||
    (/^(?:font|font-size)$/.test(name) && /\d(?:px|rem)/.test(value)) ||
    (/^(?:border-radius|gap|row-gap|column-gap)$/.test(name) && /\b[1-9][\d.]*(?:px|rem)/.test(value)) ||
    (name === "box-shadow" && !/^(?:none|inset [^,]*|var\(--shadow[\w-]*\))$/.test(value))
      ? [`${name}: ${value}`]
      : []
  )

describe("Tokens", () => {
  for (const path of sheets)
    test(`${path} defines no colour, shadow, radius, gap or type size of its own`, () => {
      expect(ownValues(read(path))).toEqual([])
    })

  test("the check finds a value of a sheet's own, and ignores a token", () => {
    expect(
      ownValues(
        "p { color: #fff; background: rgb(0 0 0 / 5%); border: 1px solid red; font: 400 16px / 1.5 var(--font); gap: 8px; border-radius: 4px; box-shadow: 0 1px 2px var(--line); }"
      )
    ).toHaveLength(7)
    expect(
      ownValues(
        "p { color: var(--text); font: 400 var(--type-m) / 1.5 var(--font); gap: 0; border-radius: 50%; border-color: color-mix(in oklab, var(--line) 88%, var(--text)); }"
      )
    ).toEqual([])
  })

  test("every token that a style sheet uses exists, and every token is used", () => {
    const stated = new Set([...read(tokensPath).matchAll(/^\s*(--[\w-]+):/gm)].map(([, name = ""]) => name))
    const all = [tokensPath, ...sheets].map(read).join("\n")
    const local = new Set([...all.matchAll(/^\s*(--[\w-]+):/gm)].map(([, name = ""]) => name))
    const used = new Set([...all.matchAll(/var\((--[\w-]+)/g)].map(([, name = ""]) => name))
    // Set by a page that embeds the checkout, or by the checkout for its merchant.
    const elsewhere = /^--(?:quittance-|_merchant)/
    expect([...used].filter((name) => !local.has(name) && !elsewhere.test(name))).toEqual([])
    expect([...stated].filter((name) => !used.has(name))).toEqual([])
  })
})
