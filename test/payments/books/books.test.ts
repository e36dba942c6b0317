// The books over the merchants' API on Postgres: the rows of a period, by whose days, and whether they match the chain.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Quittance } from "../../../src/packages/client/Quittance.ts"
import { buyer, makeShop, type Shop, stranger } from "../../platform/http/shop.ts"
import { serviceForFile } from "../../support/forFile.ts"
import { freshAddress } from "../../support/freshAddress.ts"
import { withoutMoves } from "../../support/withoutMoves.ts"

setDefaultTimeout(120_000)

const service = await serviceForFile()
const sql = (run: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
  Effect.runPromise(
    Effect.flatMap(SqlClient.SqlClient, run).pipe(Effect.provideContext(service.context), Effect.orDie)
  )
const today = () => new Date().toISOString().slice(0, 10)
const yesterday = () => new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
const textOf = async (stream: ReadableStream<Uint8Array>) => new Response(stream).text()
/** Rows by their columns. */
const csv = async (kind: "payments" | "refunds" | "transfers", more: object = {}) => {
  const text = await textOf(await client.books.export(kind, { from: yesterday(), to: tomorrow(), ...more }))
  const [head = "", ...lines] = text.trimEnd().split("\r\n")
  expect(lines.pop()).toMatch(new RegExp(`^end,${lines.length},+$`))
  return lines.map((line) =>
    Object.fromEntries(head.split(",").map((name, index) => [name, line.split(",")[index] ?? ""]))
  )
}
const until = async <A>(ask: () => Promise<A>, holds: (value: A) => boolean): Promise<A> => {
  for (let tries = 0; tries < 150; tries++) {
    const value = await ask()
    if (holds(value)) return value
    await Bun.sleep(100)
  }
  return ask()
}
const shop = await makeShop(service)
const client = new Quittance({ key: shop.keys.readOnly, baseUrl: service.baseUrl })

describe("Books on Postgres", () => {
  test("payments, refunds and transfers of a period, each with its explanation; the statement balances", async () => {
    const { payment, transactionId } = await shop.settle("10.00", 10_000_000n)
    await shop.transfer(2_500_000n, { from: stranger })
    const back = await shop.transfer(4_000_000n, { from: shop.merchant.receiver, to: buyer })
    const refunds = new Quittance({ key: shop.keys.full, baseUrl: service.baseUrl }).refunds
    const refund = await refunds.create({
      paymentId: payment.id,
      amount: "4",
      transactionId: back,
      reason: '=HYPERLINK("x"), broken'
    })
    await shop.transfer(1_000_000n, { from: shop.merchant.receiver, to: stranger })
    const moved = await until(
      () => csv("transfers"),
      (rows) => rows.length === 4
    )
    expect(moved.map((row) => [row["direction"], row["kind"], row["amount"]])).toEqual([
      ["in", "payment", "10.00"],
      ["in", "unexplained", "2.50"],
      ["out", "refund", "4.00"],
      ["out", "other", "1.00"]
    ])
    expect(moved[2]?.["refund"]).toBe(refund.id)
    const [paid] = await csv("payments")
    expect(paid).toMatchObject({
      id: payment.id,
      reference: payment.refCode,
      amount: "10.00",
      refunded: "4.00",
      transaction: transactionId,
      currency: "USDC",
      env: "test"
    })
    const text = await textOf(
      await client.books.export("refunds", { from: yesterday(), to: tomorrow(), format: "json" })
    )
    expect(JSON.parse(text).refunds).toMatchObject([
      {
        id: refund.id,
        amount: "4.00",
        env: "test",
        reference: payment.refCode,
        reason: '=HYPERLINK("x"), broken'
      }
    ])
    const asCsv = await textOf(await client.books.export("refunds", { from: yesterday(), to: tomorrow() }))
    expect(asCsv).toContain(`"'=HYPERLINK(""x""), broken"`)

    const { balances, statement } = await until(
      () => client.books.statement({ from: yesterday(), to: tomorrow() }),
      (answer) => answer.balances.closing === "12.50"
    )
    expect(statement).toMatchObject({
      payments: { amount: "10.00", count: 1 },
      unexplained: { amount: "2.50", count: 1 },
      handled: { amount: "0.00", count: 0 },
      refunds: { amount: "4.00", count: 1 },
      other: { amount: "1.00", count: 1 },
      change: "7.50"
    })
    expect(statement.transfers.map(({ kind }) => kind)).toEqual(["unexplained", "other"])
    // The test's helper created the merchant's outgoing amount from nothing, so the chain shows a larger change.
    expect(balances).toEqual({ opening: "5.00", closing: "12.50", change: "7.50", difference: "0.00" })
  })

  test("a payment whose transfer the chain has lost is in no export and in no statement", async () => {
    const one = await makeShop(service)
    const { books } = new Quittance({ key: one.keys.readOnly, baseUrl: service.baseUrl })
    const [from, to] = [yesterday(), tomorrow()]
    const received = async () => {
      const text = await textOf(await books.export("payments", { from, to, format: "json" }))
      const { statement } = await books.statement({ from, to })
      return [JSON.parse(text).payments.map(({ amount }: { amount: string }) => amount), statement.payments]
    }
    await one.settle("4.00", 4_000_000n)
    const { payment } = await one.settle("5.00", 5_000_000n)
    const both = [["4.00", "5.00"], { amount: "9.00", count: 2 }]
    expect(await until(received, (found) => Bun.deepEquals(found, both))).toEqual(both)
    await sql(
      (run) => run`
        WITH moved AS (UPDATE incoming_transfers SET dropped_at = now() WHERE payment_id = ${payment.id})
        UPDATE claimed_transfers SET dropped_at = now(), watch_at = NULL WHERE payment_id = ${payment.id}`
    )
    expect(await received()).toEqual([["4.00"], { amount: "4.00", count: 1 }])
  })

  test("days begin in the time zone, also when the clocks change", async () => {
    const { payment } = await shop.settle("3.00", 3_000_000n)
    const settledAt = (at: string) =>
      sql((run) => run`UPDATE payments SET settled_at = ${at} WHERE id = ${payment.id}`)
    const listed = async (from: string, to: string, timeZone?: string) => {
      const text = await textOf(
        await client.books.export("payments", {
          ...{ from, to, format: "json" },
          ...(timeZone === undefined ? {} : { timeZone })
        })
      )
      return JSON.parse(text).payments.map(({ atLocal }: { atLocal: string }) => atLocal)
    }
    await settledAt("2026-03-31T22:30:00.000Z")
    expect(await listed("2026-03-01", "2026-03-31")).toEqual(["2026-03-31 22:30:00"])
    expect(await listed("2026-03-01", "2026-03-31", "Europe/Berlin")).toEqual([])
    expect(await listed("2026-04-01", "2026-04-01", "Europe/Berlin")).toEqual(["2026-04-01 00:30:00"])
    // The day of 23 hours ends at 22:00 UTC.
    await settledAt("2026-03-29T21:59:59.000Z")
    expect(await listed("2026-03-29", "2026-03-29", "Europe/Berlin")).toEqual(["2026-03-29 23:59:59"])
    // That day has no midnight there.
    await settledAt("2026-09-06T04:00:00.000Z")
    expect(await listed("2026-09-06", "2026-09-06", "America/Santiago")).toEqual(["2026-09-06 01:00:00"])
    await settledAt(new Date().toISOString())
  })

  test("wrong days, zones and kinds are refused", async () => {
    const ask = async (path: string) => {
      const { body, status } = await shop.call({ method: "GET", path: `/api/v1${path}`, key: shop.keys.full })
      return `${status} ${body.error.code}`
    }
    const from = `from=${today()}`
    expect(await ask(`/exports/payments?${from}&to=${yesterday()}`)).toBe("400 INVALID_REQUEST")
    expect(await ask(`/exports/payments?${from}&to=2026-02-30`)).toBe("400 INVALID_REQUEST")
    expect(await ask(`/exports/payments?${from}`)).toBe("400 INVALID_REQUEST")
    expect(await ask(`/exports/payments?${from}&to=${today()}&timeZone=Mars/Base`)).toBe(
      "400 INVALID_REQUEST"
    )
    expect(await ask(`/statement?${from}&to=${yesterday()}`)).toBe("400 INVALID_REQUEST")
    const refused = await client.books.export("payments", { from: today(), to: yesterday() }).then(
      () => undefined,
      (error) => error
    )
    expect(refused).toMatchObject({ code: "INVALID_REQUEST", status: 400 })
  })

  test("a spreadsheet with decimal commas reads amounts as numbers", async () => {
    const one = await makeShop(service)
    const { books } = new Quittance({ key: one.keys.readOnly, baseUrl: service.baseUrl })
    await one.settle("1234.50", 1_234_500_000n)
    await one.settle("0.10", 100_000n)
    const days = { from: yesterday(), to: tomorrow() }
    const text = await textOf(await books.export("payments", { ...days, decimal: "comma" }))
    const [names = [], ...cells] = text
      .replace("\uFEFF", "")
      .trimEnd()
      .split("\r\n")
      .map((line) => line.split(";"))
    expect(cells.map((row) => row.length)).toEqual([names.length, names.length, names.length])
    const amounts = cells.map((row) => row[names.indexOf("amount")])
    expect(amounts).toEqual(["1234,50", "0,10", ""])
    expect(cells.at(-1)?.slice(0, 2)).toEqual(["end", "2"])
    const refused = await books.export("payments", { ...days, decimal: "comma", format: "json" }).then(
      () => undefined,
      (error) => error
    )
    expect(refused).toMatchObject({ code: "INVALID_REQUEST", details: [{ path: "query.decimal" }] })
  })

  test("another merchant's books are separate", async () => {
    const rival = await makeShop(service)
    const other = new Quittance({ key: rival.keys.readOnly, baseUrl: service.baseUrl })
    const text = await textOf(
      await other.books.export("payments", { from: yesterday(), to: tomorrow(), format: "json" })
    )
    expect(JSON.parse(text)).toEqual({ payments: [], rows: 0 })
  })

  test("when an address moves to another merchant, both merchants' books still balance with the chain", async () => {
    const [one, other] = [await makeShop(service), await makeShop(service)]
    const address = one.merchant.receiver
    const statementOf = (of: Shop) =>
      new Quittance({ key: of.keys.readOnly, baseUrl: service.baseUrl }).books.statement({
        from: yesterday(),
        to: tomorrow()
      })
    const statementWhere = (of: Shop, holds: (answer: Awaited<ReturnType<typeof statementOf>>) => boolean) =>
      until(() => statementOf(of), holds)
    const leave = (amount: bigint) =>
      Effect.runPromise(
        Effect.andThen(service.chain.transfer({ from: address, to: stranger, amount }), service.chain.mine(2))
      )
    await one.settle("10.00", 10_000_000n)
    await leave(1_000_000n)
    const { body } = await one.open("5.00")
    const before = await statementWhere(
      one,
      ({ balances, statement }) => statement.change === "9.00" && balances.change === "9.00"
    )
    expect(before.balances).toMatchObject({ change: "9.00", difference: "0.00" })

    const bytes = Buffer.from(address.slice(2), "hex")
    await sql(
      (run) => run`
        UPDATE merchant_receivers SET merchant_id = ${other.merchant.id}, since = now()
        WHERE env = 'test' AND address = ${bytes}`
    )
    // A payment to the address belongs to the first merchant; every other transfer belongs to the other.
    const paid = await one.transfer(5_000_000n)
    expect((await one.report(body.payment.id, paid, 5_000_000n)).status).toBe(200)
    await one.transfer(2_500_000n, { from: stranger })
    await leave(3_000_000n)
    const mine = await statementWhere(one, ({ statement }) => statement.change === "14.00")
    const others = await statementWhere(
      other,
      ({ balances, statement }) => statement.change === "-0.50" && balances.change === "13.50"
    )
    expect(mine.statement).toMatchObject({ payments: { amount: "15.00" }, other: { amount: "1.00" } })
    expect(others.statement).toMatchObject({ unexplained: { amount: "2.50" }, other: { amount: "3.00" } })
    expect(mine.balances.difference).toBe("0.00")
    expect(others.balances).toMatchObject({ change: "13.50", difference: "0.00" })
    // A transfer that was not read shows as a difference of the merchant that has the address.
    await sql((run) => run`DELETE FROM outgoing_transfers WHERE payer = ${bytes} AND amount = 1000000`)
    expect((await statementOf(other)).balances.difference).toBe("-1.00")
    expect((await statementOf(one)).balances.difference).toBe("0.00")
  })

  test("a refund proven before its transfer is read belongs to its merchant, even if the address has moved by then", async () => {
    const [one, other] = [await makeShop(service), await makeShop(service)]
    const address = one.merchant.receiver
    const statementOf = async (of: Shop) => {
      const { books } = new Quittance({ key: of.keys.readOnly, baseUrl: service.baseUrl })
      return books.statement({ from: yesterday(), to: tomorrow() })
    }
    const { payment } = await one.settle("10.00", 10_000_000n)
    await until(
      () => statementOf(one),
      ({ statement }) => statement.change === "10.00"
    )
    // The reader of the chain is behind.
    await sql(
      (run) => run`
        UPDATE chain_cursors SET lease_id = gen_random_uuid(), leased_until = now() + interval '10 seconds'`
    )
    const back = await Effect.runPromise(
      Effect.tap(service.chain.transfer({ from: address, to: buyer, amount: 4_000_000n }), () =>
        service.chain.mine(2)
      )
    )
    const refund = await one.call({
      ...{ method: "POST", path: "/api/v1/refunds", key: one.keys.full },
      body: { paymentId: payment.id, amount: "4", transactionId: back, reason: "Damaged" }
    })
    expect(refund.body.refund?.status).toBe("proven")
    await sql(
      (run) => run`
        UPDATE merchant_receivers SET merchant_id = ${other.merchant.id}, since = now()
        WHERE env = 'test' AND address = ${Buffer.from(address.slice(2), "hex")}`
    )
    await sql((run) => run`UPDATE chain_cursors SET lease_id = NULL`)
    const mine = await until(
      () => statementOf(one),
      ({ statement }) => statement.change === "6.00"
    )
    expect(mine.statement).toMatchObject({ change: "6.00", refunds: { amount: "4.00", count: 1 } })
    const others = await statementOf(other)
    expect(others.statement).toMatchObject({ change: "0.00", refunds: { amount: "0.00", count: 0 } })
    expect(others.balances.difference).toBe("0.00")
  })

  test("a wallet that becomes another receiving address causes no difference with its earlier transfers", async () => {
    const one = await makeShop(service)
    const wallet = freshAddress()
    const statementWhere = (change: string) =>
      until(
        () =>
          new Quittance({ key: one.keys.readOnly, baseUrl: service.baseUrl }).books.statement({
            from: yesterday(),
            to: tomorrow()
          }),
        // The sums may include a transfer a moment before the balances, which are at the last block read.
        ({ balances, statement }) => statement.change === change && balances.change === change
      )
    await one.transfer(3_000_000n, { from: stranger, to: wallet })
    await one.settle("10.00", 10_000_000n)
    expect((await statementWhere("10.00")).balances).toMatchObject({ change: "10.00", difference: "0.00" })

    await Bun.sleep(3_100)
    await sql(
      (run) => run`
        INSERT INTO merchant_receivers (env, address, merchant_id, since, watched_since)
        VALUES ('test', ${Buffer.from(wallet.slice(2), "hex")}, ${one.merchant.id}, now(), now())`
    )
    expect((await statementWhere("10.00")).balances).toEqual({
      opening: "3.00",
      closing: "13.00",
      change: "10.00",
      difference: "0.00"
    })
    await one.transfer(2_500_000n, { from: stranger, to: wallet })
    await one.transfer(4_000_000n, { from: wallet, to: stranger })
    const { balances } = await statementWhere("8.50")
    expect(balances).toMatchObject({ change: "8.50", difference: "0.00" })
  })

  const rows = Number(process.env["EXPORT_ROWS"] ?? 20_000)
  test(`${rows} payments stream in order, each once, in bounded memory`, async () => {
    const rich = await makeShop(service)
    const at = new Date("2026-06-15T12:00:00.000Z")
    for (let from = 0; from < rows; from += 10_000)
      await sql((run) =>
        withoutMoves(run`
          INSERT INTO payments (id, merchant_id, env, status, amount, ref_code, intent_url, receiver, payer_type,
            created_at, reported_at, transaction_id, payer_address, token_changes, settled_at)
          SELECT gen_random_uuid(), ${rich.merchant.id}, 'test', 'settled', n + 1,
            'PAY-' || upper(substr(md5(${rich.merchant.id} || n), 1, 8)), 'https://shop.example.com/orders/' || n,
            decode(repeat('ab', 20), 'hex'), 'human', ${at}, ${at}, decode(md5(n::text) || md5('b'), 'hex'),
            decode(repeat('cd', 20), 'hex'), '[]',
            ${at}::timestamptz + (n / 7) * interval '1 millisecond'
          FROM generate_series(${from}::int, ${Math.min(from + 10_000, rows) - 1}::int) n
          ON CONFLICT DO NOTHING`).pipe(Effect.provideService(SqlClient.SqlClient, run))
      )
    await sql((run) => run`ANALYZE payments`)
    const [{ count } = { count: 0 }] = (await sql(
      (run) => run`SELECT count(*)::int AS count FROM payments WHERE merchant_id = ${rich.merchant.id}`
    )) as ReadonlyArray<{ count: number }>
    const own = new Quittance({ key: rich.keys.readOnly, baseUrl: service.baseUrl })
    Bun.gc(true)
    const before = process.memoryUsage().rss
    const started = performance.now()
    let [lines, most, last, end] = [0, 0, "", ""]
    const seen = new Set<string>()
    let rest = ""
    const decoder = new TextDecoder()
    for await (const bytes of await own.books.export("payments", { from: "2026-06-01", to: "2026-06-30" })) {
      rest += decoder.decode(bytes, { stream: true })
      const cut = rest.lastIndexOf("\r\n")
      for (const line of rest.slice(0, cut).split("\r\n")) {
        lines++
        const [settledAt = "", , id = ""] = line.split(",")
        if (lines === 1) continue
        if (settledAt === "end") {
          end = line
          continue
        }
        expect(settledAt >= last).toBeTrue()
        last = settledAt
        if (rows <= 100_000) seen.add(id)
      }
      rest = rest.slice(cut + 2)
      if (lines % 10_000 < 1_000) most = Math.max(most, process.memoryUsage().rss - before)
    }
    const seconds = (performance.now() - started) / 1000
    console.log(
      `${lines - 2} rows in ${seconds.toFixed(1)} s; at most ${(most / 2 ** 20).toFixed(0)} MB more, both sides`
    )
    // After the header and before the end line.
    expect(lines - 2).toBe(count)
    expect(end).toStartWith(`end,${count},,`)
    if (rows <= 100_000) expect(seen.size).toBe(count)
    expect(most).toBeLessThan(200 * 2 ** 20)
  }, 600_000)
})
