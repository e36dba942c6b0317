// The overview's figures: days in the merchant's zone, sums, conversion, times, webhooks; past days are cached.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { overviewOf } from "../../src/dashboard/api/payments/overviewOf.ts"
import { daysOf } from "../../src/domain/Period.ts"
import { buyer, makeShop } from "../platform/http/shop.ts"
import { serviceForFile } from "../support/forFile.ts"
import { signUp } from "./person.ts"

setDefaultTimeout(60_000)

describe("The overview's days", () => {
  test("follow the zone's calendar, across changes to and from summer time", () => {
    const days = daysOf({ from: "2026-03-28", to: "2026-03-30", timeZone: "Europe/Berlin" })
    expect(days.map(({ day }) => day)).toEqual(["2026-03-28", "2026-03-29", "2026-03-30"])
    expect(days.map(({ end, start }) => (end.getTime() - start.getTime()) / 3_600_000)).toEqual([24, 23, 24])
  })

  test("median and 95th percentile cover all days together, and are null without payments", () => {
    const none = {
      day: "2026-01-01",
      settled: 0,
      volume: 0n,
      refunds: 0,
      refunded: 0n,
      opened: 0,
      paid: 0,
      seconds: [],
      failed: 0,
      delivered: 0,
      undelivered: 0
    }
    expect(overviewOf([none]).secondsToSettle).toBeNull()
    const seconds = Array.from({ length: 20 }, (_, index) => index + 1)
    expect(
      overviewOf([
        { ...none, seconds: seconds.slice(10) },
        { ...none, seconds: seconds.slice(0, 10) }
      ]).secondsToSettle
    ).toEqual({ median: 10, p95: 19 })
  })
})

const service = await serviceForFile()
const person = await signUp(service.baseUrl)
const shop = await makeShop(service, { ...person, id: person.merchantId })

describe("The overview on Postgres", () => {
  const get = (query = "") => person.call("GET", `/merchants/${person.merchantId}/test/overview${query}`)
  const overview = async (query = "") => (await get(query)).body
  const run = <A, E>(statement: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
    Effect.runPromise(
      Effect.provideContext(Effect.flatMap(SqlClient.SqlClient, statement), service.context).pipe(
        Effect.orDie
      )
    )

  test("a refund that the chain no longer shows does not count, as in the books", async () => {
    const other = await signUp(service.baseUrl)
    const own = await makeShop(service, { ...other, id: other.merchantId })
    const refunded = async () => {
      const at = `/merchants/${other.merchantId}/test`
      const { days, latest, refunded } = (await other.call("GET", `${at}/overview`)).body
      const { state } = (await other.call("GET", `${at}/payments/${payment.id}`)).body
      expect(latest[0]?.state).toBe(state)
      return [state, refunded, days.at(-1)?.refunded]
    }
    const { payment } = await own.settle("4.00", 4_000_000n)
    const refund = async (amount: string, atomic: bigint) => {
      const transactionId = await own.transfer(atomic, { from: own.merchant.receiver, to: buyer })
      const body = { paymentId: payment.id, amount, transactionId }
      const made = await own.call({ method: "POST", path: "/api/v1/refunds", key: own.keys.full, body })
      expect(made.body.refund.status).toBe("proven")
    }
    expect(await refunded()).toEqual(["settled", { count: 0, volume: "0.00" }, "0.00"])
    await refund("1.00", 1_000_000n)
    expect(await refunded()).toEqual(["partly_refunded", { count: 1, volume: "1.00" }, "1.00"])
    await refund("3.00", 3_000_000n)
    expect(await refunded()).toEqual(["refunded", { count: 2, volume: "4.00" }, "4.00"])
    await run(
      (sql) => sql`
        UPDATE refunds SET dropped_at = now(), next_look_at = NULL WHERE payment_id = ${payment.id}`
    )
    expect(await refunded()).toEqual(["settled", { count: 0, volume: "0.00" }, "0.00"])
  })

  test("a payment that the chain no longer shows does not count as received, as in the books", async () => {
    const other = await signUp(service.baseUrl)
    const own = await makeShop(service, { ...other, id: other.merchantId })
    const received = async () => {
      const { days, settled } = (await other.call("GET", `/merchants/${other.merchantId}/test/overview`)).body
      return [settled, days.at(-1)?.count, days.at(-1)?.volume]
    }
    await own.settle("4.00", 4_000_000n)
    const { payment } = await own.settle("5.00", 5_000_000n)
    expect(await received()).toEqual([{ count: 2, volume: "9.00" }, 2, "9.00"])
    const shown = (at: Date | null) =>
      run(
        (sql) => sql`
          UPDATE claimed_transfers SET dropped_at = ${at}, watch_at = NULL WHERE payment_id = ${payment.id}`
      )
    await shown(new Date())
    expect(await received()).toEqual([{ count: 1, volume: "4.00" }, 1, "4.00"])
    await shown(null)
    expect(await received()).toEqual([{ count: 2, volume: "9.00" }, 2, "9.00"])
  })

  test("counts by day and sums exactly, in the merchant's days", async () => {
    await shop.settle("0.000001", 1n)
    const one = await shop.settle("99999999.50", 99_999_999_500_000n)
    await run(
      (sql) => sql`
        UPDATE payments SET settled_at = settled_at - interval '1 day', created_at = settled_at - interval '1 day 90 seconds'
        WHERE id = ${one.payment.id}`
    )
    const after = await overview()
    expect(after.days).toHaveLength(30)
    expect(after.days.at(-1)?.day).toBe(new Date().toISOString().slice(0, 10))
    expect(after.days.at(-2)).toMatchObject({ count: 1, volume: "99999999.50", refunded: "0.00" })
    expect([after.settled.count, after.pending]).toEqual([2, 0])
    expect(after.secondsToSettle?.p95).toBe(90)
    expect(after.period.timeZone).toBe("UTC")
    await run(
      (sql) => sql`UPDATE merchants SET time_zone = 'Pacific/Auckland' WHERE id = ${person.merchantId}`
    )
    expect((await overview()).period.timeZone).toBe("Pacific/Auckland")
    // An earlier release stored this zone: no day begins in it, and its merchant must be able to choose another.
    await run((sql) => sql`UPDATE merchants SET time_zone = '+05' WHERE id = ${person.merchantId}`)
    expect(await get()).toMatchObject({ status: 200, body: { period: { timeZone: "UTC" } } })
    const books = (path: string, method = "GET", body?: unknown) =>
      person.call(method, `/merchants/${person.merchantId}/test/books${path}`, body)
    expect((await books("")).status).toBe(200)
    expect((await books("/time-zone", "PUT", { timeZone: "+05:00" })).status).toBe(400)
    expect((await books("/time-zone", "PUT", { timeZone: "UTC" })).status).toBe(204)
  })

  test("the first and the last possible day are days like any others", async () => {
    for (const day of ["9999-12-31", "0000-01-01"]) {
      const { body, status } = await get(`?from=${day}&to=${day}`)
      expect([status, body.period.to, body.days.length]).toEqual([200, day, 1])
    }
  })

  test("conversion counts opened and settled payments; pending, incomplete and delivered ones are counted", async () => {
    const before = await overview()
    await shop.open("1.00")
    const announced = (await shop.open("1.00")).body.payment.id
    await shop.report(announced, `0x${"ab".repeat(32)}`, 1_000_000n)
    const { payment } = await shop.settle("1.00", 1_000_000n)
    await run(
      (sql) => sql`
        INSERT INTO webhook_deliveries (id, merchant_id, env, payment_id, type, body, status, attempts, created_at, finished_at)
        SELECT gen_random_uuid(), ${person.merchantId}::uuid, 'test', ${payment.id}::uuid, 'payment.settled', '{}', s, 3, now(), now()
        FROM unnest(ARRAY['delivered', 'delivered', 'failed']) AS s`
    )
    const after = await overview()
    expect(after.conversion).toEqual({
      opened: before.conversion.opened + 3,
      settled: before.conversion.settled + 1
    })
    expect([after.pending - before.pending, after.incomplete - before.incomplete]).toEqual([2, 1])
    expect(after.webhooks).toEqual({
      delivered: before.webhooks.delivered + 2,
      failed: before.webhooks.failed + 1
    })
  })

  test("a chosen period has only its days; it is a year at most, and in the right order", async () => {
    expect(
      (await overview("?from=2026-01-30&to=2026-02-02")).days.map(({ day }: { day: string }) => day)
    ).toEqual(["2026-01-30", "2026-01-31", "2026-02-01", "2026-02-02"])
    for (const query of [
      "?from=2026-02-02&to=2026-02-01",
      "?from=2020-01-01&to=2026-01-01",
      "?from=tomorrow"
    ])
      expect([query, (await get(query)).status]).toEqual([query, 400])
  })

  test("past days are summed once, and again after a change to them", async () => {
    const day = "?from=2026-01-01&to=2026-01-31"
    const counted = async () => {
      const { conversion, failed, settled } = await overview(day)
      return [settled.count, conversion.opened, conversion.settled, failed]
    }
    const summed = () =>
      run(
        (
          sql
        ) => sql`SELECT count(*)::int AS days, count(*) FILTER (WHERE figures ->> 'settled' = '7')::int AS altered
        FROM day_sums WHERE merchant_id = ${person.merchantId} AND start_at >= '2026-01-01' AND end_at <= '2026-02-01'`
      )
    expect(await counted()).toEqual([0, 0, 0, 0])
    expect(await summed()).toEqual([{ days: 31, altered: 0 }])
    await run(
      (sql) => sql`
        UPDATE day_sums SET figures = figures || '{"settled": 7}'
        WHERE merchant_id = ${person.merchantId} AND start_at = '2026-01-10'`
    )
    expect(await counted()).toEqual([7, 0, 0, 0])
    const { payment } = await shop.settle("1.00", 1_000_000n)
    const move = (at: string) =>
      run(
        (sql) => sql`
          UPDATE payments SET settled_at = ${at}::timestamptz, created_at = ${at}::timestamptz
          WHERE id = ${payment.id}`
      )
    await move("2026-01-15T12:00:00Z")
    expect(await counted()).toEqual([8, 1, 1, 0])
    await move("2026-01-10T12:00:00Z")
    expect(await counted()).toEqual([1, 1, 1, 0])
  })

  test("yesterday's figures count payments that settle today, and drop failures that settle late", async () => {
    const instant = new Date(Date.now() - (Date.now() % 86_400_000) - 3_600_000).toISOString()
    const day = instant.slice(0, 10)
    const counted = async (): Promise<[number, number]> => {
      const { conversion, failed } = await overview(`?from=${day}&to=${day}`)
      return [conversion.settled, failed]
    }
    const [before] = await counted()
    const [waiting, late] = await Promise.all([shop.open("1.00"), shop.open("1.00")])
    const ids = [waiting, late].map(({ body }) => body.payment.id)
    await run(
      (sql) => sql`UPDATE payments SET created_at = ${instant}::timestamptz WHERE id = ANY (${ids}::uuid[])`
    )
    await run(
      (sql) => sql`
        UPDATE payments SET status = 'failed', failed_at = ${instant}::timestamptz, failure_reason = 'expired'
        WHERE id = ${ids[1]}::uuid`
    )
    expect(await counted()).toEqual([before, 1])
    await run(
      (sql) => sql`
        UPDATE payments SET status = 'settled', settled_at = now(), failed_at = NULL, failure_reason = NULL,
          reported_at = now(), transaction_id = decode(md5(id::text) || md5(id::text), 'hex'),
          payer_address = decode(repeat('ab', 20), 'hex'), token_changes = '[]'
        WHERE id = ANY (${ids}::uuid[])`
    )
    expect(await counted()).toEqual([before + 2, 0])
  })
})
