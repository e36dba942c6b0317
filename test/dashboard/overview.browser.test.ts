// The overview in a real browser: periods in the address, the chart by keyboard, and updates without a reload.

import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { makeShop } from "../platform/http/shop.ts"
import { browserSuite, expectNoAxeViolations, newContext, screenshot } from "../support/browser.ts"
import { serviceForFile } from "../support/forFile.ts"
import { signUp } from "./person.ts"
import { signedIn } from "./signedIn.ts"

setDefaultTimeout(60_000)

const browserTest = browserSuite()

const service = await serviceForFile()

describe("The overview", () => {
  browserTest("shows a period's figures, and each day's values by pointer and by keyboard", async () => {
    const person = await signUp(service.baseUrl)
    const shop = await makeShop(service, { ...person, id: person.merchantId })
    for (let ago = 0; ago < 9; ago++) {
      const { payment } = await shop.settle(
        `${(ago % 4) * 100 + 20}.00`,
        BigInt((ago % 4) * 100 + 20) * 1_000_000n
      )
      await Effect.runPromise(
        Effect.provideContext(
          Effect.flatMap(
            SqlClient.SqlClient,
            (sql) => sql`UPDATE payments SET settled_at = settled_at - ${ago}::integer * interval '24 hours',
              created_at = created_at - ${ago}::integer * interval '24 hours' - interval '40 seconds' WHERE id = ${payment.id}`
          ),
          service.context
        ).pipe(Effect.orDie)
      )
    }
    await shop.open("5.00")
    const page = await signedIn(service.baseUrl, person.cookie, { width: 1280 })
    await page.goto(`${service.baseUrl}/dashboard/${person.merchantId}/test`)
    await page.getByText("9 payments").waitFor({ timeout: 30_000 })
    await page.getByText("95% within 4").first().waitFor()
    await page.getByText("and 1 not started").waitFor()
    const caption = page.locator("figcaption")

    // Arrow keys: the last day first, then the earlier ones.
    await page.getByRole("slider", { name: "Day" }).focus()
    await caption.getByText("$20.00 in 1 payment").waitFor()
    await page.keyboard.press("ArrowLeft")
    await caption.getByText("$120.00 in 1 payment").waitFor()
    expect(await page.getByRole("slider").getAttribute("aria-valuetext")).toContain("$120.00 in 1 payment")
    await screenshot(page, "overview-keys-1280")
    await page.locator("svg .day").nth(27).locator(".volume").hover()
    await caption.getByText("$220.00 in 1 payment").waitFor()

    // On a phone the whole plot is visible, with today's bar at its end.
    await page.setViewportSize({ width: 390, height: 844 })
    const bar = await page.locator("svg .day").last().locator(".volume").boundingBox()
    expect((bar?.x ?? 999) + (bar?.width ?? 0)).toBeLessThanOrEqual(390)
    await screenshot(page, "overview-390")
    await page.setViewportSize({ width: 1280, height: 800 })

    await page.getByRole("link", { name: "7 days" }).click()
    await page.getByText("7 payments", { exact: true }).waitFor()
    expect(page.url()).toContain("from=")
    await page.reload()
    await page.getByText("7 payments", { exact: true }).waitFor()
    const today = new Date().toISOString().slice(0, 10)
    await page.getByLabel("From").fill(today)
    await page.getByText("1 payment", { exact: true }).waitFor()
    await page.goBack()
    await page.getByText("7 payments", { exact: true }).waitFor()
    await page.getByRole("link", { name: "90 days" }).click()
    await page.getByText("9 payments", { exact: true }).waitFor()
    await page.getByText("As a table").click()
    expect(await page.locator("details table tbody tr").count()).toBe(9)

    for (const width of [390, 768, 1280])
      for (const theme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme: theme })
        await page.setViewportSize({ width, height: 900 })
        expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true)
        await screenshot(page, `overview-many-${width}-${theme}`)
        await expectNoAxeViolations(page)
      }

    // The name of the environment stays visible.
    for (const [env, words] of [
      ["test", "Test"],
      ["live", "Live"]
    ] as const) {
      await page.goto(`${service.baseUrl}/dashboard/${person.merchantId}/${env}`)
      const strip = page.locator('.env-switch [aria-current="true"]')
      await strip.getByText(words, { exact: true }).waitFor()
      await page.setViewportSize({ width: 390, height: 500 })
      await page.evaluate("scrollTo(0, 600)")
      const box = await strip.boundingBox()
      expect(box !== null && box.y >= 0 && box.y < 500).toBe(true)
    }
  })

  browserTest(
    "updates by events, without requests in between, and by a timer if no events arrive",
    async () => {
      const person = await signUp(service.baseUrl)
      const shop = await makeShop(service, { ...person, id: person.merchantId })
      await shop.settle("1.00", 1_000_000n)
      for (const hasEvents of [true, false]) {
        const context = await newContext({ width: 1280 })
        const [name = "", value = ""] = person.cookie.split("=")
        await context.addCookies([{ name, value, url: service.baseUrl }])
        if (!hasEvents) await context.route("**/changes", (route) => route.abort())
        const page = await context.newPage()
        let asked = 0
        page.on("request", (request) => {
          if (request.url().endsWith("/overview")) asked++
        })
        await page.goto(`${service.baseUrl}/dashboard/${person.merchantId}/test`)
        await page
          .getByText(hasEvents ? "1 payment" : "2 payments", { exact: true })
          .waitFor({ timeout: 30_000 })
        if (hasEvents) {
          // The events of the page's own opening may be late.
          for (let before = -1, tries = 0; before !== asked && tries < 12; tries++) {
            before = asked
            await page.waitForTimeout(2_500)
          }
          const before = asked
          await page.waitForTimeout(6_000)
          expect(asked).toBe(before)
        } else {
          const before = asked
          for (let tries = 0; tries < 300 && asked === before; tries++) await page.waitForTimeout(100)
          expect(asked).toBeGreaterThan(before)
        }
        await shop.settle("1.00", 1_000_000n)
        await page
          .getByText(hasEvents ? "2 payments" : "3 payments", { exact: true })
          .waitFor({ timeout: 30_000 })
        await context.close()
      }
    }
  )
})
