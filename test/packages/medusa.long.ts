// The payment provider in Medusa's own payment module, installed by npm, against the service: `bun run test:packages`.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Schema, Scope } from "effect"
import { Quittance } from "../../src/packages/client/Quittance.ts"
import { buyer, makeShop, type Shop } from "../platform/http/shop.ts"
import { testDatabase } from "../support/database.ts"
import { ownDatabase } from "../support/ownDatabase.ts"
import { startService, type TestService } from "../support/service.ts"
import { buildPackages, project, run } from "./installed.ts"

setDefaultTimeout(300_000)

const medusa = "2.21.2"
const Line = Schema.fromJsonString(
  Schema.Struct({
    ready: Schema.optionalKey(Schema.Boolean),
    answer: Schema.optionalKey(Schema.Unknown),
    error: Schema.optionalKey(Schema.String)
  })
)
const Answers = Schema.Array(
  Schema.Struct({
    answer: Schema.optionalKey(Schema.Unknown),
    error: Schema.optionalKey(Schema.String)
  })
)
const Session = Schema.Struct({
  id: Schema.String,
  status: Schema.String,
  data: Schema.Struct({
    session_id: Schema.String,
    payUrl: Schema.String,
    intentToken: Schema.String,
    paymentId: Schema.String,
    amount: Schema.String,
    intentUrls: Schema.Array(Schema.String)
  })
})
const PaymentOfMedusa = Schema.Struct({
  id: Schema.String,
  amount: Schema.Number,
  captured_at: Schema.NullOr(Schema.String)
})

describe("The provider in Medusa", () => {
  const scope = Effect.runSync(Scope.make())
  const directory = mkdtempSync(join(tmpdir(), "quittance-medusa-"))
  let service: TestService
  let shop: Shop
  let call: (name: string, ...args: ReadonlyArray<unknown>) => Promise<typeof Line.Type>
  let atOnce: (times: number, name: string, ...args: ReadonlyArray<unknown>) => Promise<typeof Answers.Type>
  let restart: (changed: { readonly returnUrl?: string }) => Promise<void>
  let stop = async () => {}

  beforeAll(async () => {
    buildPackages()
    const packages = ["framework", "payment", "test-utils"].map((name) => `@medusajs/${name}@${medusa}`)
    project(
      directory,
      ["medusa"],
      {
        "types.ts": `import type { IPaymentProvider } from "@medusajs/framework/types"
import { QuittancePaymentProvider } from "@quittance/medusa"
export const provider = (one: QuittancePaymentProvider): IPaymentProvider => one\n`
      },
      [...packages, "typescript@5.9.3"]
    )
    copyFileSync(join(import.meta.dir, "medusa/host.cjs"), join(directory, "host.cjs"))
    service = await Effect.runPromise(Scope.provide(startService(testDatabase), scope))
    shop = await makeShop(service, await Effect.runPromise(service.newMerchant))
    const endpoint = await shop.call({
      method: "POST",
      path: "/api/v1/webhook-endpoint",
      key: shop.keys.full,
      body: { url: "https://medusa.example.com/hooks/payment/quittance_quittance" }
    })
    const options = {
      baseUrl: service.baseUrl,
      secretKey: shop.keys.full,
      publishableKey: shop.keys.publishable,
      signingSecret: endpoint.body.secret,
      returnUrl: "https://shop.example.com/checkout/return"
    }
    const databaseUrl = await Effect.runPromise(Scope.provide(ownDatabase(), scope))
    restart = async (changed) => {
      await stop()
      await start([databaseUrl, JSON.stringify({ ...options, ...changed })])
    }
    await start([databaseUrl, JSON.stringify(options), "new"])
  })
  const start = async (given: ReadonlyArray<string>) => {
    const host = Bun.spawn(["node", "host.cjs", ...given], {
      cwd: directory,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit"
    })
    stop = async () => {
      host.kill()
      await host.exited
    }
    const lines = (async function* () {
      let text = ""
      for await (const chunk of host.stdout.pipeThrough(new TextDecoderStream())) {
        text += chunk
        const whole = text.split("\n")
        text = whole.pop() ?? ""
        for (const line of whole)
          if (line.startsWith(">")) yield Schema.decodeUnknownSync(Line)(line.slice(1))
      }
      throw new Error("Medusa has ended")
    })()
    expect((await lines.next()).value).toEqual({ ready: true })
    const told = async (line: unknown) => {
      host.stdin.write(`${JSON.stringify(line)}\n`)
      host.stdin.flush()
      return (await lines.next()).value
    }
    call = (name, ...args) => told({ call: name, args })
    atOnce = async (times, name, ...args) =>
      Schema.decodeUnknownSync(Answers)((await told({ call: name, args, times })).answer)
  }
  afterAll(async () => {
    await stop()
    rmSync(directory, { recursive: true, force: true })
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  const collection = async (amount: number) =>
    Schema.decodeUnknownSync(Schema.Struct({ id: Schema.String }))(
      (await call("createPaymentCollections", { currency_code: "usd", amount })).answer
    ).id
  const sessionIn = async (id: string, amount: number) =>
    Schema.decodeUnknownSync(Session)(
      (
        await call("createPaymentSession", id, {
          provider_id: "pp_quittance_quittance",
          currency_code: "usd",
          amount,
          data: {}
        })
      ).answer
    )
  const paid = async (intentToken: string, atomic: bigint, from = buyer) => {
    const { payment } = (
      await shop.call({
        method: "POST",
        path: "/api/v1/payments",
        key: shop.keys.publishable,
        body: { intentToken }
      })
    ).body
    const transactionId = await shop.transfer(atomic, { from })
    await shop.report(payment.id, transactionId, atomic, { buyerDidToken: `buyer:${from}` })
    for (let tries = 0; tries < 100; tries++) {
      const sent = (await Effect.runPromise(service.sender.sent)).find(({ body }) =>
        new TextDecoder().decode(body).includes(transactionId)
      )
      if (sent !== undefined)
        return { rawData: new TextDecoder().decode(sent.body), headers: sent.headers, data: {} }
      await Bun.sleep(100)
    }
    throw new Error("no delivery")
  }

  /** Sends a delivery again. */
  const paidBefore = async (paymentId: string) => {
    const sent = (await Effect.runPromise(service.sender.sent)).find(
      ({ headers }) => headers["quittance-payment-id"] === paymentId
    )
    if (sent === undefined) throw new Error("no delivery")
    return { rawData: new TextDecoder().decode(sent.body), headers: sent.headers, data: {} }
  }

  test("matches Medusa's types", () => {
    const flags =
      "--noEmit --strict --skipLibCheck --module nodenext --moduleResolution nodenext --types node"
    const { exitCode, output } = run(["node_modules/.bin/tsc", ...flags.split(" "), "types.ts"], directory)
    expect([exitCode, output]).toEqual([0, ""])
  })

  test("a session is paid on the service's page, captured by the webhook, and refunded once proven", async () => {
    const id = await collection(42.5)
    const session = await sessionIn(id, 42.5)
    expect(session).toMatchObject({ status: "pending", data: { amount: "42.50" } })
    expect(session.data.payUrl).toStartWith(`${service.baseUrl}/pay#token=`)
    // An unpaid session is not authorized.
    expect((await call("authorizePaymentSession", session.id, {})).error).toBeDefined()

    const payload = await paid(session.data.intentToken, 42_500_000n)
    const hook = { provider: "quittance_quittance", payload }
    expect((await call("getWebhookActionAndData", hook)).answer).toEqual({
      action: "captured",
      data: { session_id: session.id, amount: 42.5 }
    })
    const forged = { ...hook, payload: { ...payload, rawData: `${payload.rawData} ` } }
    expect((await call("getWebhookActionAndData", forged)).error).toContain("does not match")

    const payment = Schema.decodeUnknownSync(PaymentOfMedusa)(
      (await call("authorizePaymentSession", session.id, {})).answer
    )
    expect(payment.amount).toBe(42.5)
    expect(payment.captured_at).not.toBeNull()

    const refund = () => call("refundPayment", { payment_id: payment.id, amount: 2.5 })
    expect((await refund()).error).toContain(`Send 2.50 USDC from your receiving address to ${buyer}`)
    await shop.transfer(2_500_000n, { from: shop.merchant.receiver, to: buyer })
    let refunded = await refund()
    for (let tries = 0; tries < 100 && refunded.error !== undefined; tries++) {
      await Bun.sleep(100)
      refunded = await refund()
    }
    expect(refunded.answer).toMatchObject({ id: payment.id })
    // One transfer proves one refund.
    expect((await refund()).error).toContain("Send 2.50 USDC")

    // Even if it is on a later page of the list: no second one is created.
    const client = new Quittance({ key: shop.keys.full, baseUrl: service.baseUrl })
    const { paymentId } = session.data
    for (let count = 0; count < 101; count++) await client.refunds.create({ paymentId, amount: "0.01" })
    expect((await refund()).error).toContain("Send 2.50 USDC")
    let asked = 0
    for await (const one of client.refunds.list({ paymentId }))
      if (one.amount === "2.50" && one.status === "pending") asked += 1
    expect(asked).toBe(1)
  })

  test("a refund in Medusa uses the service's refund for it, and no other of the same amount", async () => {
    const client = new Quittance({ key: shop.keys.full, baseUrl: service.baseUrl })
    const session = await sessionIn(await collection(9), 9)
    const { paymentId } = session.data
    await paid(session.data.intentToken, 9_000_000n)
    const payment = Schema.decodeUnknownSync(PaymentOfMedusa)(
      (await call("authorizePaymentSession", session.id, {})).answer
    )
    const terms = { payment_id: payment.id, amount: 2 }
    const refunds = async (status: string) =>
      (await Array.fromAsync(client.refunds.list({ paymentId }))).filter((one) => one.status === status)
    const proven = async (count: number) => {
      await shop.transfer(2_000_000n, { from: shop.merchant.receiver, to: buyer })
      for (let tries = 0; tries < 100 && (await refunds("proven")).length < count; tries++)
        await Bun.sleep(100)
      expect(await refunds("proven")).toHaveLength(count)
    }

    // Two requests at once create one; its proof completes one of them.
    for (const { error } of await atOnce(2, "refundPayment", terms)) expect(error).toContain("Send 2.00 USDC")
    expect(await refunds("pending")).toHaveLength(1)
    await proven(1)
    const answers = await atOnce(3, "refundPayment", terms)
    expect(answers.filter(({ error }) => error === undefined).length).toBeLessThan(2)
    for (const { error } of answers)
      if (error !== undefined) expect(error).toContain("Another refund of this payment is in progress")
    let done = answers.some(({ error }) => error === undefined)
    if (!done) done = (await call("refundPayment", terms)).error === undefined
    expect(done).toBe(true)

    // A refund that was created in the dashboard is another one, unless its id is named.
    const byHand = await client.refunds.create({ paymentId, amount: "2.00" })
    await proven(2)
    const asked = await call("refundPayment", terms)
    expect(asked.error).toContain("Send 2.00 USDC")
    expect(asked.error).toContain(`If you mean refund ${byHand.id} of 2.00 USDC`)
    const [open] = await refunds("pending")
    await client.refunds.cancel(open?.id ?? "")
    const named = { ...terms, note: `Made in the dashboard: ${byHand.id.toUpperCase()}` }
    expect((await call("refundPayment", named)).error).toBeUndefined()
    // Naming it again does not complete a second one; a new refund is created instead.
    const again = await call("refundPayment", named)
    expect(again.error).toContain("Send 2.00 USDC")
    expect(again.error).not.toContain("If you mean")
    expect(await refunds("pending")).toHaveLength(1)
  })

  test("an earlier intent on an open page pays the session if its amount is the same", async () => {
    const id = await collection(7)
    const session = await sessionIn(id, 7)
    const update = { id: session.id, currency_code: "usd", amount: 7, data: session.data }
    const updated = Schema.decodeUnknownSync(Session)((await call("updatePaymentSession", update)).answer)
    expect(updated.data.paymentId).not.toBe(session.data.paymentId)
    await paid(session.data.intentToken, 7_000_000n)
    const payment = Schema.decodeUnknownSync(PaymentOfMedusa)(
      (await call("authorizePaymentSession", session.id, {})).answer
    )
    expect(payment.captured_at).not.toBeNull()
    const refund = await call("refundPayment", { payment_id: payment.id, amount: 7 })
    expect(refund.error).toContain("Send 7.00 USDC")
    // An earlier intent of another amount does not.
    const other = await sessionIn(await collection(8), 8)
    const more = { id: other.id, currency_code: "usd", amount: 9, data: other.data }
    await call("updatePaymentSession", more)
    await paid(other.data.intentToken, 8_000_000n)
    expect((await call("authorizePaymentSession", other.id, {})).error).toBeDefined()
  })

  test("an earlier intent pays the session even if the return URL has changed since", async () => {
    const session = await sessionIn(await collection(11), 11)
    await restart({ returnUrl: "https://moved.example.com/return" })
    const update = { id: session.id, currency_code: "usd", amount: 11, data: session.data }
    const updated = Schema.decodeUnknownSync(Session)((await call("updatePaymentSession", update)).answer)
    expect(updated.data.paymentId).not.toBe(session.data.paymentId)
    const payload = await paid(session.data.intentToken, 11_000_000n)
    const authorized = await call("authorizePaymentSession", session.id, {})
    expect(authorized.error).toBeUndefined()
    expect(Schema.decodeUnknownSync(PaymentOfMedusa)(authorized.answer).captured_at).not.toBeNull()
    const hook = { provider: "quittance_quittance", payload }
    expect((await call("getWebhookActionAndData", hook)).answer).toMatchObject({ action: "captured" })

    // A payment of another session never pays this one, whatever a storefront sends.
    const others = [`https://moved.example.com/return?quittance_session=${session.id}`]
    const foreign = Schema.decodeUnknownSync(Session)(
      (
        await call("createPaymentSession", await collection(11), {
          provider_id: "pp_quittance_quittance",
          currency_code: "usd",
          amount: 11,
          data: { intentUrls: [...others, session.data.intentUrls.at(-1)] }
        })
      ).answer
    )
    expect((await call("authorizePaymentSession", foreign.id, {})).error).toBeDefined()
    await restart({})
  })

  test("an earlier payment that the merchant refunds by hand pays nothing any more", async () => {
    const session = await sessionIn(await collection(6), 6)
    await call("updatePaymentSession", {
      id: session.id,
      currency_code: "usd",
      amount: 6,
      data: session.data
    })
    await paid(session.data.intentToken, 6_000_000n)
    const refund = await shop.call({
      method: "POST",
      path: "/api/v1/refunds",
      key: shop.keys.full,
      body: { paymentId: session.data.paymentId }
    })
    expect(refund.status).toBe(201)
    expect((await call("authorizePaymentSession", session.id, {})).error).toBeDefined()
  })

  test("a payment refunded by hand before completion pays nothing; a new intent is created", async () => {
    const session = await sessionIn(await collection(5), 5)
    await paid(session.data.intentToken, 5_000_000n)
    const refund = await shop.call({
      method: "POST",
      path: "/api/v1/refunds",
      key: shop.keys.full,
      body: { paymentId: session.data.paymentId }
    })
    expect(refund.status).toBe(201)
    expect((await call("authorizePaymentSession", session.id, {})).error).toBeDefined()
    const update = { id: session.id, currency_code: "usd", amount: 5, data: session.data }
    const again = Schema.decodeUnknownSync(Session)((await call("updatePaymentSession", update)).answer)
    expect(again.data.paymentId).not.toBe(session.data.paymentId)
    await paid(again.data.intentToken, 5_000_000n)
    const payment = Schema.decodeUnknownSync(PaymentOfMedusa)(
      (await call("authorizePaymentSession", session.id, {})).answer
    )
    expect(payment.captured_at).not.toBeNull()
  })

  test("a payment that completes no order is refunded, with one refund", async () => {
    const client = new Quittance({ key: shop.keys.full, baseUrl: service.baseUrl })
    const told = async (payload: unknown) =>
      (await call("getWebhookActionAndData", { provider: "quittance_quittance", payload })).answer
    const refundsOf = async (paymentId: string) => Array.fromAsync(client.refunds.list({ paymentId }))
    const update = (id: string, amount: number, data: unknown) =>
      call("updatePaymentSession", { id, currency_code: "usd", amount, data })

    // The cart changed after the buyer had opened the payment.
    const changed = await sessionIn(await collection(8), 8)
    await update(changed.id, 9, changed.data)
    const late = await paid(changed.data.intentToken, 8_000_000n)
    for (let times = 0; times < 2; times++) {
      expect(await told(late)).toEqual({ action: "not_supported" })
      expect(await refundsOf(changed.data.paymentId)).toMatchObject([
        {
          status: "pending",
          amount: "8.00",
          reason: "No order in Medusa: its payment session now asks for 9.00 USD."
        }
      ])
    }

    // The session was deleted while the page was open.
    const deleted = await sessionIn(await collection(5), 5)
    expect((await call("deletePaymentSession", deleted.id)).error).toBeUndefined()
    expect(await told(await paid(deleted.data.intentToken, 5_000_000n))).toEqual({ action: "not_supported" })
    expect(await refundsOf(deleted.data.paymentId)).toMatchObject([{ status: "pending", amount: "5.00" }])
    // A refund that the merchant cancels is not created again.
    await client.refunds.cancel(deleted.data.paymentId)
    expect(await told(await paidBefore(deleted.data.paymentId))).toEqual({ action: "not_supported" })
    expect(await refundsOf(deleted.data.paymentId)).toMatchObject([{ status: "cancelled" }])

    // Another intent of the same amount, after the session was paid.
    const twice = await sessionIn(await collection(4), 4)
    await update(twice.id, 4, twice.data)
    const first = await paid(twice.data.intentToken, 4_000_000n)
    await call("authorizePaymentSession", twice.id, {})
    expect(await told(first)).toMatchObject({ action: "captured" })
    const [{ data }] = Schema.decodeUnknownSync(Schema.NonEmptyArray(Session))(
      (await call("listPaymentSessions", { id: twice.id })).answer
    )
    const second = await client.paymentIntents.create({
      amount: "4.00",
      intentUrl: `https://shop.example.com/checkout/return?quittance_session=${twice.id}`
    })
    expect(second.paymentId).not.toBe(data.paymentId)
    expect(await told(await paid(second.intentToken, 4_000_000n))).toEqual({ action: "not_supported" })
    expect(await refundsOf(second.paymentId)).toMatchObject([{ status: "pending", amount: "4.00" }])

    // If the service refuses a refund, as to a receiving address, it would refuse every time.
    const { receiver } = await Effect.runPromise(service.newMerchant)
    const odd = await sessionIn(await collection(3), 3)
    await call("deletePaymentSession", odd.id)
    expect(await told(await paid(odd.data.intentToken, 3_000_000n, receiver))).toEqual({
      action: "not_supported"
    })
    expect(await refundsOf(odd.data.paymentId)).toEqual([])

    // The return URL was different when the buyer opened the page: the session is Medusa's all the same.
    const moved = await sessionIn(await collection(2), 2)
    const { intentToken, paymentId } = await client.paymentIntents.create({
      amount: "1.50",
      intentUrl: `https://before.example.com/return?quittance_session=${moved.id}`
    })
    expect(await told(await paid(intentToken, 1_500_000n))).toEqual({ action: "not_supported" })
    expect(await refundsOf(paymentId)).toMatchObject([{ status: "pending", amount: "1.50" }])
    // A session of the merchant's other shop is unknown to Medusa, and is not refunded.
    const elsewhere = await client.paymentIntents.create({
      amount: "1.60",
      intentUrl: "https://other.example.com/return?quittance_session=payses_other"
    })
    await told(await paid(elsewhere.intentToken, 1_600_000n))
    expect(await refundsOf(elsewhere.paymentId)).toEqual([])

    // Taxes leave fractions of a cent: the amount of the intent counts.
    const taxed = await sessionIn(await collection(1.005), 1.005)
    expect(taxed.data.amount).toBe("1.01")
    expect(await told(await paid(taxed.data.intentToken, 1_010_000n))).toMatchObject({ action: "captured" })
    expect(await refundsOf(taxed.data.paymentId)).toEqual([])
  })

  test("if both of a session's payments settle before Medusa is notified, the other one is refunded", async () => {
    const client = new Quittance({ key: shop.keys.full, baseUrl: service.baseUrl })
    const told = async (payload: unknown) =>
      (await call("getWebhookActionAndData", { provider: "quittance_quittance", payload })).answer
    const before = await sessionIn(await collection(6), 6)
    const { answer } = await call("updatePaymentSession", {
      id: before.id,
      currency_code: "usd",
      amount: 6,
      data: before.data
    })
    const { data } = Schema.decodeUnknownSync(Session)(answer)
    expect(data.paymentId).not.toBe(before.data.paymentId)
    const events = [await paid(before.data.intentToken, 6_000_000n), await paid(data.intentToken, 6_000_000n)]
    const actions = await Promise.all(events.map(told))
    expect(actions).toMatchObject([{ action: "not_supported" }, { action: "captured" }])
    expect(await Array.fromAsync(client.refunds.list({ paymentId: before.data.paymentId }))).toMatchObject([
      { status: "pending", reason: "No order in Medusa: another payment pays its payment session." }
    ])
    expect(await Array.fromAsync(client.refunds.list({ paymentId: data.paymentId }))).toEqual([])
    await call("authorizePaymentSession", before.id, {})
    const [session] = Schema.decodeUnknownSync(Schema.NonEmptyArray(Session))(
      (await call("listPaymentSessions", { id: before.id })).answer
    )
    expect(session.data.paymentId).toBe(data.paymentId)
  })

  test("a changed total creates a new intent; another currency is refused", async () => {
    const id = await collection(10)
    const session = await sessionIn(id, 10)
    const changed = Schema.decodeUnknownSync(Session)(
      (
        await call("updatePaymentSession", {
          id: session.id,
          currency_code: "usd",
          amount: 12,
          data: session.data
        })
      ).answer
    )
    expect(changed.data.amount).toBe("12.00")
    expect(changed.data.paymentId).not.toBe(session.data.paymentId)
    const euros = await call("createPaymentSession", id, {
      provider_id: "pp_quittance_quittance",
      currency_code: "eur",
      amount: 10,
      data: {}
    })
    expect(euros.error).toContain("only US dollars, not EUR")
  })
})
