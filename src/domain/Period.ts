// Days in a merchant's time zone, and the instants at which they start and end.
import { DateTime, Option, Schema } from "effect"
import { BoundedMap } from "./BoundedMap.ts"

/** True if days can be computed, and instants formatted, in this zone. */
const isZone = (name: string) =>
  Option.isSome(DateTime.zoneMakeNamed(name)) && Option.isSome(DateTime.zoneFromString(name))
const zoneWanted = "a time zone's name, such as Europe/Berlin"

/** The zone names that this runtime lists, grouped by area. */
const zonePattern = () => {
  const names = Object.groupBy(["UTC", ...Intl.supportedValuesOf("timeZone")], (name) =>
    name.slice(0, name.indexOf("/") + 1)
  )
  const areas = Object.entries(names).map(
    ([area, all = []]) =>
      `${area}(${[...new Set(all)].map((name) => name.slice(area.length).replaceAll("+", "\\+")).join("|")})`
  )
  return `^(${areas.join("|")})$`
}

/** An IANA time zone name. */
export const TimeZone = Schema.String.check(
  Schema.isMaxLength(64),
  Schema.makeFilter((name) => isZone(name) || zoneWanted, {
    toJsonSchema: () => ({ pattern: zonePattern() })
  })
).annotate({ description: "An IANA time zone name.", examples: ["Europe/Berlin"] })

/** The time zone as stored. Postgres reads it too: there, an offset such as `+02:00` would mean the opposite. */
export const StoredTimeZone = TimeZone.check(
  Schema.makeFilter((name) => !/^(GMT)?[+-]/i.test(name) || zoneWanted)
)

const dayPattern = /^\d{4}-\d{2}-\d{2}$/u
const isDay = (text: string) =>
  dayPattern.test(text) &&
  !Number.isNaN(Date.parse(`${text}T00:00:00Z`)) &&
  new Date(`${text}T00:00:00Z`).toISOString().startsWith(text)

/** A calendar day, for example `2026-01-31`. */
export const Day = Schema.String.check(
  Schema.makeFilter((text) => isDay(text) || "a day that exists, such as 2026-01-31", {
    toJsonSchema: () => ({ format: "date", pattern: dayPattern.source })
  })
).annotate({ examples: ["2026-01-31"] })

/** Whole days; both are included. */
export interface Period {
  readonly from: string
  readonly to: string
  readonly timeZone: string
  readonly start: Date
  /** The first instant after the period. */
  readonly end: Date
}

/** The calendar day that is `days` days later; earlier if negative. */
export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)

/**
 * Caches the starts of days by zone and day, enough for several merchants' years: computing them takes longer than the
 * rest of a statement.
 */
const starts = new BoundedMap<string, Option.Option<Date>>(4_000)

/** The start of a day: midnight, or the first moment after it if the clocks skip midnight. */
const startOf = (day: string, timeZone: string): Option.Option<Date> => {
  const key = `${timeZone} ${day}`
  const start =
    starts.get(key) ??
    Option.map(
      DateTime.makeZoned(`${day}T00:00:00Z`, {
        timeZone,
        adjustForTimeZone: true,
        disambiguation: "compatible"
      }),
      DateTime.toDateUtc
    )
  starts.set(key, start)
  return start
}

/** None if the days are in the wrong order. */
export const periodOf = (from: string, to: string, timeZone: string): Option.Option<Period> =>
  from > to
    ? Option.none()
    : Option.all({ start: startOf(from, timeZone), end: startOf(addDays(to, 1), timeZone) }).pipe(
        Option.map(({ end, start }) => ({ from, to, timeZone, start, end }))
      )

/** The first instant of a day, and the first instant after it. */
export interface DayBounds {
  readonly start: Date
  readonly end: Date
}

/** The days of a period, oldest first. */
export const daysOf = ({
  from,
  timeZone,
  to
}: Pick<Period, "from" | "timeZone" | "to">): ReadonlyArray<DayBounds & { readonly day: string }> => {
  const days: Array<string> = []
  for (let at = Date.parse(from); at <= Date.parse(to); at += 86_400_000)
    days.push(new Date(at).toISOString().slice(0, 10))
  return days.flatMap((day) =>
    Option.toArray(periodOf(day, day, timeZone)).map(({ end, start }) => ({ day, start, end }))
  )
}

/** The current day, and the first day of its month. */
export const todayIn = (now: Date, timeZone: string): { readonly today: string; readonly first: string } => {
  const today = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" }).format(now)
  return { today, first: `${today.slice(0, 8)}01` }
}
