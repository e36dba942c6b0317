// Words, amounts and times in the reader's language.

const rightToLeft: ReadonlySet<string> = new Set(["ar"])

export interface Translation<K extends string> {
  readonly language: string
  readonly direction: "ltr" | "rtl"
  /** `{minutes}` in a message is replaced by a number and its unit. */
  readonly text: (key: K, values?: Readonly<Record<string, string>>) => string
  /** A decimal USD string as money, to the last digit. */
  readonly money: (amount: string) => string
  /** The time of day of an ISO date, with the day unless it is today. */
  readonly time: (iso: string) => string
}

/** The first of the tags (`de-AT`, `pt`) whose language is available; otherwise English. */
const choose = (languages: ReadonlyArray<string>, tags: ReadonlyArray<string>): readonly [string, string] => {
  for (const tag of tags) {
    const language = tag.toLowerCase().split("-")[0] ?? ""
    if (languages.includes(language)) return [language, tag]
  }
  return ["en", "en"]
}

const formatter = (tag: string, direction: "ltr" | "rtl"): Intl.NumberFormat => {
  // In right-to-left text, a lone sign is separated from its letters.
  const currencyDisplay = direction === "rtl" ? "code" : "symbol"
  const options = { style: "currency", currency: "USD", currencyDisplay, maximumFractionDigits: 6 } as const
  try {
    return new Intl.NumberFormat(tag, options)
  } catch {
    return new Intl.NumberFormat("en", options)
  }
}

/** A wait in words, in the plural of its number: `1 minute`, `3 hours`. */
const waitText = (tag: string, minutes: number): string => {
  const [unit, value] =
    minutes < 120 ? (["minute", minutes] as const) : (["hour", Math.ceil(minutes / 60)] as const)
  const options = { style: "unit", unit, unitDisplay: "long" } as const
  try {
    return new Intl.NumberFormat(tag, options).format(value)
  } catch {
    return new Intl.NumberFormat("en", options).format(value)
  }
}

const clock = (tag: string, at: Date): string => {
  const today = at.toDateString() === new Date().toDateString()
  const options = today
    ? ({ timeStyle: "short" } as const)
    : ({ month: "short", day: "numeric", hour: "numeric", minute: "2-digit" } as const)
  try {
    return new Intl.DateTimeFormat(tag, options).format(at)
  } catch {
    return new Intl.DateTimeFormat("en", options).format(at)
  }
}

/** Messages by key. `en` has every key. */
export type Catalogues<K extends string> = Readonly<Record<"en", Readonly<Record<K, string>>>> &
  Readonly<Record<string, Readonly<Record<K, string>>>>

/** Words in the first of the tags that has a catalogue. */
export const localised = <K extends string>(
  catalogues: Catalogues<K>,
  tags: ReadonlyArray<string>
): Translation<K> => {
  const [language, tag] = choose(Object.keys(catalogues), tags)
  const messages: Readonly<Record<K, string>> = catalogues[language] ?? catalogues.en
  const direction = rightToLeft.has(language) ? "rtl" : "ltr"
  const format = formatter(tag, direction)
  return {
    language,
    direction,
    text: (key, values = {}) =>
      messages[key].replace(/\{(\w+)\}/g, (_, name: string) => {
        const value = values[name] ?? ""
        return name === "minutes" ? waitText(tag, Number(value)) : value
      }),
    // A string keeps all twenty digits; a number would not.
    money: (amount) => (/^\d+(\.\d+)?$/.test(amount) ? format.format(amount as `${number}`) : amount),
    time: (iso) => clock(tag, new Date(iso))
  }
}
