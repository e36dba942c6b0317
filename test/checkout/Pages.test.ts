// The service's answers to browsers: headers of the pages, the script and its integrity, and the delivery that the
// playground reads.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { pagePaths } from "../../src/checkout/Pages.ts"
import { makeShop } from "../platform/http/shop.ts"
import { serviceForFile } from "../support/forFile.ts"
import type { TestService } from "../support/service.ts"

setDefaultTimeout(60_000)

const service = await serviceForFile({ environment: "development" })
const production = await serviceForFile({ environment: "production" })
const shop = await makeShop(service)
const other = await makeShop(service)

describe("Pages", () => {
  const crossOrigin = new Set(["/checkout.js", "/walletconnect.js"])
  for (const path of pagePaths) {
    test(`${path} follows the rules of every answer`, async () => {
      const answer = await fetch(`${service.baseUrl}${path}`)
      expect(answer.status).toBe(200)
      expect(answer.headers.get("cache-control")).toBe(crossOrigin.has(path) ? "no-cache" : "no-store")
      expect(answer.headers.get("x-request-id")).toMatch(/^req_/)
      expect((await answer.text()).length).toBeGreaterThan(50)
      const posted = await fetch(`${service.baseUrl}${path}`, { method: "POST" })
      expect(posted.status).toBe(405)
      expect(posted.headers.get("allow")).toBe("GET, HEAD")
      expect((await fetch(`${service.baseUrl}${path}?pk=pk_test_x`)).status).toBe(200)
    })
  }

  test("every page with a checkout may show wallets' icons as data: URLs, and no other images", async () => {
    for (const path of ["/pay", "/playground", `/link/${crypto.randomUUID()}`, "/counter"]) {
      const policy = (await fetch(`${service.baseUrl}${path}`)).headers.get("content-security-policy") ?? ""
      expect(policy.split("; ")).toContain("img-src data:")
      expect(policy.split("; ")).toContain("default-src 'none'")
    }
  })

  test("without a project no page mentions or allows WalletConnect", async () => {
    const context = await fetch(`${service.baseUrl}/api/v1/checkout-context`, {
      headers: { authorization: `Bearer ${shop.keys.publishable}` }
    })
    expect(context.status).toBe(200)
    expect(await context.text()).not.toContain("walletConnect")
    const policy = (await fetch(`${service.baseUrl}/pay`)).headers.get("content-security-policy")
    expect(policy).not.toContain("walletconnect")
  })

  test("/checkout.js loads from any origin, gzipped, with the published integrity", async () => {
    const answer = await fetch(`${service.baseUrl}/checkout.js`)
    expect(answer.headers.get("access-control-allow-origin")).toBe("*")
    expect(answer.headers.get("cross-origin-resource-policy")).toBe("cross-origin")
    expect(answer.headers.get("content-encoding")).toBe("gzip")
    const digest = await crypto.subtle.digest("SHA-384", await answer.arrayBuffer())
    const told = await (await fetch(`${service.baseUrl}/checkout.js.integrity`)).text()
    expect(told.trim()).toBe(`sha384-${Buffer.from(digest).toString("base64")}`)
  })

  test("a script that the browser has cached is not sent again", async () => {
    const first = await fetch(`${service.baseUrl}/checkout.js`)
    const etag = first.headers.get("etag") ?? ""
    expect(etag).toMatch(/^"sha384-/)
    const again = await fetch(`${service.baseUrl}/checkout.js`, { headers: { "if-none-match": etag } })
    expect(again.status).toBe(304)
    expect((await again.arrayBuffer()).byteLength).toBe(0)
    expect(again.headers.get("access-control-allow-origin")).toBe("*")
    const other = await fetch(`${service.baseUrl}/checkout.js`, { headers: { "if-none-match": '"other"' } })
    expect(other.status).toBe(200)
  })

  test("/pay and /playground have a strict policy and cannot be framed", async () => {
    for (const path of ["/pay", "/playground"]) {
      const { headers } = await fetch(`${service.baseUrl}${path}`)
      const policy = headers.get("content-security-policy") ?? ""
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("script-src 'self';")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toContain("unsafe")
      expect(headers.get("x-frame-options")).toBe("DENY")
      expect(headers.get("referrer-policy")).toBe("no-referrer")
      expect(headers.get("x-content-type-options")).toBe("nosniff")
    }
  })

  test("in production the playground connects to no node", async () => {
    const policy = async (one: TestService) =>
      (await fetch(`${one.baseUrl}/playground`)).headers.get("content-security-policy") ?? ""
    // Nor does it in development to a node that is not on the developer's own machine.
    for (const one of [service, production]) expect(await policy(one)).not.toContain("sepolia")
  })

  const delivery = (id: string) => `/api/v1/checkout/test-delivery?paymentId=${id}`

  test("a settled payment's delivery is shown without the merchant's URL or secret", async () => {
    const registered = await shop.call({
      method: "POST",
      path: "/api/v1/webhook-endpoint",
      key: shop.keys.full,
      body: { url: "https://private-name.example.com/hook" }
    })
    const { payment, transactionId } = await shop.settle()
    const read = () => shop.call({ method: "GET", path: delivery(payment.id), key: shop.keys.publishable })
    const answer = await read()
    expect(answer.status).toBe(200)
    expect(JSON.parse(answer.body.delivery.payload)).toMatchObject({
      id: answer.body.delivery.id,
      type: "payment.settled",
      transactionId
    })
    expect(answer.text).not.toContain("private-name")
    expect(answer.text).not.toContain(registered.body.secret)
    expect(answer.text).not.toContain("whsec_")
  })

  test("a pending payment has no delivery yet; another merchant's payment is not found", async () => {
    const { body } = await shop.open()
    const own = await shop.call({
      method: "GET",
      path: delivery(body.payment.id),
      key: shop.keys.publishable
    })
    expect<unknown>(own.body).toEqual({ delivery: null })
    const foreign = await shop.call({
      method: "GET",
      path: delivery(body.payment.id),
      key: other.keys.publishable
    })
    expect<unknown>(foreign.body.error.code).toBe("PAYMENT_NOT_FOUND")
  })

  test("live keys are refused, and in production every key is", async () => {
    const { body } = await shop.open()
    const live = await shop.call({
      method: "GET",
      path: delivery(body.payment.id),
      key: shop.keys.livePublishable
    })
    expect<unknown>(live.body.error.code).toBe("LIVE_MODE_NO_TEST_FUNDS")
    const there = await makeShop(production)
    const opened = await there.open()
    const refused = await there.call({
      method: "GET",
      path: delivery(opened.body.payment.id),
      key: there.keys.publishable
    })
    expect<unknown>(refused.body.error.code).toBe("NOT_FOUND")
  })
})
