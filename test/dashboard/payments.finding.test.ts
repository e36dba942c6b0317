// The search in the dashboard's payments: what a person types, filters, days, sorts, pages.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { PaymentsPage } from "../../src/dashboard/api/payments/Api.ts"
import { searchOf } from "../../src/dashboard/api/payments/searchOf.ts"
import { makeShop } from "../platform/http/shop.ts"
import { serviceForFile } from "../support/forFile.ts"
import { withoutMoves } from "../support/withoutMoves.ts"
import { type Person, signUp } from "./person.ts"

setDefaultTimeout(60_000)

describe("The text of a search", () => {
  const forms: Readonly<Record<string, unknown>> = {
    " PAY-7Q2M4XKD ": { by: "refCode", first: "PAY-7Q2M4XKD", last: "PAY-7Q2M4XKD" },
    "pay-7q2": { by: "refCode", first: "PAY-7Q200000", last: "PAY-7Q2ZZZZZ" },
    "7q2m": { by: "refCode", first: "PAY-7Q2M0000", last: "PAY-7Q2MZZZZ" },
    "12345678": { by: "refCode", first: "PAY-12345678", last: "PAY-12345678" },
    "PAY-7": undefined,
    "0xAB12": { by: "hex", digits: "ab12" },
    "0x12": undefined,
    "12.50": { by: "amount", amount: 12_500_000n },
    "$ 12": { by: "amount", amount: 12_000_000n },
    "0.000001 USDC": { by: "amount", amount: 1n },
    "12.": undefined,
    "https://shop.example.com/orders/10": {
      by: "intentUrl",
      prefix: "https://shop.example.com/orders/10"
    },
    "shop.example.com/o": { by: "intentUrl", prefix: "https://shop.example.com/o" },
    "01A1FC34-7205-710e-9410-874fee9a4996": { by: "id", id: "01a1fc34-7205-710e-9410-874fee9a4996" },
    "": undefined,
    "two words": undefined,
    "' OR 1=1 --": undefined
  }
  for (const [typed, search] of Object.entries(forms))
    test(`${JSON.stringify(typed)} is ${search === undefined ? "nothing" : JSON.stringify(search, (_, value) => (typeof value === "bigint" ? String(value) : value))}`, () => {
      expect<unknown>(searchOf(typed)).toEqual(search)
    })
})

const decodePage = Schema.decodeUnknownSync(Schema.toEncoded(PaymentsPage))
const service = await serviceForFile()
const person = await signUp(service.baseUrl)
const other = await signUp(service.baseUrl)
const shop = await makeShop(service, { ...person, id: person.merchantId })

describe("Finding payments on Postgres", () => {
  const page = async (query: Readonly<Record<string, string>>, who = person) =>
    decodePage(
      (await who.call("GET", `/merchants/${who.merchantId}/test/payments?${new URLSearchParams(query)}`)).body
    )
  const find = async (
    query: Readonly<Record<string, string>>,
    who?: Person
  ): Promise<ReadonlyArray<string>> => (await page(query, who)).payments.map(({ payment }) => payment.id)
  const run = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
    Effect.runPromise(Effect.provideContext(effect, service.context).pipe(Effect.orDie))
  const changed = (id: string, set: Readonly<Record<string, unknown>>) =>
    run(
      Effect.flatMap(SqlClient.SqlClient, (sql) =>
        withoutMoves(sql`UPDATE payments SET ${sql.update(set)} WHERE id = ${id}`)
      )
    )

  test("by the beginning of its code, order, payer and transaction, and by its amount", async () => {
    const { payment, transactionId } = await shop.settle("31.25", 31_250_000n)
    const [paid] = await run(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) =>
          sql`SELECT '0x' || encode(payer_address, 'hex') AS payer FROM payments WHERE id = ${payment.id}`
      )
    )
    const url = `https://shop.example.com/${"ä".repeat(280)}/orders/1042`
    await changed(payment.id, { intent_url: `${url}?x=1` })
    for (const search of [
      payment.refCode,
      payment.refCode.slice(0, 9),
      payment.refCode.slice(4).toLowerCase(),
      transactionId,
      transactionId.slice(0, 12).toUpperCase().replace("X", "x"),
      "31.25",
      url,
      url.slice(0, 200),
      url.slice("https://".length)
    ])
      expect([search, await find({ search })]).toEqual([search, [payment.id]])
    expect(await find({ search: String(paid?.["payer"]).slice(0, 15) })).toContain(payment.id)
    expect(await find({ search: `${url.slice(0, 300)}/elsewhere` })).toEqual([])
    // Not another merchant's.
    for (const search of [payment.id, payment.refCode, transactionId, url, "31.25"])
      expect(await find({ search }, other)).toEqual([])
  })

  test("a reported payment is found by its transaction; a text of unknown form is not understood", async () => {
    const { id } = (await shop.open("4.00")).body.payment
    await shop.report(id, `0x${"cd".repeat(32)}`, 4_000_000n)
    expect(await find({ search: `0x${"cd".repeat(5)}` })).toEqual([id])
    expect(await page({ search: "two words" })).toMatchObject({ payments: [], understood: false })
    expect(await page({ search: "PAY-ZZZZZZZZ" })).toMatchObject({ payments: [], understood: true })
  })

  test("percent signs and underscores are no wildcards", async () => {
    const { id } = (await shop.open("1.00")).body.payment
    await changed(id, { intent_url: "https://shop.example.com/100%_off" })
    expect(await find({ search: "https://shop.example.com/100%_" })).toEqual([id])
    expect(await find({ search: "https://shop.example.com/%" })).toEqual([])
  })

  test("incomplete and pending payments differ by a report, an announcement or a signature", async () => {
    const opened = (await shop.open("5.00")).body.payment.id
    const announced = (await shop.open("5.00")).body.payment.id
    const reported = (await shop.open("5.00")).body.payment.id
    await shop.report(reported, `0x${"ef".repeat(32)}`, 5_000_000n)
    await run(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`
          INSERT INTO payment_attempts (id, payment_id, payer_address, method, block_number, announced_at)
          VALUES (gen_random_uuid(), ${announced}, ${Buffer.alloc(20, 7)}, 'transfer', 1, now())`
      )
    )
    const [incomplete, pending] = [await find({ status: "incomplete" }), await find({ status: "pending" })]
    const { payments } = await page({})
    const states = Object.fromEntries(payments.map(({ payment, state }) => [payment.id, state]))
    for (const [id, isSent] of [
      [opened, false],
      [announced, true],
      [reported, true]
    ] as const)
      expect([incomplete.includes(id), pending.includes(id), states[id]]).toEqual([
        !isSent,
        isSent,
        isSent ? "pending" : "incomplete"
      ])
  })

  for (const sort of ["newest", "oldest", "largest", "smallest"])
    for (const filter of [{}, { status: "incomplete" }, { search: "2.00" }, { search: "shop.example.com" }])
      test(`${sort} first, ${JSON.stringify(filter)}: pages without gaps or repeats, in order`, async () => {
        if ((await find({ search: "2.00" })).length < 20)
          for (let count = 0; count < 23; count++) {
            await shop.open("2.00")
            await shop.open(`${count + 1}.00`)
          }
        const seen: Array<{ readonly id: string; readonly amount: string; readonly createdAt: string }> = []
        for (;;) {
          const last = seen.at(-1)?.id
          const one = await page({ ...filter, sort, ...(last === undefined ? {} : { startingAfter: last }) })
          seen.push(...one.payments.map(({ payment }) => payment))
          if (!one.hasMore) break
        }
        expect(seen.length).toBeGreaterThan(20)
        expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length)
        const keys = seen.map(({ amount, createdAt }) =>
          sort === "newest" || sort === "oldest" ? Date.parse(createdAt) : Number(amount)
        )
        const rising = sort === "oldest" || sort === "smallest"
        expect(keys).toEqual(keys.toSorted((one, next) => (rising ? one - next : next - one)))
      })

  test("days are in the merchant's zone: both are included, either may be open, their order is checked", async () => {
    const { id } = (await shop.open("6.00")).body.payment
    await changed(id, { created_at: new Date("2026-03-01T23:30:00Z") })
    await run(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`UPDATE merchants SET time_zone = 'Europe/Berlin' WHERE id = ${person.merchantId}`
      )
    )
    const isIn = async (query: Readonly<Record<string, string>>) =>
      (await find({ search: "6.00", ...query })).includes(id)
    expect(await isIn({ from: "2026-03-02", to: "2026-03-02" })).toBe(true)
    expect(await isIn({ from: "2026-03-01", to: "2026-03-01" })).toBe(false)
    expect(await isIn({ from: "2026-03-02" })).toBe(true)
    expect(await isIn({ to: "2026-03-02" })).toBe(true)
    expect(await isIn({ from: "2026-03-03" })).toBe(false)
    const wrong = await person.call(
      "GET",
      `/merchants/${person.merchantId}/test/payments?from=2026-03-02&to=2026-03-01`
    )
    expect([wrong.status, wrong.body.error.code]).toEqual([400, "INVALID_REQUEST"])
  })
})
