// The WooCommerce plugin as it is distributed, against the service. The machine's packages have no WordPress or
// WooCommerce: `languages/woocommerce.php` is a stand-in for the functions that the plugin uses.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { createHmac } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runInNewContext } from "node:vm"
import { Effect, Exit, Schema, Scope } from "effect"
import { signTestWebhook } from "../../src/packages/client/verifyWebhook.ts"
import { buyer, makeShop, type Shop } from "../platform/http/shop.ts"
import { testDatabase } from "../support/database.ts"
import { startService, type TestService } from "../support/service.ts"
import { buildPackages, root, run, tarballs } from "./installed.ts"

setDefaultTimeout(120_000)

const php = Bun.which("php")
const unzip = Bun.which("unzip")
const lacking = php === null || unzip === null
const without = lacking ? ": PHP or unzip is not installed" : ""

const Answer = Schema.Struct({
  said: Schema.Unknown,
  order: Schema.Struct({
    transaction: Schema.optionalKey(Schema.String),
    completed: Schema.optionalKey(Schema.Int),
    status: Schema.optionalKey(Schema.String),
    notes: Schema.optionalKey(Schema.Array(Schema.String)),
    meta: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
  })
})
const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Answer))

describe("The WooCommerce plugin", () => {
  const scope = Effect.runSync(Scope.make())
  const directory = mkdtempSync(join(tmpdir(), "quittance-woocommerce-"))
  let service: TestService
  let shop: Shop
  let secret = ""

  beforeAll(async () => {
    if (lacking) return
    buildPackages()
    expect(run(["unzip", "-q", join(tarballs, "woocommerce.zip")], directory).exitCode).toBe(0)
    service = await Effect.runPromise(Scope.provide(startService(testDatabase), scope))
    shop = await makeShop(service, await Effect.runPromise(service.newMerchant))
    const endpoint = await shop.call({
      method: "POST",
      path: "/api/v1/webhook-endpoint",
      key: shop.keys.full,
      body: { url: "https://shop.example.com/wc-api/quittance/" }
    })
    secret = endpoint.body.secret
  })
  afterAll(async () => {
    rmSync(directory, { recursive: true, force: true })
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  const gateway = async (order: string, action: string, given: unknown = {}, env = {}) => {
    const child = Bun.spawn(
      [
        ...[
          php ?? "php",
          join(root, "test/packages/languages/woocommerce.php"),
          join(directory, "quittance")
        ],
        ...[join(directory, `${order}.json`), action, JSON.stringify(given)]
      ],
      {
        env: {
          WC_BASE_URL: service.baseUrl,
          WC_SECRET_KEY: shop.keys.full,
          WC_PUBLISHABLE_KEY: shop.keys.publishable,
          WC_SIGNING_SECRET: secret,
          ...env
        },
        stdout: "pipe",
        stderr: "inherit"
      }
    )
    return decode(await new Response(child.stdout).text())
  }
  const tokenOf = (said: unknown) => {
    const { redirect } = Schema.decodeUnknownSync(Schema.Struct({ redirect: Schema.String }))(said)
    expect(redirect).toStartWith(`${service.baseUrl}/pay#token=`)
    const fragment = new URLSearchParams(new URL(redirect).hash.slice(1))
    expect(fragment.get("key")).toBe(shop.keys.publishable)
    return fragment.get("token") ?? ""
  }
  const open = async (intentToken: string) =>
    (
      await shop.call({
        method: "POST",
        path: "/api/v1/payments",
        key: shop.keys.publishable,
        body: { intentToken }
      })
    ).body.payment
  /** Pays what the token commits to; returns the service's delivery. */
  const paid = async (intentToken: string, atomic: bigint) => {
    const payment = await open(intentToken)
    const transactionId = await shop.transfer(atomic)
    expect((await shop.report(payment.id, transactionId, atomic)).status).toBe(200)
    for (let tries = 0; tries < 600; tries++) {
      const sent = (await Effect.runPromise(service.sender.sent)).find(({ body }) =>
        new TextDecoder().decode(body).includes(transactionId)
      )
      if (sent !== undefined)
        return { transactionId, body: new TextDecoder().decode(sent.body), headers: sent.headers }
      await Bun.sleep(100)
    }
    throw new Error("no delivery")
  }

  const testPhp = (name: string, body: () => Promise<void>) => test.skipIf(lacking)(`${name}${without}`, body)

  testPhp(
    "an order is paid once, only by the signed webhook, and has one payment however often it is tried",
    async () => {
      const first = tokenOf((await gateway("one", "pay")).said)
      // Trying again, at once and with the payment open, gives the same payment.
      expect(tokenOf((await gateway("one", "pay")).said)).toBe(first)
      await open(first)
      expect(tokenOf((await gateway("one", "pay")).said)).toBe(first)
      const { body, headers, transactionId } = await paid(first, 42_500_000n)
      const forged = await gateway("one", "webhook", { body: `${body} `, headers })
      expect(forged.said).toEqual([400, "x-service-signature does not match"])
      expect(forged.order.transaction).toBeUndefined()
      for (const said of ["paid", "paid already"]) {
        const answer = await gateway("one", "webhook", { body, headers })
        expect(answer.said).toEqual([200, said])
        expect(answer.order).toMatchObject({ transaction: transactionId, completed: 1 })
      }
      // A buyer who comes back to pay is sent to the order.
      expect((await gateway("one", "pay")).said).toMatchObject({
        redirect: "https://shop.example.com/checkout/order-received/1042/?key=wc_order_abc"
      })
    }
  )

  testPhp("of several deliveries of one event at once, one completes the order", async () => {
    const token = tokenOf((await gateway("seven", "pay")).said)
    const { body, headers, transactionId } = await paid(token, 42_500_000n)
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => gateway("seven", "webhook", { body, headers }, { SLOW: "700" }))
    )
    expect(answers.map(({ said }) => said)).toContainEqual([200, "paid"])
    expect(answers.filter(({ said }) => JSON.stringify(said) === '[200,"paid already"]')).toHaveLength(3)
    expect(await Bun.file(join(directory, "seven.json.completed")).text()).toBe(`${transactionId}\n`)
    expect(await Bun.file(join(directory, "seven.json.options")).text()).toBe("[]")

    // The lock of a process that died is waited for, then taken over.
    const later = await paid(tokenOf((await gateway("eight", "pay")).said), 42_500_000n)
    const held = (secondsAgo: number) =>
      Bun.write(
        join(directory, "eight.json.options"),
        JSON.stringify({ quittance_order_1042: `${Math.floor(Date.now() / 1000) - secondsAgo}-1` })
      )
    await held(0)
    expect((await gateway("eight", "webhook", later)).said).toEqual([
      503,
      "another delivery for this order is in progress"
    ])
    await held(600)
    expect((await gateway("eight", "webhook", later)).said).toEqual([200, "paid"])
  })

  testPhp("a refund is complete once the chain has proven it", async () => {
    const asked = (await gateway("one", "refund", { amount: "2.50" })).said
    expect(asked).toMatchObject({
      message: expect.stringContaining(`Send 2.50 USDC from your receiving address to ${buyer}`)
    })
    expect((await gateway("one", "refund", { amount: "2.50" })).said).toEqual(asked)
    await shop.transfer(2_500_000n, { from: shop.merchant.receiver, to: buyer })
    let said: unknown
    for (let tries = 0; tries < 600 && said !== true; tries++) {
      said = (await gateway("one", "refund", { amount: "2.50" })).said
      await Bun.sleep(100)
    }
    expect(said).toBe(true)
    // One transfer proves one refund: the next one is created.
    expect((await gateway("one", "refund", { amount: "2.50" })).said).toMatchObject(toSend("2.50"))
  })

  /** A service with only refunds, whose states the test changes. */
  const refundDesk = (before: ReadonlyArray<object> = [], delay = 0) => {
    const asked: Array<{ id: string; amount: string; status: string; droppedAt?: string }> = []
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        await Bun.sleep(delay)
        const { pathname } = new URL(request.url)
        if (request.method === "POST") {
          const { amount, id } = await request.json()
          const refund = { id, amount, status: "pending", recipient: buyer }
          asked.push(refund)
          return Response.json({ refund }, { status: 201 })
        }
        if (pathname.endsWith("/refunds"))
          return Response.json({ refunds: [...before, ...asked], hasMore: false })
        const refund = asked.find(({ id }) => pathname.endsWith(id))
        return refund === undefined
          ? Response.json({ error: { code: "REFUND_NOT_FOUND", message: "" } }, { status: 404 })
          : Response.json({ refund })
      }
    })
    const refund = async (order: string, amount: string) =>
      (await gateway(order, "refund", { amount }, { WC_BASE_URL: server.url.origin })).said
    return { asked, refund, [Symbol.asyncDispose]: () => server.stop(true) }
  }
  const toSend = (amount: string) => ({ message: expect.stringContaining(`Send ${amount} USDC`) })
  const notAskedFor = { message: expect.stringContaining("was not requested here") }

  testPhp("a refund whose transfer has left the chain is not complete", async () => {
    await using desk = refundDesk()
    expect(await desk.refund("one", "3.00")).toMatchObject(toSend("3.00"))
    Object.assign(desk.asked[0] ?? {}, { status: "proven", droppedAt: new Date().toISOString() })
    expect(await desk.refund("one", "3.00")).toMatchObject({
      message: expect.stringContaining("no longer shows the transfer")
    })
    expect(desk.asked).toHaveLength(1)
  })

  testPhp("a refund that the shop did not request does not count as one of its own", async () => {
    const before = ["proven", "pending", "failed"].map((status) => ({
      id: crypto.randomUUID(),
      amount: "3.50",
      status
    }))
    await using desk = refundDesk(before)
    // A refund created in the dashboard is recorded by hand.
    expect(await desk.refund("one", "3.50")).toMatchObject(notAskedFor)
    expect(desk.asked).toEqual([])
    await gateway("one", "refund by hand", { amount: "3.50" })
    expect(await desk.refund("one", "3.50")).toMatchObject(toSend("3.50"))
    expect(await desk.refund("one", "3.50")).toMatchObject(toSend("3.50"))
    expect(desk.asked).toHaveLength(1)
    Object.assign(desk.asked[0] ?? {}, { status: "proven" })
    expect(await desk.refund("one", "3.50")).toBe(true)
  })

  testPhp("a requested refund that was recorded by hand does not count as the next one", async () => {
    await using desk = refundDesk()
    for (const status of ["proven", "pending"]) {
      expect(await desk.refund("one", "6.00")).toMatchObject(toSend("6.00"))
      Object.assign(desk.asked.at(-1) ?? {}, { status })
      await gateway("one", "refund by hand", { amount: "5.00" })
      const { notes } = (await gateway("one", "refund by hand", { amount: "6" })).order
      expect(notes?.at(-1)).toContain(`refund ${desk.asked.at(-1)?.id} of 6.00 USDC`)
    }
    expect(await desk.refund("one", "6.00")).toMatchObject(toSend("6.00"))
    expect(desk.asked).toHaveLength(3)
  })

  testPhp("after a cancelled or failed refund a new one is created", async () => {
    await using desk = refundDesk()
    for (const status of ["cancelled", "failed"]) {
      expect(await desk.refund("one", "7.00")).toMatchObject(toSend("7.00"))
      Object.assign(desk.asked.at(-1) ?? {}, { status })
    }
    expect(await desk.refund("one", "7.00")).toMatchObject(toSend("7.00"))
    expect(new Set(desk.asked.map(({ id }) => id)).size).toBe(3)
  })

  testPhp("a refund whose answer is lost is requested again with the same id", async () => {
    const ids: Array<string> = []
    await using away = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        if (request.method === "POST") {
          ids.push((await request.json()).id)
          return new Response("", { status: 400 })
        }
        return new URL(request.url).pathname.endsWith("/refunds")
          ? Response.json({ refunds: [], hasMore: false })
          : Response.json({ error: { code: "REFUND_NOT_FOUND", message: "" } }, { status: 404 })
      }
    })
    for (let times = 0; times < 2; times++)
      await gateway("one", "refund", { amount: "8.00" }, { WC_BASE_URL: away.url.origin })
    expect(ids).toHaveLength(2)
    expect(new Set(ids).size).toBe(1)
  })

  testPhp("of two refunds of one amount at once, one transfer completes one", async () => {
    const event = await paid(tokenOf((await gateway("eleven", "pay")).said), 42_500_000n)
    expect((await gateway("eleven", "webhook", event)).said).toEqual([200, "paid"])
    await using desk = refundDesk([], 300)
    const both = () => Promise.all([1, 2].map(() => desk.refund("eleven", "4.00")))
    for (const said of await both()) expect(said).toMatchObject(toSend("4.00"))
    expect(desk.asked).toHaveLength(1)
    Object.assign(desk.asked[0] ?? {}, { status: "proven" })
    const answers = await both()
    expect(answers.filter((said) => said === true)).toHaveLength(1)
    expect(answers).toContainEqual(expect.objectContaining(toSend("4.00")))
  })

  testPhp(
    "a service that is down delays no order: the delivery is answered at once, and sent again",
    async () => {
      const { body, headers } = await paid(tokenOf((await gateway("ten", "pay")).said), 42_500_000n)
      let asked = 0
      const away = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch: () => {
          asked += 1
          return new Response("", { status: 503 })
        }
      })
      const { said } = await gateway("ten", "webhook", { body, headers }, { WC_BASE_URL: away.url.origin })
      await away.stop(true)
      expect([said, asked]).toEqual([[503, "UNKNOWN_ANSWER"], 1])
      expect((await gateway("ten", "webhook", { body, headers })).said).toEqual([200, "paid"])
    }
  )

  testPhp("a repeated event does not ship an order that was cancelled since", async () => {
    const { body, headers, transactionId } = await paid(
      tokenOf((await gateway("four", "pay")).said),
      42_500_000n
    )
    expect((await gateway("four", "webhook", { body, headers })).order.status).toBe("processing")
    await gateway("four", "status", { status: "cancelled" })
    const again = await gateway("four", "webhook", { body, headers })
    expect(again.said).toEqual([200, "paid already"])
    expect(again.order).toMatchObject({ status: "cancelled", transaction: transactionId, completed: 1 })
  })

  testPhp(
    "a shop without a signing secret believes no webhook, not even one signed with an empty secret",
    async () => {
      const t = Math.floor(Date.now() / 1000)
      const changes = [{ amountAtomic: "42500000" }]
      const body = JSON.stringify({
        id: "1",
        type: "payment.settled",
        transactionId: "0x1",
        tokenChanges: changes
      })
      const [id, url] = ["2", "https://shop.example.com/checkout/order-received/1042/?key=wc_order_abc"]
      const signed = (text: string) =>
        `t=${t},v1=${createHmac("sha256", "")
          .update(text + body)
          .digest("hex")}`
      const headers = {
        "x-service-signature": signed(`${t}.`),
        "quittance-payment-id": id,
        "quittance-intent-url": url,
        "quittance-order-signature": signed(`quittance-order\n${t}\n${id}\n${url}\n`)
      }
      const { order, said } = await gateway("five", "webhook", { body, headers }, { WC_SIGNING_SECRET: "" })
      expect(said).toEqual([400, "the signing secret is not set"])
      expect(order.completed).toBeUndefined()
    }
  )

  testPhp("an order whose total has changed is put on hold, not shipped", async () => {
    const token = tokenOf((await gateway("two", "pay")).said)
    await gateway("two", "total", { total: "50.00" })
    const { body, headers } = await paid(token, 42_500_000n)
    const answer = await gateway("two", "webhook", { body, headers })
    expect(answer.said).toEqual([200, "on hold"])
    expect(answer.order.status).toBe("on-hold")
    expect(answer.order.completed).toBeUndefined()
    // Resolved by the shop, and delivered again.
    await gateway("two", "status", { status: "processing" })
    const again = await gateway("two", "webhook", { body, headers })
    expect(again.said).toEqual([200, "paid already"])
    expect(again.order.notes).toHaveLength(1)
  })

  testPhp("an order in another currency than the shop's is not paid in dollars", async () => {
    // Like an order from before the shop changed to dollars, or one created by hand.
    await gateway("eighteen", "currency", { currency: "EUR" })
    expect((await gateway("eighteen", "pay")).said).toEqual({ result: "failure" })
    const token = tokenOf((await gateway("nineteen", "pay")).said)
    await gateway("nineteen", "currency", { currency: "EUR" })
    const { order, said } = await gateway("nineteen", "webhook", await paid(token, 42_500_000n))
    expect([said, order.status, order.completed]).toEqual([[200, "on hold"], "on-hold", undefined])
  })

  testPhp("a buyer who returns without paying is told so, and where to pay", async () => {
    const token = tokenOf((await gateway("twenty-one", "pay")).said)
    const thanks = "Thank you. Your order has been received."
    expect((await gateway("twenty-one", "received")).said).toBe(
      'We have not seen your payment yet. If you have not paid, <a href="https://shop.example.com/checkout/order-pay/1042/?pay_for_order=true&amp;key=wc_order_abc">pay now</a>.'
    )
    expect((await gateway("twenty-one", "received", {}, { METHOD: "cheque" })).said).toBe(thanks)
    await gateway("twenty-one", "webhook", await paid(token, 42_500_000n))
    expect((await gateway("twenty-one", "received")).said).toBe(thanks)
  })

  testPhp("an order whose total has more decimals is paid by the amount of its intent", async () => {
    // From PHP 8.4 on, a hundred times 1.005 rounds to 100, and 1.005 to 1.01.
    await gateway("twenty", "total", { total: "1.005" })
    const token = tokenOf((await gateway("twenty", "pay")).said)
    const { amount } = await open(token)
    expect(amount).toBe("1.01")
    expect((await gateway("twenty", "webhook", await paid(token, 1_010_000n))).said).toEqual([200, "paid"])
  })

  testPhp(
    "a buyer who paid before the total changed is not asked again before the webhook arrives",
    async () => {
      const event = await paid(tokenOf((await gateway("twenty-two", "pay")).said), 42_500_000n)
      await gateway("twenty-two", "total", { total: "50.00" })
      expect((await gateway("twenty-two", "pay")).said).toMatchObject({
        redirect: "https://shop.example.com/checkout/order-received/1042/?key=wc_order_abc"
      })
      expect((await gateway("twenty-two", "webhook", event)).said).toEqual([200, "on hold"])
      // Once the shop has reviewed the order, and requests the present total.
      await gateway("twenty-two", "status", { status: "pending" })
      expect((await open(tokenOf((await gateway("twenty-two", "pay")).said))).amount).toBe("50.00")
    }
  )

  testPhp("a copy of an order, such as a renewal, has its own payment", async () => {
    const token = tokenOf((await gateway("twenty-three", "pay")).said)
    await paid(token, 42_500_000n)
    // The plugin's data about the order are copied with it.
    await Bun.write(join(directory, "twenty-four.json"), Bun.file(join(directory, "twenty-three.json")))
    const copy = { ORDER: "1043" }
    const ofCopy = tokenOf((await gateway("twenty-four", "pay", {}, copy)).said)
    expect(ofCopy).not.toBe(token)
    expect(tokenOf((await gateway("twenty-four", "pay", {}, copy)).said)).toBe(ofCopy)
  })

  testPhp(
    "an order that WooCommerce failed to complete is delivered again, until it is complete",
    async () => {
      const event = await paid(tokenOf((await gateway("fifteen", "pay")).said), 42_500_000n)
      for (const COMPLETES of ["failed", "unsaved"]) {
        const { order, said } = await gateway("fifteen", "webhook", event, { COMPLETES })
        expect(said).toEqual([503, "WooCommerce has not completed the payment"])
        expect(order.transaction).toBeUndefined()
      }
      const { order, said } = await gateway("fifteen", "webhook", event)
      expect([said, order.status, order.completed]).toEqual([[200, "paid"], "processing", 1])
    }
  )

  testPhp("a payment of an order that cannot be paid any more is put on hold for a person", async () => {
    const first = await paid(tokenOf((await gateway("sixteen", "pay")).said), 42_500_000n)
    await gateway("sixteen", "status", { status: "trash" })
    for (const said of ["on hold", "paid already"]) {
      const answer = await gateway("sixteen", "webhook", first)
      expect(answer.said).toEqual([200, said])
      expect(answer.order.status).toBe("on-hold")
      expect(answer.order.notes).toEqual([expect.stringContaining(`${first.transactionId} paid the order`)])
    }

    // A status of the shop's own, for an order that is paid already: it does not change.
    const paidFirst = await paid(tokenOf((await gateway("seventeen", "pay")).said), 42_500_000n)
    expect((await gateway("seventeen", "webhook", paidFirst)).said).toEqual([200, "paid"])
    await gateway("seventeen", "status", { status: "shipped" })
    const { headers } = paidFirst
    const second = await signTestWebhook(
      {
        id: crypto.randomUUID(),
        type: "payment.settled",
        livemode: false,
        transactionId: "0x2",
        tokenChanges: [{ amountAtomic: "42500000", chainId: 84_532, receiver: "0x", tokenAddress: "0x" }]
      },
      secret,
      { order: { paymentId: crypto.randomUUID(), intentUrl: headers["quittance-intent-url"] ?? "" } }
    )
    const { order, said } = await gateway("seventeen", "webhook", second)
    expect([said, order.status]).toEqual([[200, "paid already"], "shipped"])
    expect(order.notes).toEqual([expect.stringContaining("Paid a second time, by transaction 0x2")])
  })

  testPhp("an event that arrives after a refund of its payment ships nothing", async () => {
    const { body, headers } = await paid(tokenOf((await gateway("nine", "pay")).said), 42_500_000n)
    const paymentId = headers["quittance-payment-id"]
    const refund = { method: "POST" as const, path: "/api/v1/refunds", key: shop.keys.full }
    expect((await shop.call({ ...refund, body: { paymentId } })).status).toBe(201)
    // While the service cannot confirm it, the event is sent again.
    const away = { WC_SECRET_KEY: "sk_test_wrong" }
    expect((await gateway("nine", "webhook", { body, headers }, away)).said).toEqual([503, "INVALID_API_KEY"])
    for (const said of ["refunded", "paid already"]) {
      const answer = await gateway("nine", "webhook", { body, headers })
      expect(answer.said).toEqual([200, said])
      expect(answer.order.status).toBe("on-hold")
      expect(answer.order.completed).toBeUndefined()
      expect(answer.order.notes).toHaveLength(1)
    }
    // Once the shop requests payment again, the order is paid again.
    await gateway("nine", "status", { status: "pending" })
    const anew = await paid(tokenOf((await gateway("nine", "pay")).said), 42_500_000n)
    const { order, said } = await gateway("nine", "webhook", anew)
    expect([said, order.transaction]).toEqual([[200, "paid"], anew.transactionId])
  })

  testPhp("a second payment of an order is noted once, also if the order was refunded", async () => {
    const settled = async (intentUrl: string) => {
      const transactionId = `0x${crypto.randomUUID()}`
      const change = { amountAtomic: "42500000", chainId: 84_532, receiver: "0x", tokenAddress: "0x" }
      const id = crypto.randomUUID()
      const event = { id, type: "payment.settled" as const, livemode: false, transactionId }
      const order = { paymentId: crypto.randomUUID(), intentUrl }
      return signTestWebhook({ ...event, tokenChanges: [change] }, secret, { order })
    }
    const url = "https://shop.example.com/checkout/order-received/1042/?key=wc_order_abc"
    expect((await gateway("six", "webhook", await settled(url))).said).toEqual([200, "paid"])
    for (const [status, count] of [
      ["processing", 1],
      ["refunded", 2]
    ] as const) {
      await gateway("six", "status", { status })
      const second = await settled(url)
      for (let times = 0; times < 2; times++) {
        const { order, said } = await gateway("six", "webhook", second)
        expect(said).toEqual([200, "paid already"])
        expect(order).toMatchObject({ status, completed: 1 })
        expect(order.notes).toHaveLength(count)
        expect(order.notes?.at(-1)).toContain("Refund that payment in your Quittance dashboard")
      }
    }
    // A payment without an order's URL pays none.
    for (const other of ["https://pay.example.com/link/abc", "https://shop.example.com/?key[]=wc_order_abc"])
      expect((await gateway("seven", "webhook", await settled(other))).said).toEqual([404, "no such order"])
  })

  testPhp("the checkout block offers the payment method as the classic checkout does", async () => {
    const methodsIn = Schema.decodeUnknownSync(
      Schema.Array(
        Schema.Struct({
          name: Schema.String,
          active: Schema.Boolean,
          data: Schema.Record(Schema.String, Schema.String),
          scripts: Schema.Array(Schema.Struct({ source: Schema.String, needs: Schema.Array(Schema.String) }))
        })
      )
    )
    const title = { WC_TITLE: "USDC &amp; co" }
    const [method] = methodsIn((await gateway("thirteen", "block", {}, title)).said)
    expect(method).toMatchObject({ name: "quittance", active: true, data: { title: "USDC &amp; co" } })
    const [elsewhere] = methodsIn((await gateway("thirteen", "block", {}, { CURRENCY: "EUR" })).said)
    expect(elsewhere?.active).toBe(false)
    const offered: Array<unknown> = []
    const wc = {
      wcBlocksRegistry: { registerPaymentMethod: (one: unknown) => offered.push(one) },
      wcSettings: {
        getSetting: (name: string, otherwise: unknown) =>
          name === `${method?.name}_data` ? method?.data : otherwise
      }
    }
    const wp = {
      element: { createElement: (...all: ReadonlyArray<unknown>) => all },
      htmlEntities: { decodeEntities: (text: string) => text.replace("&amp;", "&") }
    }
    for (const { needs, source } of method?.scripts ?? []) {
      expect(needs).toEqual(["wc-blocks-registry", "wc-settings", "wp-element", "wp-html-entities"])
      runInNewContext(readFileSync(source, "utf8"), { window: { wc, wp } })
    }
    expect(offered).toMatchObject([
      { name: "quittance", ariaLabel: "USDC & co", supports: { features: ["products"] } }
    ])
  })

  testPhp("two attempts to pay an order at the same moment create one payment", async () => {
    // Both have checked before the first has its intent.
    await using slow = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        await Bun.sleep(300)
        const { pathname } = new URL(request.url)
        return fetch(`${service.baseUrl}${pathname}`, {
          method: request.method,
          headers: request.headers,
          ...(request.method === "POST" ? { body: await request.text() } : {})
        })
      }
    })
    const env = { WC_BASE_URL: `http://127.0.0.1:${slow.port}` }
    const tried = await Promise.all([1, 2, 3].map(() => gateway("fourteen", "pay", {}, env)))
    expect(new Set(tried.map(({ said }) => JSON.stringify(said))).size).toBe(1)
  })

  testPhp(
    "offered only for US dollars and with every setting; a service that is down breaks no checkout",
    async () => {
      expect((await gateway("three", "available")).said).toBe(true)
      expect((await gateway("three", "available", {}, { CURRENCY: "EUR" })).said).toBe(false)
      expect((await gateway("three", "available", {}, { WC_SIGNING_SECRET: "" })).said).toBe(false)
      expect((await gateway("three", "pay", {}, { WC_SECRET_KEY: "sk_test_wrong" })).said).toEqual({
        result: "failure"
      })
    }
  )
})
