// The books in a real browser: a month that balances, transfers to explain, files, the time zone.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from "bun:test"
import { readFileSync } from "node:fs"
import { Effect, Exit, Scope } from "effect"
import { buyer, makeShop, stranger } from "../platform/http/shop.ts"
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

describe("Books in the dashboard", () => {
  const scope = Effect.runSync(Scope.make())
  let service: TestService

  beforeAll(async () => {
    if (!hasChromium) return
    service = await Effect.runPromise(Scope.provide(startService(testDatabase), scope))
  }, 120_000)
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)), 120_000)

  browserTest("a person can read a month, compare it with the chain, print it and export it", async () => {
    const person = await signUp(service.baseUrl)
    const shop = await makeShop(service, { ...person, id: person.merchantId })
    const { payment } = await shop.settle("1240.00", 1_240_000_000n)
    await shop.settle("60.00", 60_000_000n)
    await shop.transfer(2_500_000n, { from: stranger })
    const transactionId = await shop.transfer(40_000_000n, { from: person.receiver, to: buyer })
    const at = `/merchants/${person.merchantId}/test`
    await person.call("POST", `${at}/refunds`, { paymentId: payment.id, amount: "40", transactionId })

    const context = await newContext({ width: 1280 })
    const [name = "", value = ""] = person.cookie.split("=")
    await context.addCookies([{ name, value, url: service.baseUrl }])
    const page = await context.newPage()
    await page.goto(`${service.baseUrl}/dashboard/${person.merchantId}/test/books`)
    await page.getByRole("row", { name: /Payments received · 2 transfers \+\$1,300\.00/ }).waitFor()
    await page.getByRole("row", { name: /Refunds sent · 1 transfer −\$40\.00/ }).waitFor()
    await page.getByRole("row", { name: /Closing balance \$1,302\.50/ }).waitFor()
    await page.getByText("Reconciled").waitFor()
    await page.getByRole("row", { name: /Unmatched \+\$2\.50/ }).waitFor()
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme })
      for (const width of [360, 1280]) {
        await page.setViewportSize({ width, height: 900 })
        expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true)
        await screenshot(page, `books-${colorScheme}-${width}`)
      }
      await expectNoAxeViolations(page)
    }
    await page.emulateMedia({ media: "print", colorScheme: "light" })
    expect(await page.getByRole("button", { name: "Print" }).isVisible()).toBe(false)
    await screenshot(page, "books-print")
    await page.emulateMedia({ media: "screen" })

    const download = page.waitForEvent("download")
    await page.getByRole("link", { name: "Export", exact: true }).click()
    const file = await (await download).path()
    expect(readFileSync(file, "utf8")).toContain(payment.refCode)

    await page.getByRole("button", { name: "Change" }).click()
    await page.getByLabel("Time zone").fill("Mars/Base")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("a time zone’s name").or(page.getByText("a time zone's name")).waitFor()
    await page.getByLabel("Time zone").fill("Asia/Tokyo")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Days are in the time zone Asia/Tokyo").first().waitFor()

    await page.getByRole("link", { name: "Last month" }).click()
    await page.getByText("Every transfer of the period is a payment or a refund.").waitFor()
    await context.close()
  })
})
