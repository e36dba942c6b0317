// The dashboard under a browser's page translation: changes are shown, and data is not translated.
import { describe, expect, setDefaultTimeout } from "bun:test"
import type { Page } from "playwright-core"
import { makeShop } from "../platform/http/shop.ts"
import { browserSuite } from "../support/browser.ts"
import { serviceForFile } from "../support/forFile.ts"
import { translatable, translatePage } from "../support/translatePage.ts"
import { signUp } from "./person.ts"
import { signedIn } from "./signedIn.ts"

setDefaultTimeout(90_000)

const browserTest = browserSuite()
const service = await serviceForFile()

const errorsOf = (page: Page) => {
  const errors: Array<string> = []
  page.on("pageerror", (error) => errors.push(error.message))
  return errors
}

describe("A translated dashboard", () => {
  for (const all of [false, true]) {
    browserTest(`shows changes${all ? ", also if everything is translated" : ""}`, async () => {
      const person = await signUp(service.baseUrl)
      const shop = await makeShop(service, { ...person, id: person.merchantId })
      const { payment } = (await shop.open("12.34")).body
      const page = await signedIn(service.baseUrl, person.cookie, { width: 1280 })
      const errors = errorsOf(page)
      const at = (path: string) => `${service.baseUrl}/dashboard/${person.merchantId}/test${path}`
      await page.goto(at("/payments"))
      await page.getByRole("link", { name: payment.refCode }).waitFor()
      await translatePage(page, { all })

      // A new row, and a changed one.
      const second = (await shop.open("56.78")).body.payment
      await page.getByRole("link", { name: second.refCode }).waitFor()
      await page.getByRole("link", { name: payment.refCode }).click()
      await page.getByRole("heading", { name: payment.refCode }).waitFor()
      await page.locator(".payment-head").getByText("Not started").waitFor()
      const hash = await shop.transfer(12_340_000n)
      expect((await shop.report(payment.id, hash, 12_340_000n)).status).toBe(200)
      await page.locator(".payment-head").getByText("Settled").waitFor()
      expect(await page.locator(".payment-head").textContent()).not.toContain("Not started")

      // Through every page and back, with the translated texts on each.
      const links = page.getByRole("navigation").first().getByRole("link")
      const count = await links.count()
      for (let index = 0; index < count; index++) {
        await links.nth(index).click()
        await page.locator("main h1").first().waitFor()
      }
      await page.goto(at(""))
      await page.getByText("$12.34").first().waitFor()
      await translatePage(page, { all })
      const more = (await shop.open("100.00")).body.payment
      const next = await shop.transfer(100_000_000n)
      expect((await shop.report(more.id, next, 100_000_000n)).status).toBe(200)
      await page.getByText("$112.34").first().waitFor()
      expect(errors).toEqual([])
    })
  }

  browserTest("leaves amounts, codes, hashes, times and statuses untranslated", async () => {
    const person = await signUp(service.baseUrl)
    const shop = await makeShop(service, { ...person, id: person.merchantId })
    const { payment, transactionId } = await shop.settle("98.76", 98_760_000n)
    const page = await signedIn(service.baseUrl, person.cookie, { width: 1280 })
    const data = ["98.76", payment.refCode, payment.id.slice(0, 8), transactionId.slice(0, 8)]
    for (const path of ["/payments", `/payments/${payment.id}`]) {
      await page.goto(`${service.baseUrl}/dashboard/${person.merchantId}/test${path}`)
      await page.getByText("$98.76").first().waitFor()
      const texts = await translatable(page)
      for (const one of data) expect(texts).not.toContain(one)
      expect(await page.locator(".badge:not([translate=no]), time:not([translate=no])").count()).toBe(0)
    }
  })
})
