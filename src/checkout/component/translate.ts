// Words and amounts in the buyer's language. A new language is a file in messages/
// and a line here.
import { ar } from "./messages/ar.ts"
import { de } from "./messages/de.ts"
import { en, type MessageKey, type Messages } from "./messages/en.ts"
import { es } from "./messages/es.ts"
import { fr } from "./messages/fr.ts"
import { ja } from "./messages/ja.ts"
import { pt } from "./messages/pt.ts"
import { zh } from "./messages/zh.ts"

export const languages = { en, de, fr, es, pt, ja, zh, ar } as const satisfies Readonly<
  Record<string, Messages>
>

export type Language = keyof typeof languages

const rightToLeft: ReadonlySet<Language> = new Set(["ar"])

export interface Translation {
  readonly language: Language
  readonly direction: "ltr" | "rtl"
  readonly text: (key: MessageKey, values?: Readonly<Record<string, string>>) => string
  /** A decimal USD string as money, to the last digit. */
  readonly money: (amount: string) => string
  /** The time of day of an ISO date, with the day where it is not today. */
  readonly time: (iso: string) => string
}

const isLanguage = (tag: string): tag is Language => Object.hasOwn(languages, tag)

/** The first of the tags (`de-AT`, `pt`) whose language there is; English otherwise. */
const choose = (tags: ReadonlyArray<string>): readonly [Language, string] => {
  for (const tag of tags) {
    const language = tag.toLowerCase().split("-")[0] ?? ""
    if (isLanguage(language)) return [language, tag]
  }
  return ["en", "en"]
}

const formatter = (tag: string, direction: "ltr" | "rtl"): Intl.NumberFormat => {
  // A lone sign is torn from its letters where text runs from the right.
  const currencyDisplay = direction === "rtl" ? "code" : "symbol"
  const options = { style: "currency", currency: "USD", currencyDisplay, maximumFractionDigits: 6 } as const
  try {
    return new Intl.NumberFormat(tag, options)
  } catch {
    return new Intl.NumberFormat("en", options)
  }
}

const clock = (tag: string, at: Date): string => {
  const today = at.toDateString() === new Date().toDateString()
  const options = today
    ? ({ timeStyle: "short" } as const)
    : ({ dateStyle: "short", timeStyle: "short" } as const)
  try {
    return new Intl.DateTimeFormat(tag, options).format(at)
  } catch {
    return new Intl.DateTimeFormat("en", options).format(at)
  }
}

export const translation = (tags: ReadonlyArray<string>): Translation => {
  const [language, tag] = choose(tags)
  const messages: Messages = languages[language]
  const direction = rightToLeft.has(language) ? "rtl" : "ltr"
  const format = formatter(tag, direction)
  return {
    language,
    direction,
    text: (key, values = {}) => messages[key].replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? ""),
    // A string keeps all twenty digits; a number would not.
    money: (amount) => (/^\d+(\.\d+)?$/.test(amount) ? format.format(amount as `${number}`) : amount),
    time: (iso) => clock(tag, new Date(iso))
  }
}
