// Amounts, times and long identifiers in readable form.

/** `1234567.5` becomes `$1,234,567.50`; exact at any length. */
export const usd = (amount: string): string => {
  const [integer = "0", fraction = "00"] = amount.split(".")
  return `$${integer.replace(/\B(?=(\d{3})+$)/g, ",")}.${fraction.padEnd(2, "0")}`
}

/** `0x1234abcd…89ef`. */
export const short = (text: string, head = 8, tail = 6): string =>
  text.length <= head + tail + 1 ? text : `${text.slice(0, head)}…${text.slice(-tail)}`

const formatsOf = (locale: string) => ({
  number: new Intl.NumberFormat(locale),
  dayTime: new Intl.DateTimeFormat(locale, {
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23"
  }),
  exact: new Intl.DateTimeFormat(locale, {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    timeZoneName: "short"
  }),
  dayOnly: new Intl.DateTimeFormat(locale, { month: "short", day: "numeric", timeZone: "UTC" })
})
let formats = formatsOf("en-US")

/** Dates and counts use the user's language from now on. */
export const setFormats = (locale: string): void => {
  formats = formatsOf(locale === "en" ? "en-US" : locale)
}

export const count = (value: number): string => formats.number.format(value)
/** `1 payment`, `2 payments`. */
export const pluralised = (value: number, one: string): string =>
  `${count(value)} ${value === 1 ? one : `${one}s`}`

export const shortTime = (iso: string): string => formats.dayTime.format(new Date(iso))
export const exactTime = (iso: string): string => formats.exact.format(new Date(iso))
/** A UTC day, `2026-01-31`. */
export const dayName = (day: string): string => formats.dayOnly.format(new Date(`${day}T00:00:00Z`))

/** Whole seconds in readable form: `45 s`, `3 min`, `2 h`. */
export const duration = (seconds: number): string =>
  seconds < 90
    ? `${seconds} s`
    : seconds < 5_400
      ? `${Math.round(seconds / 60)} min`
      : `${Math.round(seconds / 3_600)} h`

const steps = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60]
] as const
const relative = new Intl.RelativeTimeFormat("en-US", { numeric: "always", style: "short" })

/** The time since or until a moment. */
export const ago = (iso: string, now: number): string => {
  const seconds = Math.round((new Date(iso).getTime() - now) / 1000)
  const [unit, length] = steps.find(([, one]) => Math.abs(seconds) >= one) ?? ["second", 1]
  return Math.abs(seconds) < 5 ? "just now" : relative.format(Math.trunc(seconds / length), unit)
}

export const millis = (value: number): string =>
  value < 1000 ? `${value} ms` : `${(value / 1000).toFixed(value < 10_000 ? 2 : 1)} s`
