// Days in a merchant's time zone, and the instants between which they lie.
import { DateTime, Option, Schema } from "effect"

/** In which days can be told to begin, and instants be written. */
const isZone = (name: string) =>
  Option.isSome(DateTime.zoneMakeNamed(name)) && Option.isSome(DateTime.zoneFromString(name))
const zoneWanted = "a time zone's name, such as Europe/Berlin"

/** A name of the IANA's time zones. */
export const TimeZone = Schema.String.check(
  Schema.makeFilter((name) => isZone(name) || zoneWanted),
  Schema.isMaxLength(64)
).annotate({ description: "A name of the IANA's time zones.", examples: ["Europe/Berlin"] })

/** As it is kept, for Postgres to read as well: an offset such as `+02:00` means the opposite there. */
export const KeptTimeZone = TimeZone.check(
  Schema.makeFilter((name) => !/^(GMT)?[+-]/i.test(name) || zoneWanted)
)

const isDay = (text: string) =>
  /^\d{4}-\d{2}-\d{2}$/u.test(text) &&
  !Number.isNaN(Date.parse(`${text}T00:00:00Z`)) &&
  new Date(`${text}T00:00:00Z`).toISOString().startsWith(text)

/** A day of the calendar, `2026-01-31`. */
export const Day = Schema.String.check(
  Schema.makeFilter((text) => isDay(text) || "a day that exists, such as 2026-01-31"),
  // Last: what documents the schema has to stand in JSON Schema.
  Schema.isMaxLength(10)
).annotate({ examples: ["2026-01-31"] })

/** Whole days, both included. */
export interface Period {
  readonly from: string
  readonly to: string
  readonly timeZone: string
  readonly start: Date
  /** The first instant after it. */
  readonly end: Date
}

const dayAfter = (day: string) =>
  new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10)

/** When a day begins: at midnight, or where the clocks leave midnight out, right after it. */
const startOf = (day: string, timeZone: string): Option.Option<Date> =>
  Option.map(
    DateTime.makeZoned(`${day}T00:00:00Z`, {
      timeZone,
      adjustForTimeZone: true,
      disambiguation: "compatible"
    }),
    DateTime.toDateUtc
  )

/** None where the days are in the wrong order. */
export const periodOf = (from: string, to: string, timeZone: string): Option.Option<Period> =>
  from > to
    ? Option.none()
    : Option.all({ start: startOf(from, timeZone), end: startOf(dayAfter(to), timeZone) }).pipe(
        Option.map(({ end, start }) => ({ from, to, timeZone, start, end }))
      )

/** The day that it is, and the first of its month. */
export const todayIn = (now: Date, timeZone: string): { readonly today: string; readonly first: string } => {
  const today = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" }).format(now)
  return { today, first: `${today.slice(0, 8)}01` }
}
