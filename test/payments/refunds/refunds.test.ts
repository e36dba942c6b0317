// Refunds over the merchants' API on Postgres: proven only by the chain, each log once, whatever runs at once.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { toBytes } from "../../../src/chain/ChainBytes.ts"
import { Address } from "../../../src/domain/Chain.ts"
import { buyer, makeShop, stranger, tokenChangesOf } from "../../platform/http/shop.ts"
import type { Answer } from "../../support/contractCheck.ts"
import { serviceForFile } from "../../support/forFile.ts"
import { freshAddress } from "../../support/freshAddress.ts"

setDefaultTimeout(60_000)

const service = await serviceForFile()
const newShop = () => makeShop(service)
const shop = await newShop()

describe("Refunds on Postgres", () => {
  const ask = (method: string, path: string, body?: unknown, from = shop) =>
    from.call({
      method,
      path: `/api/v1/refunds${path}`,
      key: from.keys.full,
      ...(body === undefined ? {} : { body })
    })
  const create = (body: unknown, from = shop) => ask("POST", "", body, from)
  const read = async (id: string) => (await ask("GET", `/${id}`)).body.refund
  const sent = (amount: bigint, options: { to?: Address; from?: Address; confirm?: boolean } = {}) =>
    shop.transfer(amount, { from: shop.merchant.receiver, to: buyer, ...options })
  const code = ({ body, status }: Answer) =>
    [status, body.error?.code, body.error?.reason].filter((one) => one !== undefined).join(" ")
  const until = async (id: string, status: string) => {
    for (let tries = 0; tries < 150; tries++) {
      const refund = await read(id)
      if (refund.status === status) return refund
      await Bun.sleep(100)
    }
    throw new Error(`the refund is ${(await read(id)).status}, not ${status}`)
  }

  test("a refund that is sent and reported is proven; a repeated report returns the same; the payment stays settled", async () => {
    const { payment } = await shop.settle()
    const transactionId = await sent(4_000_000n)
    const body = { paymentId: payment.id, amount: "4", transactionId, reason: "Damaged" }
    const first = await create(body)
    expect(first.status).toBe(201)
    expect(first.body.refund).toMatchObject({
      status: "proven",
      paymentId: payment.id,
      amount: "4.00",
      recipient: buyer,
      sender: shop.merchant.receiver,
      transactionId,
      reason: "Damaged",
      beyondPaid: false
    })
    const again = await create(body)
    expect([again.status, again.body.refund.id]).toEqual([200, first.body.refund.id])
    const after = await shop.call({
      method: "GET",
      path: `/api/v1/payments/${payment.id}`,
      key: shop.keys.readOnly
    })
    expect(after.body.payment).toEqual(payment)
    const list = await ask("GET", `?paymentId=${payment.id}`)
    expect(list.body).toMatchObject({ refunds: [{ id: first.body.refund.id }], hasMore: false })
  })

  test("an id belongs to one refund: another payment or amount is refused, and a repetition returns the same", async () => {
    const [{ payment: one }, { payment: other }] = [await shop.settle(), await shop.settle()]
    const id = crypto.randomUUID()
    const first = await create({ id, paymentId: one.id, amount: "1" })
    expect(first.status).toBe(201)
    expect((await create({ id, paymentId: one.id, amount: "1" })).status).toBe(200)
    for (const body of [
      { id, paymentId: other.id, amount: "1" },
      { id, paymentId: one.id, amount: "2" }
    ])
      expect(code(await create(body))).toBe("400 INVALID_REQUEST")
    expect((await ask("GET", `?paymentId=${other.id}`)).body.refunds).toEqual([])
    await ask("POST", `/${id}/cancel`)
  })

  test("a request that names a transaction for an existing refund gets that transaction's verdict", async () => {
    const { payment } = await shop.settle()
    const body = { id: crypto.randomUUID(), paymentId: payment.id, amount: "2" }
    expect((await create(body)).body.refund).toMatchObject({ id: body.id, status: "pending" })
    const other = await sent(1_000_000n)
    expect(code(await create({ ...body, transactionId: other }))).toBe("422 REFUND_NOT_PROVEN amount")
    expect((await read(body.id)).transactionId).toBeUndefined()
    const transactionId = await sent(2_000_000n)
    const named = await create({ ...body, transactionId })
    expect([named.status, named.body.refund]).toMatchObject([
      200,
      { id: body.id, status: "proven", transactionId }
    ])
    expect(await create({ ...body, transactionId: other })).toMatchObject({
      status: 200,
      body: { refund: { status: "proven", transactionId } }
    })
  })

  test("a refund to a receiving address is refused, because a transfer there could pay a payment", async () => {
    const { payment } = await shop.settle()
    const other = await newShop()
    for (const recipient of [shop.merchant.receiver, other.merchant.receiver])
      expect(code(await create({ paymentId: payment.id, amount: "1", recipient }))).toBe(
        "422 REFUND_NOT_PROVEN receiver"
      )
    expect((await ask("GET", `?paymentId=${payment.id}`)).body.refunds).toEqual([])
  })

  test("a recipient that becomes a receiving address after the announcement gets its refund all the same", async () => {
    const { payment } = await shop.settle("3.27", 3_270_000n)
    const recipient = freshAddress()
    const { body } = await create({ paymentId: payment.id, recipient })
    await Effect.runPromise(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`
          INSERT INTO merchant_receivers (env, address, merchant_id, since, watched_since)
          VALUES ('test', ${toBytes(recipient)}, ${shop.merchant.id}, now(), now())`
      ).pipe(Effect.orDie, Effect.provideContext(service.context))
    )
    const transactionId = await sent(3_270_000n, { to: recipient })
    expect(await until(body.refund.id, "proven")).toMatchObject({ transactionId, recipient })
    const [from, to] = [-1, 1].map((days) =>
      new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
    )
    const { text } = await shop.call({
      method: "GET",
      path: `/api/v1/exports/transfers?from=${from}&to=${to}`,
      key: shop.keys.full
    })
    const moved = text.split("\r\n").filter((row) => row.includes(transactionId))
    expect(moved.flatMap((row) => row.match(/payment|unexplained|refund|other/) ?? []).toSorted()).toEqual([
      "refund",
      "unexplained"
    ])
  })

  test("an announced refund is found on the chain when its transfer arrives, without a report", async () => {
    const { payment } = await shop.settle("3.21", 3_210_000n)
    const { body } = await create({ paymentId: payment.id })
    expect(body.refund).toMatchObject({ status: "pending", amount: "3.21" })
    expect(body.refund.uri).toEndWith(`/transfer?address=${buyer}&uint256=3210000`)
    const transactionId = await sent(3_210_000n)
    expect(await until(body.refund.id, "proven")).toMatchObject({ transactionId })
  })

  test("a transfer that the nodes no longer show does not hide a later one", async () => {
    const { payment } = await shop.settle("3.23", 3_230_000n)
    const [hash, block] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString("hex"))
    const hex = (address: string) => address.slice(2)
    await Effect.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`
          INSERT INTO outgoing_transfers (chain_id, transaction_id, payer, receiver, amount, ordinal, merchant_id, env,
            block_number, block_hash, block_time)
          VALUES (84532, decode(${hash}, 'hex'), decode(${hex(shop.merchant.receiver)}, 'hex'),
            decode(${hex(buyer)}, 'hex'), 3230000, 0, ${shop.merchant.id}, 'test', -1000, decode(${block}, 'hex'), now())`
      }).pipe(Effect.provideContext(service.context))
    )
    const { body } = await create({ paymentId: payment.id })
    // Announced while the height was unknown: transfers far below it are checked too.
    await Effect.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE refunds SET created_block = NULL WHERE id = ${body.refund.id}`
      }).pipe(Effect.provideContext(service.context))
    )
    const transactionId = await sent(3_230_000n)
    expect(await until(body.refund.id, "proven")).toMatchObject({ transactionId })
  })

  test("a refund whose transaction its wallet has replaced is proven by the replacement", async () => {
    const { payment } = await shop.settle("3.29", 3_290_000n)
    // The wallet's first answer. It was sped up since, and is never mined.
    const replaced = `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex")}`
    const { body } = await create({ paymentId: payment.id, transactionId: replaced })
    expect(body.refund.status).toBe("pending")
    const transactionId = await sent(3_290_000n)
    // Nodes take a moment to show the transaction: until then no other transfer is used.
    await Bun.sleep(3_000)
    expect((await read(body.refund.id)).status).toBe("pending")
    await Effect.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE refunds SET named_at = named_at - interval '1 minute' WHERE id = ${body.refund.id}`
      }).pipe(Effect.provideContext(service.context))
    )
    expect(await until(body.refund.id, "proven")).toMatchObject({ transactionId })
  })

  test("reported before its block is confirmed, a refund is pending, and then proven without a request", async () => {
    const { payment } = await shop.settle()
    const transactionId = await sent(1_000_000n, { confirm: false })
    const { body, status } = await create({ paymentId: payment.id, amount: "1", transactionId })
    expect([status, body.refund.status]).toEqual([201, "pending"])
    await Effect.runPromise(service.chain.mine(2))
    expect(await until(body.refund.id, "proven")).toMatchObject({ transactionId })
  })

  test("a mismatch names the difference, and stores nothing", async () => {
    const { payment, transactionId: paidBy } = await shop.settle()
    const refused = async (transactionId: string, amount = "2") =>
      code(await create({ paymentId: payment.id, amount, transactionId }))
    expect(await refused(await sent(1_000_000n))).toBe("422 REFUND_NOT_PROVEN amount")
    expect(await refused(await sent(2_000_000n, { to: stranger }))).toBe("422 REFUND_NOT_PROVEN receiver")
    expect(await refused(await sent(2_000_000n, { from: stranger }))).toBe("422 REFUND_NOT_PROVEN payer")
    expect(await refused(paidBy, "10")).toBe("422 REFUND_NOT_PROVEN no_transfer")
    const list = await ask("GET", `?paymentId=${payment.id}`)
    expect(list.body.refunds).toEqual([])
  })

  test("a transfer from long before the payment refunds nothing, named at once or later", async () => {
    const older = await sent(2_500_000n)
    await Effect.runPromise(service.chain.mine(40))
    const { payment } = await shop.settle()
    const of = { paymentId: payment.id, amount: "2.5" }
    expect(code(await create({ ...of, transactionId: older }))).toBe("422 REFUND_NOT_PROVEN too_old")
    const { body } = await create(of)
    const named = await ask("POST", `/${body.refund.id}/transaction`, { transactionId: older })
    expect(code(named)).toBe("422 REFUND_NOT_PROVEN too_old")
    expect((await read(body.refund.id)).status).toBe("pending")
    await ask("POST", `/${body.refund.id}/cancel`)
  })

  test("never more than was paid, at once or in parts, unless the caller says so", async () => {
    const { payment } = await shop.settle()
    const of = { paymentId: payment.id }
    expect(code(await create({ ...of, amount: "10.000001" }))).toBe("409 REFUND_EXCEEDS_PAID")
    expect((await create({ ...of, amount: "6" })).status).toBe(201)
    const more = await create({ ...of, amount: "5" })
    expect(code(more)).toBe("409 REFUND_EXCEEDS_PAID")
    expect(more.body.error.details?.[0]).toMatchObject({ expected: "at most 4.00", actual: "5.00" })
    const rest = await create(of)
    expect(rest.body.refund.amount).toBe("4.00")
    expect(code(await create(of))).toBe("409 REFUND_EXCEEDS_PAID")
    expect((await create({ ...of, amount: "1", beyondPaid: true })).body.refund.beyondPaid).toBeTrue()
  })

  test("a mint to the receiver is refunded only to a named recipient, because nobody can send to its payer", async () => {
    const minted = await shop.transfer(3_000_000n, { from: Address.make(`0x${"0".repeat(40)}`) })
    const find = Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql<{ readonly id: string }>`
        SELECT id FROM incoming_transfers WHERE transaction_id = ${toBytes(minted)}`
    ).pipe(Effect.provideContext(service.context), Effect.orDie)
    let incomingTransferId: string | undefined
    while (incomingTransferId === undefined) {
      await Bun.sleep(100)
      incomingTransferId = (await Effect.runPromise(find))[0]?.id
    }
    const refused = await create({ incomingTransferId })
    expect([code(refused), refused.body.error.details?.[0]?.path]).toEqual([
      "422 REFUND_NOT_PROVEN receiver",
      "body.recipient"
    ])
    const named = await create({ incomingTransferId, recipient: buyer })
    expect([named.status, named.body.refund.recipient]).toEqual([201, buyer])
  })

  test("another merchant's transfer proves nothing, and another merchant's refund is unknown", async () => {
    const rival = await newShop()
    const { payment } = await shop.settle()
    const theirs = (await rival.open()).body.payment
    const tokenChanges = tokenChangesOf(10_000_000n, "test", rival.merchant.receiver)
    await rival.report(theirs.id, await rival.transfer(10_000_000n), 10_000_000n, { tokenChanges })
    const transactionId = await rival.transfer(10_000_000n, { from: rival.merchant.receiver, to: buyer })
    expect(code(await create({ paymentId: payment.id, transactionId }))).toBe("422 REFUND_NOT_PROVEN payer")
    expect(code(await create({ paymentId: theirs.id }))).toBe("404 PAYMENT_NOT_FOUND")
    const made = await create({ paymentId: theirs.id, transactionId }, rival)
    expect(made.body.refund.status).toBe("proven")
    for (const [method, path] of [
      ["GET", ""],
      ["POST", "/cancel"]
    ] as const)
      expect(code(await ask(method, `/${made.body.refund.id}${path}`))).toBe("404 REFUND_NOT_FOUND")
    const taken = await create({ id: made.body.refund.id, paymentId: payment.id })
    // The payment exists: the error is about the id.
    expect(code(taken)).toBe("400 INVALID_REQUEST")
    expect(JSON.stringify(taken.body)).not.toContain(theirs.id)
  })

  test("a refund is sent from the present receiving address, however many there were before", async () => {
    const many = await newShop()
    const payments = [await many.settle(), await many.settle()]
    const later = Array.from({ length: 12 }, freshAddress)
    const change = (write: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
      Effect.runPromise(
        Effect.flatMap(SqlClient.SqlClient, write).pipe(Effect.orDie, Effect.provideContext(service.context))
      )
    for (const [index, address] of later.entries())
      await change(
        (sql) => sql`
          INSERT INTO merchant_receivers (env, address, merchant_id, since, watched_since)
          SELECT 'test', ${toBytes(address)}, id, at, at
          FROM merchants, (SELECT now() + ${index}::integer * interval '1 second' AS at) moved
          WHERE id = ${many.merchant.id}`
      )
    // The newest, and an old one that receives again.
    for (const [index, present] of [later[11], later[1]].entries()) {
      const from = present ?? many.merchant.receiver
      await change(
        (sql) => sql`UPDATE merchants SET receiver_test = ${toBytes(from)} WHERE id = ${many.merchant.id}`
      )
      const transactionId = await sent(10_000_000n, { from })
      const { body } = await create({ paymentId: payments[index]?.payment.id, transactionId }, many)
      expect(body).toMatchObject({ refund: { status: "proven", sender: from } })
    }
  })

  test("repeated after a hundred other refunds of its payment, a request returns the same refund", async () => {
    const { payment } = await shop.settle()
    const transactionId = await sent(4_000_000n)
    const body = { paymentId: payment.id, amount: "4", transactionId }
    const first = await create(body)
    for (let count = 0; count < 101; count++) await create({ paymentId: payment.id, amount: "0.01" })
    const again = await create(body)
    expect([again.status, again.body.refund?.id]).toEqual([200, first.body.refund.id])
  })

  test("a cancelled refund no longer counts; a proven one cannot be cancelled", async () => {
    const { payment } = await shop.settle()
    const { body } = await create({ paymentId: payment.id })
    expect((await ask("POST", `/${body.refund.id}/cancel`)).body.refund.status).toBe("cancelled")
    expect(code(await ask("POST", `/${body.refund.id}/transaction`, { transactionId: await sent(1n) }))).toBe(
      "409 REFUND_ENDED"
    )
    const second = (await create({ paymentId: payment.id })).body.refund
    const transactionId = await sent(10_000_000n)
    const reported = await ask("POST", `/${second.id}/transaction`, { transactionId })
    expect(reported.body.refund.status).toBe("proven")
    expect(code(await ask("POST", `/${second.id}/cancel`))).toBe("409 REFUND_ENDED")
  })

  test("a refund can go to another address than the payer's, if the caller names it", async () => {
    const { payment } = await shop.settle()
    const transactionId = await sent(10_000_000n, { to: stranger })
    const answer = await create({ paymentId: payment.id, recipient: stranger, transactionId })
    expect(answer.body.refund).toMatchObject({ status: "proven", recipient: stranger })
    const mistyped = `0x3c${stranger.slice(4)}`
    expect(code(await create({ paymentId: payment.id, recipient: mistyped }))).toBe("400 INVALID_REQUEST")
  })

  test("refuses pending payments, live keys and requests with neither or both kinds", async () => {
    const pending = (await shop.open()).body.payment
    const unsettled = await create({ paymentId: pending.id })
    expect(code(unsettled)).toBe("409 PAYMENT_NOT_SETTLED")
    expect(unsettled.body.error.message).toContain("cannot be refunded")
    const live = await shop.call({
      method: "POST",
      path: "/api/v1/refunds",
      key: shop.keys.liveFull,
      body: { paymentId: pending.id }
    })
    expect(code(live)).toBe("403 LIVE_MODE_GATED")
    expect(live.body.error.message).toContain("Use a test key")
    expect(code(await create({ amount: "1" }))).toBe("400 INVALID_REQUEST")
    expect(code(await create({ paymentId: pending.id, incomingTransferId: pending.id }))).toBe(
      "400 INVALID_REQUEST"
    )
  })
})
