// Texts and numbers arrive as Postgres has them: the driver keeps short texts, and reads short numbers as such.
import { expect, it } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import fc from "fast-check"
import { testDatabase } from "../support/database.ts"

const read = (columns: string, values: ReadonlyArray<string>) =>
  Effect.runPromise(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return yield* sql<Readonly<Record<string, string>>>`
        SELECT ${sql.literal(columns)} FROM unnest(${values}::text[]) WITH ORDINALITY AS drawn (value, nr) ORDER BY nr`
    }).pipe(Effect.provide(testDatabase.layer))
  )

it("a text comes back as it was sent, whichever came before it", async () => {
  const text = fc.oneof(
    fc.constantFrom("settled", "pending", "human", "agent", "test", "live"),
    fc.string({ unit: "binary-ascii", maxLength: 12 }),
    fc.string({ unit: "grapheme", maxLength: 6 })
  )
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 2_000, maxLength: 2_000 }), async (drawn) => {
      const values = drawn.map((one) => one.replaceAll("\0", ""))
      const rows = await read("value", [...values, ...values.toReversed()])
      expect(rows.map(({ value }) => value)).toEqual([...values, ...values.toReversed()])
    }),
    { numRuns: 5 }
  )
})

it("a number has the digits that Postgres writes", async () => {
  const digits = fc.tuple(
    fc.constantFrom("", "-"),
    fc.bigInt({ min: 0n, max: 10n ** 24n }).chain((most) => fc.bigInt({ min: 0n, max: most })),
    fc.constantFrom(0, 0, 0, 1, 4, 6, 9),
    fc.constantFrom(0, 0, 3, 4, 8, 12)
  )
  const written = digits.map(([sign, number, scale, zeros]) => {
    const text = `${number}${"0".repeat(zeros)}`.padStart(scale + 1, "0")
    return scale === 0 ? sign + text : `${sign}${text.slice(0, -scale)}.${text.slice(-scale)}`
  })
  await fc.assert(
    fc.asyncProperty(fc.array(written, { minLength: 2_000, maxLength: 2_000 }), async (drawn) => {
      const edges = ["0", "1", "9999", "10000", "99999999", "100000000", "999999999999", "1000000000000"]
      const rows = await read("value::numeric AS number, value::numeric::text AS text", [...edges, ...drawn])
      expect(rows.map(({ number }) => number)).toEqual(rows.map(({ text }) => text))
    }),
    { numRuns: 5 }
  )
})
