// The site of / and /docs in a real Chromium: its policy holds, no other host is contacted, search, Copy and the filter
// of errors work, on a desktop and on a phone, in light and dark.
import { expect } from "bun:test"
import type { Page } from "playwright-core"
import {
  axeViolations,
  browserSuite,
  newContext,
  newPage,
  screenshot,
  untilOn
} from "../../support/browser.ts"
import { serviceForFile } from "../../support/forFile.ts"

const inBrowser = browserSuite()
const { baseUrl } = await serviceForFile()

const paths = [
  "/",
  "/docs",
  "/docs/quickstart",
  "/docs/webhooks",
  "/docs/errors",
  "/docs/reference",
  "/docs/reference/payments-report",
  "/docs/reference/webhooks-payment-settled-event"
]

// Built before the browser waits for them, as are the packages that they name.
for (const path of paths) while ((await fetch(`${baseUrl}${path}`)).status === 503) await Bun.sleep(100)

/** The page's requests to other hosts, and the browser's complaints. */
const watched = (page: Page) => {
  const complaints: Array<string> = []
  page.on("request", (request) => {
    if (!request.url().startsWith(baseUrl) && !request.url().startsWith("data:"))
      complaints.push(request.url())
  })
  page.on("console", (message) => {
    if (/error|warning/.test(message.type())) complaints.push(message.text())
  })
  page.on("pageerror", (error) => complaints.push(String(error)))
  return complaints
}

const opened = async (page: Page, path: string) => {
  await page.goto(`${baseUrl}${path}`, { waitUntil: "networkidle" })
  await page.locator("h1").first().waitFor()
}

for (const [width, colorScheme] of [
  [1280, "light"],
  [1280, "dark"],
  [390, "light"],
  [390, "dark"]
] as const)
  inBrowser(
    `at ${width} px, ${colorScheme}: nothing overflows or fails, and no other host is contacted`,
    async () => {
      const page = await newPage({ width, colorScheme })
      const complaints = watched(page)
      for (const path of paths) {
        await opened(page, path)
        expect([path, await page.evaluate("document.documentElement.scrollWidth <= innerWidth")]).toEqual([
          path,
          true
        ])
        expect(await page.evaluate("document.documentElement.classList.contains('dark')")).toBe(
          colorScheme === "dark"
        )
        await screenshot(page, `site${path.replaceAll("/", "-")}-${width}-${colorScheme}`)
      }
      expect(complaints).toEqual([])
    }
  )

inBrowser("search finds an endpoint, and opens it without reloading the page", async () => {
  const page = await newPage()
  const complaints = watched(page)
  await opened(page, "/docs")
  await page.evaluate("globalThis.isSamePage = true")
  await page.keyboard.press("Control+k")
  await page.getByRole("searchbox").fill("create a refund")
  await page.locator(".VPLocalSearchBox .result").first().click()
  await page.waitForURL(/\/docs\/reference\/refunds-create/)
  await untilOn(page, "document.querySelector('h1').textContent.includes('Create a refund')")
  expect(await page.evaluate("globalThis.isSamePage")).toBe(true)
  expect(complaints).toEqual([])
})

inBrowser("Copy copies the command, with this service's address in it", async () => {
  const context = await newContext()
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: baseUrl })
  const page = await context.newPage()
  await opened(page, "/docs/reference/payment-intents-create")
  await page.locator("div.language-sh").first().hover()
  await page.locator("div.language-sh button.copy").first().click()
  await untilOn(page, "document.querySelector('button.copy.copied') !== null")
  const copied = String(await page.evaluate("navigator.clipboard.readText()"))
  expect(copied).toStartWith("curl -X POST http://localhost:8787/api/v1/payment-intents \\\n")
  expect(copied).toContain('"amount": "10.00"')
})

inBrowser("the error filter leaves the codes that match, and a link to a code leads to it", async () => {
  const page = await newPage()
  await opened(page, "/docs/errors")
  const shown = async () => page.locator(".error-entry:visible").count()
  const all = await shown()
  expect(all).toBeGreaterThan(60)
  await page.getByLabel("Filter").fill("intent token expired")
  await untilOn(page, "document.querySelectorAll('.error-entry:not([hidden])').length < 5")
  expect(await page.locator("#INTENT_TOKEN_EXPIRED").isVisible()).toBe(true)
  expect(await page.locator("#RATE_LIMITED").isVisible()).toBe(false)
  expect(await page.locator(".error-index a:visible").count()).toBe(await shown())
  await page.getByLabel("Filter").fill("zzz")
  await page.getByText("No code matches.").waitFor()
  await page.getByLabel("Filter").fill("")
  expect(await shown()).toBe(all)
  await opened(page, "/docs/errors#RATE_LIMITED")
  await untilOn(page, "Math.abs(document.getElementById('RATE_LIMITED').getBoundingClientRect().top) < 300")
})

inBrowser("the reader can choose the colour scheme, and the next page keeps it", async () => {
  const page = await newPage()
  await opened(page, "/docs")
  await page.locator(".VPSwitchAppearance").first().click()
  await untilOn(page, "document.documentElement.classList.contains('dark')")
  await opened(page, "/docs/errors")
  expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(14, 15, 19)")
})

inBrowser("on a phone the navigation opens, and a link leads back to the dashboard", async () => {
  const page = await newPage({ width: 390, height: 844 })
  await opened(page, "/docs/quickstart")
  const title = await page.locator("h1").boundingBox()
  expect(title?.y).toBeLessThan(250)
  await page.locator(".VPNavBarHamburger").click()
  const link = page.locator(".VPNavScreen a[href='/dashboard']")
  await link.click()
  await page.waitForURL(/\/dashboard/)
})

for (const colorScheme of ["light", "dark"] as const)
  inBrowser(`axe finds no violation, ${colorScheme}`, async () => {
    const page = await newPage({ colorScheme })
    const faults: Array<string> = []
    for (const path of [
      "/",
      "/docs",
      "/docs/quickstart",
      "/docs/errors",
      "/docs/reference/payments-report"
    ]) {
      await opened(page, path)
      for (const fault of await axeViolations(page)) {
        // The search button shows its shortcut key next to its name.
        if (!fault.startsWith("label-content-name-mismatch: ") || !fault.includes(".DocSearch"))
          faults.push(`${path}: ${fault}`)
      }
    }
    expect(faults).toEqual([])
  })
