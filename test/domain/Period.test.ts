// The time zones that are accepted, and those that are stored.
import { describe, expect, test } from "bun:test"
import { Option, Schema } from "effect"
import { periodOf, StoredTimeZone, TimeZone } from "../../src/domain/Period.ts"

const isTaken = Schema.is(TimeZone)
const isKept = Schema.is(StoredTimeZone)

describe("A time zone", () => {
  const names = [
    "Europe/Berlin",
    "europe/berlin",
    "UTC",
    "America/Argentina/Buenos_Aires",
    "Etc/GMT+12",
    "CET"
  ]
  const offsets = ["+02:00", "-05:30", "+0530"]

  test("is accepted if days can begin in it", () => {
    for (const name of [...names, ...offsets]) {
      expect([name, isTaken(name)]).toEqual([name, true])
      expect([name, Option.isSome(periodOf("2026-01-01", "2026-01-31", name))]).toEqual([name, true])
    }
    for (const name of ["", "Mars/Base", "+05", "GMT+0", "+99:99", "+24:00", "local", "Europe/Berlin "])
      expect([name, isTaken(name)]).toEqual([name, false])
  })

  test("matches the document's pattern under each name that the runtime lists", () => {
    const { schema } = Schema.toJsonSchemaDocument(TimeZone)
    const { pattern } = Schema.decodeUnknownSync(Schema.Struct({ pattern: Schema.String }))(schema)
    const names = ["UTC", ...Intl.supportedValuesOf("timeZone")]
    expect(names.filter((name) => !new RegExp(pattern, "u").test(name))).toEqual([])
    expect(new RegExp(pattern, "u").test("Etc/GMTTT3")).toBe(false)
  })

  test("is stored by its name: Postgres reads offsets the other way round", () => {
    for (const name of names) expect([name, isKept(name)]).toEqual([name, true])
    for (const name of offsets) expect([name, isKept(name)]).toEqual([name, false])
  })
})
