// The payments' page in a real browser: search by typing and by keyboard, sorting, and the address as its state.

import { describe, expect, setDefaultTimeout } from "bun:test"
import { makeShop } from "../platform/http/shop.ts"
import { browserSuite, expectNoAxeViolations, screenshot } from "../support/browser.ts"
import { serviceForFile } from "../support/forFile.ts"
import { signUp } from "./person.ts"
import { signedIn } from "./signedIn.ts"

setDefaultTimeout(60_000)

const browserTest = browserSuite()

const service = await serviceForFile()

describe("Finding payments in the dashboard", () => {
  browserTest("works by typing, by keyboard only, and by the address", async () => {
    const person = await signUp(service.baseUrl)
    const shop = await makeShop(service, { ...person, id: person.merchantId })
    for (let count = 1; count <= 22; count++) await shop.open(`${count}.00`)
    const { payment } = await shop.settle("99.50", 99_500_000n)
    const page = await signedIn(service.baseUrl, person.cookie, { width: 1280 })
    const at = (path: string) => `${service.baseUrl}/dashboard/${person.merchantId}/test${path}`
    const rows = page.locator("main a.row-link")
    const codes = () => rows.allInnerTexts()
    /** Waits until the one payment is the only row, or the first one. */
    const shows = async (
      of: (all: ReadonlyArray<string>) => ReadonlyArray<string | undefined> = (all) => all
    ) => {
      for (let tries = 0; tries < 300 && of(await codes()).join() !== payment.refCode; tries++)
        await Bun.sleep(100)
      expect(of(await codes())).toEqual([payment.refCode])
    }
    await page.goto(at("/payments"))
    await rows.first().waitFor({ timeout: 30_000 })
    expect(await rows.count()).toBe(20)
    await screenshot(page, "payments-many-1280")
    await expectNoAxeViolations(page)

    // Keyboard: search, rows, opening, and back to the same rows.
    await page.keyboard.press("/")
    await page.keyboard.type(payment.refCode.slice(0, 8))
    await page.keyboard.press("Enter")
    await page.getByRole("link", { name: payment.refCode }).waitFor()
    await shows()
    expect(page.url()).toContain(`search=${payment.refCode.slice(0, 8)}`)
    await page.evaluate("document.activeElement.blur()")
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: payment.refCode }).waitFor()
    await page.goBack()
    await page.getByRole("link", { name: payment.refCode }).waitFor()
    await shows()

    // The address contains sort, filters and page.
    await page.goto(at("/payments"))
    await page.getByRole("link", { name: "Amount" }).click()
    await page
      .getByRole("columnheader", { name: "Amount" })
      .and(page.locator("[aria-sort=descending]"))
      .waitFor()
    await page.getByText("$99.50").waitFor()
    await shows(([first]) => [first])
    await page.getByRole("button", { name: "Next page" }).click()
    await page.getByText("$1.00", { exact: true }).waitFor()
    await page.getByRole("link", { name: "Not started" }).click()
    await page.getByText("$22.00").waitFor()
    expect(page.url()).toContain("status=incomplete")
    expect(page.url()).toContain("sort=largest")
    expect(page.url()).not.toContain("startingAfter")
    await page.reload()
    await page.getByText("$22.00").waitFor()
    const today = new Date().toISOString().slice(0, 10)
    await page.getByLabel("To", { exact: true }).fill("2020-01-01")
    await page.getByText("No payments match").waitFor()
    await page.getByRole("link", { name: "All days" }).click()
    await page.getByText("$22.00").waitFor()
    await page.getByLabel("From").fill(today)
    await page.waitForURL(/from=/)
    await page.getByText("$22.00").waitFor()

    // A search that cannot match says what can be searched for.
    await page.keyboard.press("Escape")
    await page.getByRole("searchbox").fill("two words")
    await page.keyboard.press("Enter")
    await page.getByText("Type an amount, or the beginning of a reference code").waitFor()

    // The command palette.
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox").waitFor()
    await screenshot(page, "palette-1280")
    await expectNoAxeViolations(page)
    await page.keyboard.type("webh")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Webhooks", level: 1 }).waitFor()
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox").waitFor()
    await page.keyboard.type("99.5")
    await page.keyboard.press("Enter")
    await page.getByText("$99.50").waitFor()
    await shows()
    await page.keyboard.press("?")
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor()
    await screenshot(page, "keys-1280")
    await page.keyboard.press("Escape")

    await page.goto(at("/payments?search=nothing%20here"))
    for (const width of [390, 768]) {
      for (const theme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme: theme })
        await page.setViewportSize({ width, height: 900 })
        await page.goto(at("/payments"))
        await rows.first().waitFor()
        expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true)
        await screenshot(page, `payments-${width}-${theme}`)
        await expectNoAxeViolations(page)
      }
    }
  })
})
