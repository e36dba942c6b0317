// The client library against the real service, and against servers that misbehave.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { getEventListeners } from "node:events"
import { Effect, Exit, Redacted, Scope } from "effect"
import { FetchHttpClient } from "effect/http"
import { makeQuittance } from "../../../src/app/makeQuittance.ts"
import { Quittance } from "../../../src/packages/client/Quittance.ts"
import { QuittanceError } from "../../../src/packages/client/QuittanceError.ts"
import type { QuittanceOptions } from "../../../src/packages/client/transport.ts"
import { intentUrl, makeShop, type Shop } from "../../platform/http/shop.ts"
import { testDatabase } from "../../support/database.ts"
import { startService, type TestService } from "../../support/service.ts"

setDefaultTimeout(60_000)

const refused = async (run: PromiseLike<unknown>): Promise<QuittanceError> =>
  run.then(
    () => {
      throw new Error("was not refused")
    },
    (error) => {
      if (error instanceof QuittanceError) return error
      throw error
    }
  )

describe("Quittance", () => {
  const scope = Effect.runSync(Scope.make())
  let service: TestService
  let shop: Shop
  let client: Quittance

  beforeAll(async () => {
    const database = testDatabase
    service = await Effect.runPromise(Scope.provide(startService(database), scope))
    shop = await makeShop(service, await Effect.runPromise(service.newMerchant))
    client = new Quittance({ key: shop.keys.full, baseUrl: `${service.baseUrl}/` })
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

  test("creates an intent, and reads the payment opened with it", async () => {
    const { intent, intentToken } = await client.paymentIntents.create({
      amount: "10",
      intentUrl: "https://shop.example.com/1"
    })
    expect(intent.amount).toBe("10.00")
    const opened = await shop.call({
      method: "POST",
      path: "/api/v1/payments",
      key: shop.keys.publishable,
      body: { intentToken }
    })
    expect<unknown>(await client.payments.retrieve(opened.body.payment.id)).toEqual(opened.body.payment)
  })

  test("lists all payments, page by page, and awaits one page", async () => {
    const fresh = await makeShop(service, await Effect.runPromise(service.newMerchant))
    for (let count = 0; count < 7; count++) await fresh.open()
    const own = new Quittance({ key: fresh.keys.readOnly, baseUrl: service.baseUrl })
    const ids: Array<string> = []
    for await (const payment of own.payments.list({ limit: 3 })) ids.push(payment.id)
    expect(new Set(ids).size).toBe(7)
    const page = await own.payments.list({ limit: 3 })
    expect(page.payments.map((one) => one.id)).toEqual(ids.slice(0, 3))
    expect(page.hasMore).toBe(true)
    const next = await own.payments.list({ limit: 3, startingAfter: ids[2] ?? "" })
    expect(next.payments.map((one) => one.id)).toEqual(ids.slice(3, 6))
  })

  test("lists all refunds of a payment, page by page, and awaits one page", async () => {
    const { payment } = await shop.settle()
    for (let count = 0; count < 5; count++)
      await client.refunds.create({ paymentId: payment.id, amount: "1.00" })
    const ids: Array<string> = []
    for await (const refund of client.refunds.list({ paymentId: payment.id, limit: 2 })) ids.push(refund.id)
    expect(new Set(ids).size).toBe(5)
    const page = await client.refunds.list({ paymentId: payment.id, limit: 2 })
    expect(page.refunds.map((one) => one.id)).toEqual(ids.slice(0, 2))
    expect(page.hasMore).toBe(true)
  })

  test("returns a webhook's order, by its event, its transaction and its URL", async () => {
    const own = await makeShop(service, await Effect.runPromise(service.newMerchant))
    const quittance = new Quittance({ key: own.keys.full, baseUrl: service.baseUrl })
    const created = await quittance.paymentIntents.create({ amount: "10", intentUrl })
    const opened = await own.call({
      method: "POST",
      path: "/api/v1/payments",
      key: own.keys.publishable,
      body: { intentToken: created.intentToken }
    })
    expect(created.paymentId).toBe(opened.body.payment.id)
    const transactionId = await own.transfer(10_000_000n)
    await own.report(created.paymentId, transactionId, 10_000_000n)
    const events = await Array.fromAsync(quittance.events.list({ limit: 1 }))
    expect(events).toHaveLength(1)
    const [settled] = events
    const event = settled?.event ?? { id: "none" }
    expect(settled?.payment).toMatchObject({ id: created.paymentId, intentUrl })
    expect(await quittance.payments.forEvent(event)).toEqual(settled?.payment ?? null)
    expect(await quittance.events.retrieve(event.id)).toEqual(settled ?? expect.anything())
    for (const filter of [{ transactionId }, { intentUrl }]) {
      const { payments } = await quittance.payments.list(filter)
      expect(payments.map((one) => one.id)).toEqual([created.paymentId])
    }
    expect((await quittance.events.list({ after: event.id })).events).toEqual([])
    expect((await refused(quittance.payments.forEvent({ id: created.paymentId }))).code).toBe(
      "EVENT_NOT_FOUND"
    )
  })

  test("creates payment links, lists them and closes them", async () => {
    const fixed = await client.paymentLinks.create({ description: "Repair", amount: "25", once: true })
    expect(fixed).toMatchObject({ description: "Repair", amount: "25.00", once: true, state: "open" })
    expect(fixed.url).toEndWith(`/link/${fixed.id}`)
    const chosen = await client.paymentLinks.create({
      description: "Donation",
      minAmount: "1",
      maxAmount: "100",
      expiresAt: "2999-01-01T00:00:00.000Z"
    })
    expect(await client.paymentLinks.list()).toEqual({ links: [chosen, fixed], hasMore: false })
    expect(await Array.fromAsync(client.paymentLinks.list({ limit: 1 }))).toEqual([chosen, fixed])
    await client.paymentLinks.close(fixed.id)
    await client.paymentLinks.close(fixed.id)
    expect((await client.paymentLinks.list()).links.map(({ state }) => state)).toEqual(["open", "closed"])
    expect(await refused(client.paymentLinks.close("a".repeat(24)))).toMatchObject({
      code: "PAYMENT_LINK_NOT_FOUND"
    })
    expect(
      await refused(
        new Quittance({ key: shop.keys.readOnly, baseUrl: service.baseUrl }).paymentLinks.create({
          description: "Repair",
          amount: "25"
        })
      )
    ).toMatchObject({ status: 403 })
    // @ts-expect-error one amount, or both bounds
    expect(await refused(client.paymentLinks.create({ description: "Repair" }))).toMatchObject({
      code: "INVALID_REQUEST"
    })
  })

  test("upsert creates the endpoint with a secret, then updates it without", async () => {
    const first = await client.webhookEndpoint.upsert("https://hooks.example.com/a")
    expect(first.signingSecret).toStartWith("whsec_")
    const second = await client.webhookEndpoint.upsert("https://hooks.example.com/b")
    expect(second.signingSecret).toBeUndefined()
    expect(second.endpoint).toMatchObject({ id: first.endpoint.id, url: "https://hooks.example.com/b" })
    expect((await client.webhookEndpoint.test()).delivery.status).toBe("delivered")
    expect((await client.webhookEndpoint.update("https://hooks.example.com/c")).verifiedAt).toBeNull()
    await client.webhookEndpoint.delete()
    expect(await client.webhookEndpoint.retrieve()).toBeNull()
  })

  test("of several upserts at once one gets the secret, and all get the endpoint", async () => {
    const all = await Promise.all(
      Array.from({ length: 6 }, () => client.webhookEndpoint.upsert("https://hooks.example.com/a"))
    )
    expect(all.filter((one) => one.signingSecret !== undefined)).toHaveLength(1)
    expect(new Set(all.map((one) => one.endpoint.id)).size).toBe(1)
    await client.webhookEndpoint.delete()
  })

  test("errors have a type by code", async () => {
    const bad = await refused(
      client.paymentIntents.create({ amount: "0", intentUrl: "https://shop.example.com/1" })
    )
    expect(bad).toMatchObject({ code: "INVALID_REQUEST", status: 400, retryable: false })
    expect(bad.requestId).toBeString()
    expect(bad.details[0]?.path).toBe("body.amount")
    expect(await refused(client.payments.retrieve("01a1fc34-7205-710e-9410-874fee9a4996"))).toMatchObject({
      code: "PAYMENT_NOT_FOUND",
      status: 404
    })
    expect(
      await refused(new Quittance({ key: "sk_test_x", baseUrl: service.baseUrl }).payments.list())
    ).toMatchObject({ code: "INVALID_API_KEY" })
    expect(await refused(client.webhookEndpoint.update("https://hooks.example.com/"))).toMatchObject({
      code: "WEBHOOK_ENDPOINT_NOT_FOUND"
    })
  })

  test("the Effect form speaks the same contract with the domain's tagged errors", async () => {
    const program = Effect.gen(function* () {
      const effectClient = yield* makeQuittance({
        key: Redacted.make(shop.keys.full),
        baseUrl: service.baseUrl
      })
      const { payments } = yield* effectClient.payments.list({ query: { limit: 2 } })
      expect(payments.length).toBeLessThanOrEqual(2)
      const error = yield* Effect.flip(effectClient.webhookEndpoint.delete())
      expect(error).toMatchObject({ _tag: "WebhookEndpointNotFound", code: "WEBHOOK_ENDPOINT_NOT_FOUND" })
    })
    await Effect.runPromise(program.pipe(Effect.provide(FetchHttpClient.layer)))
  })
})

describe("Quittance's retries", () => {
  /** A client whose service answers from a list, and the requests that it got. */
  const scripted = (answers: ReadonlyArray<Response | Error>, options: Partial<QuittanceOptions> = {}) => {
    const calls: Array<string> = []
    const client = new Quittance({
      key: "sk_test_x",
      baseUrl: "https://pay.example.com",
      fetch: async (input, init) => {
        calls.push(`${init.method} ${new URL(input).pathname}`)
        const answer = answers[Math.min(calls.length, answers.length) - 1]
        if (answer === undefined || answer instanceof Error) throw answer ?? new Error("no answer")
        return answer.clone()
      },
      ...options
    })
    return { client, calls }
  }
  const envelope = (status: number, code: string, headers: Record<string, string> = {}) =>
    Response.json(
      { error: { code, message: "m", requestId: "r", docUrl: "d", retryable: true } },
      { status, headers }
    )
  const page = Response.json({ payments: [], hasMore: false })

  test("a 429 is retried after retry-after, whatever the method", async () => {
    const { client, calls } = scripted([
      envelope(429, "RATE_LIMITED", { "retry-after": "1" }),
      envelope(204, "x")
    ])
    const start = performance.now()
    await client.webhookEndpoint.delete().catch(() => {})
    expect(calls).toHaveLength(2)
    expect(performance.now() - start).toBeGreaterThanOrEqual(950)
  })
  test("too long a wait is left to the caller", async () => {
    const { client, calls } = scripted([envelope(429, "FAUCET_LIMIT_REACHED", { "retry-after": "3600" })])
    expect(await refused(client.payments.list())).toMatchObject({
      code: "FAUCET_LIMIT_REACHED",
      retryAfter: 3600
    })
    expect(calls).toHaveLength(1)
  })
  test("reads are retried after 5xx and lost answers", async () => {
    const { client, calls } = scripted([envelope(500, "INTERNAL_ERROR"), new TypeError("socket"), page])
    expect((await client.payments.list()).payments).toEqual([])
    expect(calls).toHaveLength(3)
  })
  test("an export is retried like any read, and fails with a QuittanceError", async () => {
    const period = { from: "2026-01-01", to: "2026-01-31" }
    const text = async (stream: ReadableStream<Uint8Array>) => new Response(stream).text()
    const empty = "at,id\r\nend,0\r\n"
    const again = scripted([envelope(500, "INTERNAL_ERROR"), new TypeError("socket"), new Response(empty)])
    expect(await text(await again.client.books.export("payments", period))).toBe(empty)
    expect(again.calls).toHaveLength(3)
    for (const file of ["at;id\r\n2026;1\r\nend;1\r\n", '{"payments":[\n\n],"rows":0}\n']) {
      const { client } = scripted([new Response(file)])
      expect(await text(await client.books.export("payments", period))).toBe(file)
    }
    // A proxy has hidden that these are truncated.
    for (const file of ["", "at,id\r\n", "at,id\r\n2026,1\r\n", '{"payments":[\n{"id":"1"}', "x end,1\r\n"]) {
      const { client } = scripted([new Response(file)])
      const stream = await client.books.export("payments", period)
      expect(await text(stream).catch((error: unknown) => error)).toMatchObject({ code: "NO_ANSWER" })
    }
    const { client } = scripted([new TypeError("socket")], { retries: 0 })
    expect(await refused(client.books.export("payments", period))).toMatchObject({ code: "NO_ANSWER" })
  })
  test("a creation whose answer was lost does not create twice", async () => {
    const { client, calls } = scripted([new TypeError("socket")])
    expect(await refused(client.webhookEndpoint.create("https://a.example.com/"))).toMatchObject({
      code: "NO_ANSWER",
      retryable: true
    })
    expect(calls).toHaveLength(1)
  })
  test("4xx answers are final", async () => {
    const { client, calls } = scripted([envelope(403, "MANAGE_PERMISSION_REQUIRED")])
    await refused(client.payments.list())
    expect(calls).toHaveLength(1)
  })
  test("retries end after a few attempts", async () => {
    const { client, calls } = scripted([envelope(503, "CHAIN_UNAVAILABLE")], { retries: 1 })
    await refused(client.payments.list())
    expect(calls).toHaveLength(2)
  })
  test("an answer that is not from the service is reported as such", async () => {
    const { client } = scripted([new Response("<html>", { status: 404 })])
    expect(await refused(client.payments.list())).toMatchObject({ code: "UNKNOWN_ANSWER", status: 404 })
  })
  test("a proxy's page with status 200 counts neither as a closed link nor as a deleted endpoint", async () => {
    const portal = () => new Response("<html>Sign in to this network", { status: 200 })
    const { client } = scripted([portal(), portal(), new Response(null, { status: 204 })])
    const unknown = { code: "UNKNOWN_ANSWER", status: 200 }
    expect(await refused(client.paymentLinks.close("x".repeat(22)))).toMatchObject(unknown)
    expect(await refused(client.webhookEndpoint.delete())).toMatchObject(unknown)
    await client.webhookEndpoint.delete()
  })
  test("a redirect is not followed: its target is not believed, and a POST does not become a GET", async () => {
    const asked: Array<string> = []
    const answering = (answer: (url: string) => Response) =>
      Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch: ({ method, url }) => {
          asked.push(`${method} ${new URL(url).pathname}`)
          return answer(url)
        }
      })
    await using elsewhere = answering(() => Response.json({ payments: [], hasMore: false, endpoint: null }))
    await using service = answering((url) =>
      Response.redirect(`http://localhost:${elsewhere.port}${new URL(url).pathname}`, 302)
    )
    const client = new Quittance({ key: "sk_test_x", baseUrl: `http://127.0.0.1:${service.port}` })
    const unknown = { code: "UNKNOWN_ANSWER", status: 302 }
    expect(await refused(client.payments.list())).toMatchObject(unknown)
    expect(await refused(client.webhookEndpoint.create("https://a.example.com/"))).toMatchObject(unknown)
    expect(asked).toEqual(["GET /api/v1/payments", "POST /api/v1/webhook-endpoint"])
  })
  test("a silent service times out", async () => {
    const { client } = scripted([], {
      timeout: 50,
      retries: 0,
      fetch: (_, init) =>
        new Promise((_resolve, reject) =>
          init.signal?.addEventListener("abort", () => reject(init.signal?.reason))
        )
    })
    expect(await refused(client.payments.list())).toMatchObject({ code: "NO_ANSWER" })
  })
  test("the caller's own abort is thrown unchanged", async () => {
    const { client } = scripted([page], {
      fetch: async (_, init) => {
        init.signal?.throwIfAborted()
        return page.clone()
      }
    })
    const list = client.payments.list({}, { signal: AbortSignal.abort(new Error("enough")) })
    await expect(Promise.resolve(list)).rejects.toThrow("enough")
  })
  test("an abort during a 429 ends the wait before it begins", async () => {
    const abort = new AbortController()
    const { client } = scripted([], {
      fetch: async () => {
        abort.abort(new Error("enough"))
        return new Response("{}", { status: 429, headers: { "retry-after": "20" } })
      }
    })
    const began = performance.now()
    const list = client.payments.list({}, { signal: abort.signal })
    await expect(Promise.resolve(list)).rejects.toThrow("enough")
    expect(performance.now() - began).toBeLessThan(5_000)
  })
  test("waits leave no listeners on the caller's signal", async () => {
    const { signal } = new AbortController()
    const { client, calls } = scripted([envelope(503, "CHAIN_UNAVAILABLE"), page])
    await client.payments.list({}, { signal })
    expect(calls).toHaveLength(2)
    expect(getEventListeners(signal, "abort")).toEqual([])
  })
})
