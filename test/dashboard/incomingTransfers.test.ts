// Incoming transfers over the dashboard's API: a transfer that no payment claims is listed with the likely payments,
// attached to one of them, or marked as handled.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect, Exit, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { Address } from "../../src/domain/Chain.ts"
import { MerchantId } from "../../src/domain/Merchant.ts"
import { AtomicUsdc } from "../../src/domain/Money.ts"
import { attachAdvice } from "../../src/domain/mismatchAdvice.ts"
import { PaymentId } from "../../src/domain/Payment.ts"
import { LinkRepo } from "../../src/payments/links/LinkRepo.ts"
import { TransferRepo } from "../../src/payments/TransferRepo.ts"
import { buyer, makeShop, type Shop, stranger } from "../platform/http/shop.ts"
import { testDatabase } from "../support/database.ts"
import { startService, type TestService } from "../support/service.ts"
import { type DashboardAnswer, openAlertsOf, type Person, signUp } from "./person.ts"

setDefaultTimeout(60_000)

describe("Incoming transfers on Postgres", () => {
  const database = testDatabase
  const scope = Effect.runSync(Scope.make())
  let service: TestService
  let person: Person
  let shop: Shop
  let at: string

  beforeAll(async () => {
    service = await Effect.runPromise(Scope.provide(startService(database), scope))
    person = await signUp(service.baseUrl)
    at = `/merchants/${person.merchantId}/test/incoming-transfers`
    shop = await makeShop(service, { ...person, id: person.merchantId })
  }, 120_000)
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)), 120_000)

  const list = async (status = "open") => (await person.call("GET", `${at}?status=${status}`)).body.transfers
  /** The transfer of a transaction, once it is stored and has a kind. */
  const listed = async (transactionId: string) => {
    for (let tries = 0; tries < 100; tries++) {
      const found = (await list("all")).find(
        (one: { transactionId: string; kind: string | null; paymentId: string | null }) =>
          one.transactionId === transactionId && (one.kind !== null || one.paymentId !== null)
      )
      if (found !== undefined) return found
      await Bun.sleep(100)
    }
    throw new Error("the transfer is not listed")
  }
  const code = (answer: DashboardAnswer) => `${answer.status} ${answer.body?.error?.code}`

  test("a transfer without a report is listed, with the payment of its amount as the likeliest", async () => {
    const { body } = await shop.open("21.00")
    const hash = await shop.transfer(21_000_000n, { from: stranger })
    const transfer = await listed(hash)
    expect(transfer).toMatchObject({
      kind: "unknown",
      payer: stranger,
      receiver: person.receiver,
      amount: "21.00",
      paymentId: null,
      handledAt: null
    })
    expect((await list()).map(({ id }: { id: string }) => id)).toContain(transfer.id)
    const page = (await person.call("GET", `${at}/${transfer.id}`)).body
    expect(page.likely[0]).toMatchObject({ payment: { id: body.payment.id }, reasons: ["amount"] })
  })

  test("a transfer attached to a pending payment settles it, records who did it, and leaves the list", async () => {
    const { body } = await shop.open("22.00")
    const hash = await shop.transfer(22_000_000n, { from: stranger })
    const { id } = await listed(hash)
    const answer = await person.call("POST", `${at}/${id}/attach`, {
      paymentId: body.payment.id,
      note: "Sent from an exchange"
    })
    expect(answer.status).toBe(200)
    expect(answer.body.payment).toMatchObject({
      status: "settled",
      payerAddress: stranger,
      reportedTransactionId: hash
    })
    const transfer = (await person.call("GET", `${at}/${id}`)).body.transfer
    expect(transfer).toMatchObject({
      paymentId: body.payment.id,
      handledBy: person.email,
      note: "Sent from an exchange"
    })
    expect((await list()).map((one: { id: string }) => one.id)).not.toContain(id)
    expect(code(await person.call("POST", `${at}/${id}/attach`, { paymentId: body.payment.id }))).toBe(
      "409 INCOMING_TRANSFER_EXPLAINED"
    )
  })

  test("a mint to the receiver, as by a bridge, is attached only by a person", async () => {
    const { body } = await shop.open("22.50")
    const hash = await shop.transfer(22_500_000n, { from: Address.make(`0x${"0".repeat(40)}`) })
    const { id, paymentId } = await listed(hash)
    expect(paymentId).toBeNull()
    const answer = await person.call("POST", `${at}/${id}/attach`, { paymentId: body.payment.id })
    expect([answer.status, answer.body.payment?.status, answer.body.payment?.reportedTransactionId]).toEqual([
      200,
      "settled",
      hash
    ])
  })

  test("a transfer attached to a failed payment settles it, and the history says that it came late", async () => {
    const { body } = await shop.open("23.00")
    await Effect.runPromise(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`
          UPDATE payments SET status = 'failed', failed_at = created_at, failure_reason = 'expired'
          WHERE id = ${body.payment.id}`
      ).pipe(Effect.provideContext(service.context), Effect.orDie)
    )
    const { id, kind } = await listed(await shop.transfer(23_000_000n, { from: stranger }))
    expect(kind).toBe("late")
    const answer = await person.call("POST", `${at}/${id}/attach`, { paymentId: body.payment.id })
    expect(answer.body.payment).toMatchObject({ status: "settled", failureReason: null })
    const page = await person.call("GET", `/merchants/${person.merchantId}/test/payments/${body.payment.id}`)
    const settled = page.body.timeline.find((one) => one.kind === "settled")
    expect(settled?.failedAt).toBe(body.payment.createdAt)
  })

  test("refunding a transfer closes its remainder link, and no new one can be created", async () => {
    await shop.open("27.00")
    const { id } = await listed(await shop.transfer(20_000_000n, { from: stranger }))
    const links = `/merchants/${person.merchantId}/test/payment-links`
    const ask = () =>
      person.call("POST", `${links}/remainder`, {
        description: "Rest",
        amount: "7.00",
        once: true,
        incomingTransferId: id
      })
    const { url } = (await ask()).body
    const stateOf = async () =>
      (await person.call("GET", links)).body.links.find((one: { url: string }) => one.url === url)?.state
    expect(await stateOf()).toBe("open")
    const asked = { method: "POST" as const, key: shop.keys.full }
    const refund = await shop.call({
      ...asked,
      path: "/api/v1/refunds",
      body: { incomingTransferId: id, amount: "20.00" }
    })
    expect(refund.status).toBe(201)
    expect(await stateOf()).toBe("closed")
    expect(code(await ask())).toBe("409 INCOMING_TRANSFER_EXPLAINED")
    // Once the refund is cancelled, the remainder link is open again.
    await shop.call({ ...asked, path: `/api/v1/refunds/${refund.body.refund.id}/cancel` })
    const again = await ask()
    expect(again.status).toBe(201)
    expect(again.body.url).not.toBe(url)
  })

  test("a transfer does not pay its own remainder payment, though the amount is the same", async () => {
    const { payment } = (await shop.open("33.00")).body
    const half = await shop.transfer(16_500_000n)
    await shop.report(payment.id, half, 33_000_000n)
    const { id } = await listed(half)
    const links = `/merchants/${person.merchantId}/test/payment-links`
    const asked = { description: "Rest", amount: "16.50", once: true, incomingTransferId: id }
    const { url } = (await person.call("POST", `${links}/remainder`, asked)).body
    const opened = await shop.call({
      method: "POST",
      path: `/api/v1/links/${new URL(url).pathname.split("/").at(-1)}`,
      body: {}
    })
    const key = shop.keys.publishable
    const { intentToken } = opened.body
    const rest = (await shop.call({ method: "POST", path: "/api/v1/payments", key, body: { intentToken } }))
      .body.payment
    // The wallet that sent the half may pay the remainder all the same.
    const announced = await shop.call({
      method: "POST",
      path: `/api/v1/payments/${rest.id}/attempts`,
      key,
      body: { buyerDidToken: `buyer:${buyer}:${rest.id}`, method: "transfer" }
    })
    expect(announced.status).toBe(201)
    const known = await shop.call({ method: "GET", path: `/api/v1/payments/${rest.id}/attempts`, key })
    expect(known.body.attempts.map((one: object) => "transactionId" in one)).toEqual([false])
    const again = await shop.report(rest.id, half, 16_500_000n)
    expect([again.status, again.body.error.reason]).toEqual([422, "already_used"])
    const attached = await person.call("POST", `${at}/${id}/attach`, { paymentId: rest.id })
    expect([attached.status, attached.body.error.reason]).toEqual([422, "already_used"])
    const second = await shop.transfer(16_500_000n)
    const paid = await shop.report(rest.id, second, 16_500_000n)
    expect([paid.status, paid.body.payment.reportedTransactionId]).toEqual([200, second])
  })

  test("a transfer does not pay its own remainder payment, even if the link was closed in between", async () => {
    const { payment } = (await shop.open("35.00")).body
    const half = await shop.transfer(17_500_000n)
    await shop.report(payment.id, half, 35_000_000n)
    const { id } = await listed(half)
    const links = `/merchants/${person.merchantId}/test/payment-links`
    const asked = { description: "Rest", amount: "17.50", once: true, incomingTransferId: id }
    const { url } = (await person.call("POST", `${links}/remainder`, asked)).body
    const opened = await shop.call({
      method: "POST",
      path: `/api/v1/links/${new URL(url).pathname.split("/").at(-1)}`,
      body: {}
    })
    const body = { intentToken: opened.body.intentToken }
    const key = shop.keys.publishable
    const rest = (await shop.call({ method: "POST", path: "/api/v1/payments", key, body })).body.payment
    // A refund of the transfer is requested, then cancelled.
    const by = { method: "POST" as const, key: shop.keys.full }
    const refund = await shop.call({
      ...by,
      path: "/api/v1/refunds",
      body: { incomingTransferId: id, amount: "17.50" }
    })
    await shop.call({ ...by, path: `/api/v1/refunds/${refund.body.refund.id}/cancel` })
    const again = await shop.report(rest.id, half, 17_500_000n)
    expect([again.status, again.body.error?.reason]).toEqual([422, "already_used"])
    const announced = await shop.call({
      method: "POST",
      path: `/api/v1/payments/${rest.id}/attempts`,
      key,
      body: { buyerDidToken: `buyer:${buyer}:${rest.id}`, method: "transfer" }
    })
    expect(announced.status).toBe(201)
    // A person may attach it.
    const attached = await person.call("POST", `${at}/${id}/attach`, { paymentId: rest.id })
    expect([attached.status, attached.body.payment?.reportedTransactionId]).toEqual([200, half])
    // A transfer that has paid a payment gets no remainder link.
    expect(code(await person.call("POST", `${links}/remainder`, asked))).toBe(
      "409 INCOMING_TRANSFER_EXPLAINED"
    )
  })

  test("a transfer with a remainder link pays another payment only by a person's decision, which closes it", async () => {
    const large = (await shop.open("37.00")).body.payment
    const small = (await shop.open("18.50")).body.payment
    const half = await shop.transfer(18_500_000n)
    await shop.report(large.id, half, 37_000_000n)
    const { id } = await listed(half)
    const links = `/merchants/${person.merchantId}/test/payment-links`
    const asked = { description: "Rest", amount: "18.50", once: true, incomingTransferId: id }
    const { url } = (await person.call("POST", `${links}/remainder`, asked)).body
    const stateOf = async () =>
      (await person.call("GET", links)).body.links.find((one: { url: string }) => one.url === url)?.state
    const announced = await shop.call({
      method: "POST",
      path: `/api/v1/payments/${small.id}/attempts`,
      key: shop.keys.publishable,
      body: { buyerDidToken: `buyer:${buyer}:${small.id}`, method: "transfer" }
    })
    expect(announced.status).toBe(201)
    expect((await shop.report(small.id, half, 18_500_000n)).status).toBe(422)
    expect(await stateOf()).toBe("open")
    const attached = await person.call("POST", `${at}/${id}/attach`, { paymentId: small.id })
    expect([attached.status, attached.body.payment.reportedTransactionId]).toEqual([200, half])
    expect(await stateOf()).toBe("closed")
  })

  /** A transfer of half a payment, and the link for the other half. */
  const askedForRest = async (amount: string, half: string, atomic: bigint) => {
    const { payment } = (await shop.open(amount)).body
    const { id } = await listed(await shop.transfer(atomic))
    const links = `/merchants/${person.merchantId}/test/payment-links`
    const asked = { description: "Rest", amount: half, once: true, incomingTransferId: id }
    const ask = (paymentId = payment.id) => person.call("POST", `${links}/remainder`, { ...asked, paymentId })
    const { url } = (await ask()).body
    const stateOf = async () =>
      (await person.call("GET", links)).body.links.find((one: { url: string }) => one.url === url)?.state
    return { id, payment, ask, stateOf }
  }

  /** Requests for remainder links and payments of them. */
  const rests = () => {
    const links = `/merchants/${person.merchantId}/test/payment-links`
    const ask = (incomingTransferId: string, paymentId: string, amount: string) =>
      person.call("POST", `${links}/remainder`, {
        description: "Rest",
        amount,
        once: true,
        incomingTransferId,
        paymentId
      })
    const stateOf = async (url: string) =>
      (await person.call("GET", links)).body.links.find((one: { url: string }) => one.url === url)?.state
    /** The payment that the link opens. */
    const openOn = async (url: string) => {
      const path = `/api/v1/links/${url.split("/").at(-1)}`
      const { intentToken } = (await shop.call({ method: "POST", path, body: {} })).body
      const key = shop.keys.publishable
      return (await shop.call({ method: "POST", path: "/api/v1/payments", key, body: { intentToken } })).body
        .payment
    }
    /** The payment's outstanding amount on the transfer's page. */
    const restOn = async (id: string, paymentId: string) =>
      (await person.call("GET", `${at}/${id}`)).body.likely.find(
        (one: { payment: { id: string } }) => one.payment.id === paymentId
      )?.remainder
    const short = async (paymentId: string, atomic: bigint, asked: bigint) => {
      const hash = await shop.transfer(atomic)
      await shop.report(paymentId, hash, asked)
      return (await listed(hash)).id
    }
    return { ask, stateOf, openOn, restOn, short }
  }

  test("after a second underpayment a new remainder link for what both leave replaces the first one", async () => {
    const { ask, openOn, restOn, short, stateOf } = rests()
    const { payment } = (await shop.open("110.00")).body
    const first = await short(payment.id, 41_000_000n, 110_000_000n)
    expect(await restOn(first, payment.id)).toBe("69.00")
    const one = (await ask(first, payment.id, "69.00")).body
    expect(one.amount).toBe("69.00")
    const opened = await openOn(one.url)
    const second = await short(payment.id, 31_000_000n, 110_000_000n)
    expect(await restOn(second, payment.id)).toBe("38.00")
    const two = await ask(second, payment.id, "79.00")
    expect([two.status, two.body.amount]).toEqual([201, "38.00"])
    expect(await stateOf(one.url)).toBe("closed")
    // Nobody had begun to pay it.
    const failed = (await person.call("GET", `/merchants/${person.merchantId}/test/payments/${opened.id}`))
      .body
    expect(failed.payment.status).toBe("failed")
    expect(await restOn(first, payment.id)).toBe("38.00")
    const last = await openOn(two.body.url)
    expect(last.amount).toBe("38.00")
    const paid = await shop.report(last.id, await shop.transfer(38_000_000n), 38_000_000n)
    expect(paid.status).toBe(200)
    expect(code(await ask(first, payment.id, "38.00"))).toBe("409 INCOMING_TRANSFER_EXPLAINED")
    expect(await stateOf(two.body.url)).toBe("paid")
  })

  test("no second remainder link of a payment is created while the first one's payment is under way", async () => {
    const { ask, openOn, short, stateOf } = rests()
    const { payment } = (await shop.open("111.00")).body
    const first = await short(payment.id, 42_000_000n, 111_000_000n)
    const one = (await ask(first, payment.id, "69.00")).body
    const opened = await openOn(one.url)
    const second = await short(payment.id, 32_000_000n, 111_000_000n)
    const announced = await shop.call({
      method: "POST",
      path: `/api/v1/payments/${opened.id}/attempts`,
      key: shop.keys.publishable,
      body: { buyerDidToken: `buyer:${buyer}:${opened.id}`, method: "transfer" }
    })
    expect(announced.status).toBe(201)
    expect(code(await ask(second, payment.id, "37.00"))).toBe("409 INCOMING_TRANSFER_EXPLAINED")
    expect(await stateOf(one.url)).toBe("open")
  })

  test("a remainder of a remainder replaces the earlier link, which is paid once the later one is", async () => {
    const { ask, openOn, restOn, short, stateOf } = rests()
    const { payment } = (await shop.open("112.00")).body
    const one = (await ask(await short(payment.id, 43_000_000n, 112_000_000n), payment.id, "69.00")).body
    const middle = await openOn(one.url)
    const second = await short(middle.id, 33_000_000n, 69_000_000n)
    expect(await restOn(second, middle.id)).toBe("36.00")
    const two = (await ask(second, middle.id, "36.00")).body
    expect(await stateOf(one.url)).toBe("closed")
    const last = await openOn(two.url)
    expect((await shop.report(last.id, await shop.transfer(36_000_000n), 36_000_000n)).status).toBe(200)
    expect([await stateOf(one.url), await stateOf(two.url)]).toEqual(["paid", "paid"])
  })

  test("a remainder link is closed if a transfer in its sum is refunded; a new one asks for more", async () => {
    const { ask, openOn, restOn, short, stateOf } = rests()
    const giveBack = async (id: string, amount: string) => {
      const body = { incomingTransferId: id, amount }
      const key = shop.keys.full
      expect((await shop.call({ method: "POST", path: "/api/v1/refunds", key, body })).status).toBe(201)
    }
    const { payment } = (await shop.open("114.00")).body
    const first = await short(payment.id, 45_000_000n, 114_000_000n)
    await ask(first, payment.id, "69.00")
    const second = await short(payment.id, 35_000_000n, 114_000_000n)
    const two = (await ask(second, payment.id, "34.00")).body
    expect(two.amount).toBe("34.00")
    await giveBack(first, "45.00")
    expect(await stateOf(two.url)).toBe("closed")
    expect(await restOn(second, payment.id)).toBe("79.00")
    const anew = (await ask(second, payment.id, "79.00")).body
    expect([anew.amount, await stateOf(anew.url)]).toEqual(["79.00", "open"])
    // The remainder of that remainder is closed too once a transfer in its sum is refunded.
    const middle = await openOn(anew.url)
    const last = (await ask(await short(middle.id, 46_000_000n, 79_000_000n), middle.id, "33.00")).body
    expect([last.amount, await stateOf(last.url)]).toEqual(["33.00", "open"])
    await giveBack(second, "35.00")
    expect(await stateOf(last.url)).toBe("closed")
  })

  test("a remainder link is closed if a transfer in its sum is attached elsewhere or leaves the chain", async () => {
    const { ask, openOn, restOn, short, stateOf } = rests()
    const attachedTo = (await shop.open("36.00")).body.payment
    const { payment } = (await shop.open("115.00")).body
    const first = await short(payment.id, 45_000_000n, 115_000_000n)
    await ask(first, payment.id, "70.00")
    const second = await short(payment.id, 36_000_000n, 115_000_000n)
    const two = (await ask(second, payment.id, "34.00")).body
    const gone = (droppedAt: Date | null) =>
      Effect.runPromise(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`UPDATE incoming_transfers SET dropped_at = ${droppedAt} WHERE id = ${first}`
        ).pipe(Effect.provideContext(service.context), Effect.orDie)
      )
    await gone(new Date())
    expect(await stateOf(two.url)).toBe("closed")
    await gone(null)
    expect([two.amount, await stateOf(two.url)]).toEqual(["34.00", "open"])
    const middle = await openOn(two.url)
    const last = (await ask(await short(middle.id, 14_000_000n, 34_000_000n), middle.id, "20.00")).body
    expect([last.amount, await stateOf(last.url)]).toEqual(["20.00", "open"])
    const attached = await person.call("POST", `${at}/${second}/attach`, { paymentId: attachedTo.id })
    expect(attached.status).toBe(200)
    expect([await stateOf(two.url), await stateOf(last.url)]).toEqual(["closed", "closed"])
    expect(await restOn(first, payment.id)).toBe("70.00")
  })

  test("the remainder of a remainder is closed once the original payment is paid in full", async () => {
    const { ask, openOn, short, stateOf } = rests()
    const { payment } = (await shop.open("113.00")).body
    const one = (await ask(await short(payment.id, 44_000_000n, 113_000_000n), payment.id, "69.00")).body
    const middle = await openOn(one.url)
    const two = (await ask(await short(middle.id, 34_000_000n, 69_000_000n), middle.id, "35.00")).body
    expect(await stateOf(two.url)).toBe("open")
    const paid = await shop.report(payment.id, await shop.transfer(113_000_000n), 113_000_000n)
    expect(paid.status).toBe(200)
    expect([await stateOf(one.url), await stateOf(two.url)]).toEqual(["closed", "closed"])
  })

  test("a payment that is paid in full has no open remainder link, and gets no new one", async () => {
    const { ask, payment, stateOf } = await askedForRest("43.00", "21.50", 21_500_000n)
    expect(await stateOf()).toBe("open")
    const paid = await shop.report(payment.id, await shop.transfer(43_000_000n), 43_000_000n)
    expect(paid.status).toBe(200)
    expect(await stateOf()).toBe("closed")
    expect(code(await ask())).toBe("409 INCOMING_TRANSFER_EXPLAINED")
    // For another payment that the transfer underpaid, a remainder link can still be created.
    expect((await ask((await shop.open("44.50")).body.payment.id)).status).toBe(201)
  })

  test("if the link's payment failed, the link stays open, unless somebody tried to pay: then a new one is made", async () => {
    const { payment } = (await shop.open("47.00")).body
    const { id } = await listed(await shop.transfer(23_500_000n))
    const links = `/merchants/${person.merchantId}/test/payment-links`
    const asked = {
      description: "Rest",
      amount: "23.50",
      once: true,
      incomingTransferId: id,
      paymentId: payment.id
    }
    const ask = async () =>
      new URL((await person.call("POST", `${links}/remainder`, asked)).body.url).pathname.split("/").at(-1)
    const stateOf = async (link: string | undefined) =>
      (await shop.call({ method: "GET", path: `/api/v1/links/${link}` })).body.link.state
    const key = shop.keys.publishable
    const link = await ask()
    const { intentToken } = (await shop.call({ method: "POST", path: `/api/v1/links/${link}`, body: {} }))
      .body
    const rest = (await shop.call({ method: "POST", path: "/api/v1/payments", key, body: { intentToken } }))
      .body.payment
    const fail = Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`
        UPDATE payments SET status = 'failed', failed_at = now(), failure_reason = 'expired'
        WHERE id = ${rest.id}`
    ).pipe(Effect.provideContext(service.context), Effect.orDie)
    await Effect.runPromise(fail)
    expect([await ask(), await stateOf(link)]).toEqual([link, "open"])
    const tried = Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`INSERT INTO shown_addresses (payment_id, shown_at) VALUES (${rest.id}, now())`
    ).pipe(Effect.provideContext(service.context), Effect.orDie)
    await Effect.runPromise(tried)
    expect(await stateOf(link)).toBe("expired")
    const next = await ask()
    expect([next === link, await stateOf(next)]).toEqual([false, "open"])
    expect(await ask()).toBe(next)
    // The money that was on its way arrives after all: the new link is closed.
    expect((await shop.report(rest.id, await shop.transfer(23_500_000n), 23_500_000n)).status).toBe(200)
    expect(await stateOf(next)).toBe("closed")
  })

  test("a new remainder link replaces an expired one", async () => {
    const { payment } = (await shop.open("48.00")).body
    const { id } = await listed(await shop.transfer(24_500_000n))
    const links = `/merchants/${person.merchantId}/test/payment-links`
    const asked = {
      description: "Rest",
      amount: "23.50",
      once: true,
      incomingTransferId: id,
      paymentId: payment.id
    }
    const ask = async (more: object = {}) =>
      new URL((await person.call("POST", `${links}/remainder`, { ...asked, ...more })).body.url).pathname
        .split("/")
        .at(-1)
    const soon = new Date(Date.now() + 1_000).toISOString()
    const link = await ask({ expiresAt: soon })
    expect(await ask()).toBe(link)
    await Bun.sleep(1_100)
    const next = await ask()
    const state = (await shop.call({ method: "GET", path: `/api/v1/links/${next}` })).body.link.state
    expect([next === link, state]).toEqual([false, "open"])
  })

  test("a transfer whose remainder is paid settles no other payment by a report, even after the link closed", async () => {
    const large = (await shop.open("51.00")).body.payment
    const small = (await shop.open("25.50")).body.payment
    const half = await shop.transfer(25_500_000n)
    await shop.report(large.id, half, 51_000_000n)
    const { id } = await listed(half)
    const links = `/merchants/${person.merchantId}/test/payment-links`
    const asked = {
      description: "Rest",
      amount: "25.50",
      once: true,
      incomingTransferId: id,
      paymentId: large.id
    }
    const { url } = (await person.call("POST", `${links}/remainder`, asked)).body
    const link = new URL(url).pathname.split("/").at(-1)
    const key = shop.keys.publishable
    const { intentToken } = (await shop.call({ method: "POST", path: `/api/v1/links/${link}`, body: {} }))
      .body
    const rest = (await shop.call({ method: "POST", path: "/api/v1/payments", key, body: { intentToken } }))
      .body.payment
    await person.call("DELETE", `${links}/${link}`)
    // A buyer with the page open can still pay.
    expect((await shop.report(rest.id, await shop.transfer(25_500_000n), 25_500_000n)).status).toBe(200)
    const again = await shop.report(small.id, half, 25_500_000n)
    expect([again.status, again.body.error?.reason]).toEqual([422, "already_used"])
    // No new link for the same remainder is created.
    expect(code(await person.call("POST", `${links}/remainder`, asked))).toBe(
      "409 INCOMING_TRANSFER_EXPLAINED"
    )
    const attached = await person.call("POST", `${at}/${id}/attach`, { paymentId: small.id })
    expect([attached.status, attached.body.payment?.reportedTransactionId]).toEqual([200, half])
  })

  /** Creates the link while it holds locks that `others` wait for; they continue once the link exists. */
  const askedBefore = async (
    amount: bigint,
    short: { readonly incomingTransferId: string; readonly paymentId: PaymentId | undefined },
    others: () => Promise<unknown>
  ) => {
    const id = `rest-${crypto.randomUUID().slice(0, 23)}`
    const began = await Effect.runPromise(
      Effect.gen(function* () {
        const [sql, repo] = [yield* SqlClient.SqlClient, yield* LinkRepo]
        return yield* sql.withTransaction(
          Effect.gen(function* () {
            if (short.paymentId !== undefined)
              yield* sql`SELECT 1 FROM payments WHERE id = ${short.paymentId} FOR SHARE`
            const asked = yield* repo.insertRemainderLink(
              {
                ...{ id, merchantId: MerchantId.make(person.merchantId), env: "test" },
                ...{ publishableKey: shop.keys.publishable, description: "Rest", once: true },
                ...{ amount: AtomicUsdc.make(amount), least: null, most: null, paymentId: null },
                ...{ createdAt: new Date(), expiresAt: null, closedAt: null }
              },
              short
            )
            expect(asked._tag).toBe("Requested")
            const waiting = others()
            yield* Effect.sleep("400 millis")
            return { waiting }
          })
        )
      }).pipe(Effect.provide(LinkRepo.layer), Effect.provideContext(service.context), Effect.orDie)
    )
    await began.waiting
    return (await shop.call({ method: "GET", path: `/api/v1/links/${id}` })).body.link.state
  }

  test("a remainder link that is created while its payment is being paid is closed", async () => {
    const { payment } = (await shop.open("44.00")).body
    const { id } = await listed(await shop.transfer(22_000_000n))
    const hash = await shop.transfer(44_000_000n)
    const short = { incomingTransferId: id, paymentId: PaymentId.make(payment.id) }
    const state = await askedBefore(22_000_000n, short, async () => {
      expect((await shop.report(payment.id, hash, 44_000_000n)).status).toBe(200)
    })
    expect(state).toBe("closed")
  })

  test("a remainder link that is created while its transfer pays another payment is closed", async () => {
    const small = (await shop.open("22.50")).body.payment
    const hash = await shop.transfer(22_500_000n)
    const { id } = await listed(hash)
    const short = { incomingTransferId: id, paymentId: undefined }
    const state = await askedBefore(22_500_000n, short, () => shop.report(small.id, hash, 22_500_000n))
    expect(state).toBe("closed")
  })

  test("the remainder link of a transfer that has left the chain is closed until the transfer returns", async () => {
    const { ask, id, stateOf } = await askedForRest("47.00", "23.50", 23_500_000n)
    const shown = (droppedAt: Date | null) =>
      Effect.runPromise(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`UPDATE incoming_transfers SET dropped_at = ${droppedAt} WHERE id = ${id}`
        ).pipe(Effect.provideContext(service.context), Effect.orDie)
      )
    await shown(new Date())
    expect(await stateOf()).toBe("closed")
    expect(code(await ask())).toBe("409 INCOMING_TRANSFER_EXPLAINED")
    await shown(null)
    expect(await stateOf()).toBe("open")
    expect((await ask()).status).toBe(201)
  })

  test("creating a transfer's remainder link and attaching it to an earlier remainder do not deadlock", async () => {
    const { payment } = (await shop.open("49.00")).body
    const first = await listed(await shop.transfer(20_000_000n))
    const second = await listed(await shop.transfer(25_000_000n))
    const links = `/merchants/${person.merchantId}/test/payment-links`
    const asked = {
      description: "Rest",
      amount: "29.00",
      once: true,
      incomingTransferId: first.id,
      paymentId: payment.id
    }
    const link = new URL((await person.call("POST", `${links}/remainder`, asked)).body.url).pathname
      .split("/")
      .at(-1)
    const { intentToken } = (await shop.call({ method: "POST", path: `/api/v1/links/${link}`, body: {} }))
      .body
    const key = shop.keys.publishable
    const rest = (await shop.call({ method: "POST", path: "/api/v1/payments", key, body: { intentToken } }))
      .body.payment
    const tenant = { merchantId: MerchantId.make(person.merchantId), env: "test" } as const
    const restId = PaymentId.make(rest.id)
    const attaching = await Effect.runPromise(
      Effect.gen(function* () {
        const [sql, transferRepo] = [yield* SqlClient.SqlClient, yield* TransferRepo]
        return yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT 1 FROM payments WHERE id = ${restId} FOR NO KEY UPDATE`
            const waiting = person.call("POST", `${links}/remainder`, {
              ...asked,
              amount: "4.00",
              incomingTransferId: second.id
            })
            yield* Effect.sleep("400 millis")
            const by = { person: person.email, note: null, at: new Date() }
            return { taken: yield* transferRepo.leaseForPayment(tenant, second.id, restId, by), waiting }
          })
        )
      }).pipe(Effect.provideContext(service.context), Effect.orDie)
    )
    expect([attaching.taken, (await attaching.waiting).status]).toEqual([true, 201])
  })

  test("attaching to a payment of another amount, a settled one or another merchant's is refused", async () => {
    const { id } = await listed(await shop.transfer(24_000_000n, { from: stranger }))
    const other = (await shop.open("25.00")).body.payment
    const attach = (paymentId: string) => person.call("POST", `${at}/${id}/attach`, { paymentId })
    const amount = await attach(other.id)
    expect([code(amount), amount.body.error.reason]).toEqual(["422 TRANSFER_NOT_ATTACHABLE", "amount"])
    expect(amount.body.error.message).toBe(attachAdvice.amount)
    const { payment } = await shop.settle("24.00", 24_000_000n)
    const settled = await attach(payment.id)
    expect([code(settled), settled.body.error.reason]).toEqual(["422 TRANSFER_NOT_ATTACHABLE", "settled"])
    expect(code(await attach("00000000-0000-4000-8000-000000000000"))).toBe("404 PAYMENT_NOT_FOUND")
    const rival = await signUp(service.baseUrl)
    const theirs = `/merchants/${rival.merchantId}/test/incoming-transfers/${id}`
    expect(code(await rival.call("GET", theirs))).toBe("404 INCOMING_TRANSFER_NOT_FOUND")
    expect((await list()).map((one: { id: string }) => one.id)).toContain(id)
  })

  test("dust needs no attention, but counts in the books", async () => {
    const tenant = `/merchants/${person.merchantId}/test`
    const open = async () => openAlertsOf(await person.call("GET", `${tenant}/alerts`))
    const sum = async () => (await person.call("GET", `${tenant}/books`)).body.statement.unexplained
    const [before, sumBefore] = [await open(), await sum()]
    const { id } = await listed(await shop.transfer(9_999n, { from: stranger }))
    expect(await open()).toBe(before)
    expect((await list()).map((one: { id: string }) => one.id)).not.toContain(id)
    expect((await sum()).count).toBe(sumBefore.count + 1)
  })

  test("a transfer to explain counts once in what needs attention, and its alert is not listed too", async () => {
    const alerts = `/merchants/${person.merchantId}/test/alerts`
    const before = openAlertsOf(await person.call("GET", alerts))
    const { id } = await listed(await shop.transfer(26_500_000n, { from: stranger }))
    await Effect.runPromise(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`
          INSERT INTO alerts (id, merchant_id, env, kind, subject, message, created_at)
          VALUES (${crypto.randomUUID()}, ${person.merchantId}, 'test', 'incoming_transfer', ${id}, 'x', now())`
      ).pipe(Effect.provideContext(service.context), Effect.orDie)
    )
    const during = await person.call("GET", alerts)
    expect(openAlertsOf(during)).toBe(before + 1)
    expect(during.body.alerts.map(({ kind }: { kind: string }) => kind)).not.toContain("incoming_transfer")
    await person.call("POST", `${at}/${id}/handle`, { note: "Sent back by hand" })
    expect(openAlertsOf(await person.call("GET", alerts))).toBe(before)
  })

  test("a handled transfer leaves the list with a note, a person and a time, once", async () => {
    const { id } = await listed(await shop.transfer(1n, { from: stranger }))
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => person.call("POST", `${at}/${id}/handle`, { note: "Dust" }))
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409])
    expect((await list()).map((one: { id: string }) => one.id)).not.toContain(id)
    const [handled] = await list("handled")
    expect(handled).toMatchObject({ id, handledBy: person.email, note: "Dust" })
    expect(Date.parse(handled?.handledAt ?? "")).toBeGreaterThan(0)
  })

  test("of attaching and handling a transfer at once, one succeeds", async () => {
    for (const amount of ["31.00", "32.00", "33.00"]) {
      const { body } = await shop.open(amount)
      const atomic = BigInt(amount.replace(".", "")) * 10_000n
      const { id } = await listed(await shop.transfer(atomic, { from: stranger }))
      const answers = await Promise.all([
        person.call("POST", `${at}/${id}/attach`, { paymentId: body.payment.id }),
        person.call("POST", `${at}/${id}/handle`, { note: "Refunded" })
      ])
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
      const { transfer } = (await person.call("GET", `${at}/${id}`)).body
      const isAttached = answers[0]?.status === 200
      expect([transfer.paymentId, transfer.note]).toEqual(
        isAttached ? [body.payment.id, null] : [null, "Refunded"]
      )
    }
  })

  test("a handled transfer settles no payment by a report", async () => {
    const { body } = await shop.open("34.00")
    const hash = await shop.transfer(34_000_000n, { from: Address.make(buyer) })
    const { id } = await listed(hash)
    expect((await person.call("POST", `${at}/${id}/handle`, { note: "Refunded" })).status).toBe(200)
    const answer = await shop.report(body.payment.id, hash, 34_000_000n)
    expect([answer.status, answer.body.error.reason]).toEqual([422, "already_used"])
    const page = await person.call("GET", `/merchants/${person.merchantId}/test/payments/${body.payment.id}`)
    expect(page.body.payment.status).toBe("pending")
  })

  test("a transfer that a payment claims is no transfer to explain", async () => {
    const { transactionId } = await shop.settle("26.00", 26_000_000n)
    const transfer = await listed(transactionId)
    expect(transfer.paymentId).not.toBeNull()
    expect((await list()).map((one: { transactionId: string }) => one.transactionId)).not.toContain(
      transactionId
    )
  })

  test("the same buyer's second transfer for a settled payment is `second`", async () => {
    const { payment } = await shop.settle("27.00", 27_000_000n)
    const again = await shop.transfer(27_000_000n, { from: Address.make(buyer) })
    expect((await listed(again)).kind).toBe("second")
    expect(payment.status).toBe("settled")
  })
})
