// A buyer leaves an address on the receipt's page and gets the receipt by mail, from a real SMTP server: once,
// in their language; without a mail server nothing is asked.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { makeShop } from "../../platform/http/shop.ts"
import { smtpServer } from "../../platform/mail/smtpServer.ts"
import { browserSuite, expectNoAxeViolations, newContext, screenshot } from "../../support/browser.ts"
import { forFile, serviceForFile } from "../../support/forFile.ts"

setDefaultTimeout(60_000)

const browserTest = browserSuite()

const { port, taken } = await forFile(smtpServer(() => undefined))
const smtp = Option.some({ url: Redacted.make(`smtp://127.0.0.1:${port}`), from: "pay@example.com" })
const service = await serviceForFile({ smtp })
const shop = await makeShop(service)

describe("Receipts by email", () => {
  const receiptId = async () => {
    const { payment } = await shop.settle()
    const answer = await shop.call({
      method: "POST",
      path: `/api/v1/payments/${payment.id}/receipt`,
      key: shop.keys.publishable
    })
    return new URL(JSON.parse(answer.text).url).pathname.split("/").at(-1) ?? ""
  }
  const ask = (id: string, email: string, language = "en") =>
    fetch(`${service.baseUrl}/api/v1/receipts/${id}/mail`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email, language })
    }).then(({ status }) => status)
  const arrived = async (count: number) => {
    for (let tries = 0; tries < 400 && taken.length < count; tries++) await Bun.sleep(50)
    return taken.map(({ to }) => to.join())
  }

  test("is sent once to an address, to three at most, and to none for an unknown receipt", async () => {
    const id = await receiptId()
    expect(await Promise.all([1, 2, 3].map(() => ask(id, "buyer@example.com", "de")))).toEqual([
      204, 204, 204
    ])
    expect(await arrived(1)).toEqual(["buyer@example.com"])
    expect(taken[0]?.text).toContain("Ihr Beleg von Shop (test)")
    expect(taken[0]?.text).toContain("Testzahlung: Es floss kein echtes Geld.")
    for (const name of ["b", "c", "d", "e"]) await ask(id, `${name}@example.com`)
    expect((await arrived(3)).sort()).toEqual(["b@example.com", "buyer@example.com", "c@example.com"])
    await Bun.sleep(2_500)
    expect(taken).toHaveLength(3)
    expect(await ask("A".repeat(24), "buyer@example.com")).toBe(404)
    expect(await ask(id, "no address")).toBe(400)
    const kept = await Effect.runPromise(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`SELECT receipt_id, encode(address_hash, 'escape') AS hash FROM receipt_mails`
      ).pipe(Effect.provideContext(service.context))
    )
    expect(JSON.stringify(kept)).not.toContain("example.com")
    // Further requests are refused for a while.
    const further = await Promise.all([1, 2, 3].map(() => ask(id, "f@example.com")))
    expect(further.toSorted()).toEqual([204, 204, 429])
  })

  for (const look of [
    { width: 1280, colorScheme: "light", locale: "en-US" },
    { width: 390, colorScheme: "dark", locale: "ar" }
  ] as const)
    browserTest(`can be requested on the page, at ${look.width} px in ${look.locale}`, async () => {
      const id = await receiptId()
      const context = await newContext(look)
      const page = await context.newPage()
      await page.route("**/api/v1/receipts/*/mail", (route) => route.fulfill({ status: 204 }))
      await page.goto(`${service.baseUrl}/receipt/${id}`)
      await page.locator("#email").fill("buyer@example.com")
      await screenshot(page, `receipt-mail-${look.width}`)
      await expectNoAxeViolations(page)
      const asked = page.waitForRequest("**/api/v1/receipts/*/mail")
      await page.locator("#mail button").click()
      expect((await asked).postDataJSON()).toEqual({
        email: "buyer@example.com",
        language: look.locale.slice(0, 2)
      })
      await page
        .getByText(look.locale === "ar" ? "الإيصال في طريقه إليك." : "The receipt is on its way.")
        .waitFor()
      await page.emulateMedia({ media: "print" })
      expect(await page.locator("#email").isVisible()).toBeFalse()
      await page.emulateMedia({ media: "screen" })
      await page.goto(`${service.baseUrl}/receipt/${"A".repeat(24)}`)
      await page.locator("#verified.bad").waitFor()
      expect(await page.locator("#email").isVisible()).toBeFalse()
    })
})
