// Transfers that pay nothing, in a real browser: attached, refunded, handled, and removed from the page.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Exit, Scope } from "effect"
import { makeShop, stranger } from "../platform/http/shop.ts"
import {
  browserSuite,
  expectNoAxeViolations,
  hasChromium,
  newContext,
  screenshot
} from "../support/browser.ts"
import { testDatabase } from "../support/database.ts"
import { startService, type TestService } from "../support/service.ts"
import { signUp } from "./person.ts"

setDefaultTimeout(60_000)

const browserTest = browserSuite()

describe("Transfers to explain in the dashboard", () => {
  const scope = Effect.runSync(Scope.make())
  let service: TestService

  beforeAll(async () => {
    if (!hasChromium) return
    service = await Effect.runPromise(Scope.provide(startService(testDatabase), scope))
  }, 120_000)
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)), 120_000)

  browserTest("each is decided next to its evidence", async () => {
    const person = await signUp(service.baseUrl)
    const shop = await makeShop(service, { ...person, id: person.merchantId })
    const { payment } = (await shop.open("21.00")).body
    for (const amount of [21_000_000n, 5_000_000n, 10_000n]) await shop.transfer(amount, { from: stranger })
    const context = await newContext({ width: 360 })
    const [name = "", value = ""] = person.cookie.split("=")
    await context.addCookies([{ name, value, url: service.baseUrl }])
    const page = await context.newPage()
    await page.goto(`${service.baseUrl}/dashboard/${person.merchantId}/test/alerts`)
    const row = (amount: string) => page.getByRole("listitem").filter({ hasText: `transfer of ${amount}` })
    await page.getByText("Unmatched transfer of $0.01").waitFor({ timeout: 30_000 })

    await page.getByText("Unmatched transfer of $21.00").click()
    await row("$21.00").getByText("The amount is the same").waitFor()
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true)
      await screenshot(page, `transfers-${width}`)
    }
    await expectNoAxeViolations(page)
    const attach = row("$21.00").getByRole("button", { name: `Attach to ${payment.refCode}` })
    await attach.click()
    await attach.waitFor({ state: "detached" })

    await page.getByText("Unmatched transfer of $0.01").click()
    await row("$0.01").getByLabel("Note", { exact: true }).fill("Small change")
    await row("$0.01").getByRole("button", { name: "Mark as handled" }).click()
    await row("$0.01").getByText(`Marked as handled by ${person.email}: Small change`).waitFor()

    await page.getByText("Unmatched transfer of $5.00").click()
    await row("$5.00").getByRole("button", { name: "Refund", exact: true }).click()
    await page.getByRole("button", { name: "Continue" }).click()
    const dialog = page.getByRole("dialog", { name: "Refund $5.00" })
    await dialog.getByRole("img", { name: "QR code that sends 5.00 USDC" }).waitFor()
    await shop.transfer(5_000_000n, { from: person.receiver, to: stranger })
    await dialog.getByText("The chain shows the transfer.").waitFor()
    await dialog.getByRole("button", { name: "Close" }).click()
    await row("$5.00").getByText("Confirmed").waitFor()
    await screenshot(page, "transfer-refunded")
    expect(await page.getByText("Unmatched transfer of $5.00").count()).toBe(1)
    await page.getByText("Unmatched transfer of $5.00").click()
    await row("$5.00").getByText("Marked as handled by").waitFor()
    await row("$5.00").getByText("Details and refunds").click()
    await row("$5.00").getByText("Confirmed").waitFor()
    await screenshot(page, "transfers-handled")
    await expectNoAxeViolations(page)
    // A handled transfer can be refunded as well, because its remainder may never come.
    await row("$0.01").getByText("Details and refunds").click()
    await row("$0.01").getByRole("button", { name: "Refund", exact: true }).click()
    await page.getByRole("button", { name: "Continue" }).click()
    const small = page.getByRole("dialog", { name: "Refund $0.01" })
    await small.getByText("Waiting for the transfer").waitFor()
    await small.getByRole("button", { name: "Close" }).click()
    await page.reload()
    await row("$0.01").getByText("Details and refunds").click()
    await row("$0.01").getByRole("button", { name: "Cancel the refund of $0.01" }).waitFor()
    const settled = await person.call("GET", `/merchants/${person.merchantId}/test/payments/${payment.id}`)
    expect(settled.body.payment.status).toBe("settled")
    await context.close()
  })

  browserTest("a link requests the remainder of a payment", async () => {
    const person = await signUp(service.baseUrl)
    const shop = await makeShop(service, { ...person, id: person.merchantId })
    const { payment } = (await shop.open("30.00")).body
    const hash = await shop.transfer(29_500_000n)
    await shop.report(payment.id, hash, 30_000_000n)
    const context = await newContext({ width: 360 })
    const [name = "", value = ""] = person.cookie.split("=")
    await context.addCookies([{ name, value, url: service.baseUrl }])
    const page = await context.newPage()
    await page.goto(`${service.baseUrl}/dashboard/${person.merchantId}/test/alerts`)
    await page.getByText("Unmatched transfer of $29.50").click({ timeout: 30_000 })
    await page.getByText("A report contains this transaction").waitFor()
    await page.getByRole("button", { name: `the outstanding amount of ${payment.refCode}` }).click()
    await page.getByText("Send the buyer this link").waitFor()
    await expectNoAxeViolations(page)
    await screenshot(page, "transfers-rest")
    const { links } = (await person.call("GET", `/merchants/${person.merchantId}/test/payment-links`)).body
    expect(links[0]).toMatchObject({
      amount: "0.50",
      once: true,
      description: `Outstanding amount of ${payment.refCode}`
    })
    // Everybody else who requests the remainder gets the same link; a closed one is replaced.
    const transfers = (
      await person.call("GET", `/merchants/${person.merchantId}/test/incoming-transfers?status=open`)
    ).body.transfers
    const ask = (incomingTransferId: string) =>
      person.call("POST", `/merchants/${person.merchantId}/test/payment-links/remainder`, {
        description: "Rest",
        amount: "0.50",
        once: true,
        incomingTransferId
      })
    const again = await Promise.all(Array.from({ length: 8 }, () => ask(transfers[0]?.id ?? "")))
    expect(new Set(again.map(({ body }) => body.url))).toEqual(new Set([links[0]?.url ?? ""]))
    await person.call("DELETE", `/merchants/${person.merchantId}/test/payment-links/${links[0]?.id}`)
    const anew = await Promise.all(Array.from({ length: 8 }, () => ask(transfers[0]?.id ?? "")))
    expect(new Set(anew.map(({ body }) => body.url)).size).toBe(1)
    expect(anew[0]?.body.url).not.toBe(links[0]?.url)
    expect((await ask("00000000-0000-4000-8000-000000000000")).status).toBe(404)
    await context.close()
  })
})
