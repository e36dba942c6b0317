// Every page in a real browser, at both widths and in both themes: accessible, nothing cut off, nothing blocked by the
// content security policy.

import { describe, expect, setDefaultTimeout } from "bun:test"
import type { BrowserContext, Page } from "playwright-core"
import { browserSuite, expectNoAxeViolations, newContext, screenshot } from "../support/browser.ts"
import { serviceForFile } from "../support/forFile.ts"
import { password, receiver, request } from "./person.ts"
import { populate } from "./populated.ts"

setDefaultTimeout(60_000)

const browserTest = browserSuite()

const service = await serviceForFile()
const populated = await populate(service)

describe("Pages of the dashboard", () => {
  const all = [
    { width: 360, colorScheme: "light" },
    { width: 1280, colorScheme: "dark" },
    { width: 360, colorScheme: "dark" },
    { width: 1280, colorScheme: "light" }
  ] as const
  // Each width and each theme once, in alternation; every page in every pair with LOOKS=all.
  const isWhole = process.env["LOOKS"] === "all"
  const views = isWhole ? all : all.slice(0, 2)

  const signedIn = async (context: BrowserContext) => {
    const [name = "", value = ""] = populated.person.cookie.split("=")
    await context.addCookies([{ name, value, url: service.baseUrl }])
  }

  /** The page's complaints while `visit` ran. */
  const complaintsOf = (page: Page): ReadonlyArray<string> => {
    const complaints: Array<string> = []
    page.on("console", (message) => {
      if (message.type() === "error" || /Content Security Policy/i.test(message.text()))
        complaints.push(message.text())
    })
    page.on("pageerror", (error) => complaints.push(String(error)))
    return complaints
  }

  const expectFits = async (page: Page) => {
    const [content, view] = await page.evaluate(() => [
      document.documentElement.scrollWidth,
      document.documentElement.clientWidth
    ])
    expect(content).toBeLessThanOrEqual(view ?? 0)
  }

  /** Path, the heading that shows that it has loaded, and a text from its data. */
  const pages: Readonly<Record<string, () => readonly [string, string, string]>> = {
    overview: () => ["", "Overview", "Settled volume"],
    payments: () => ["/payments", "Payments", "PAY-"],
    "payments-empty": () => ["/payments?search=nothing-like-this", "Payments", "No payments match"],
    "payment-settled": () => [`/payments/${populated.settledId}`, "PAY-", "Verified and settled"],
    "payment-pending": () => [
      `/payments/${populated.pendingId}`,
      "PAY-",
      "A transfer of $24.00 does not match"
    ],
    keys: () => ["/keys", "API keys", "sk_test_"],
    webhooks: () => ["/webhooks", "Webhooks", "shop.example.com"],
    delivery: () => [`/webhooks/${populated.deliveryId}`, "test", "Attempt 1"],
    verify: () => ["/webhooks/verify", "Verify a signature", "Raw body"],
    links: () => ["/links", "Payment links", "Chess lesson"],
    books: () => ["/books", "Books", "Payments received"],
    agents: () => ["/agents", "Agents", "Researcher"],
    agent: () => [`/agents/${populated.agentId}`, "Researcher", "Reserved"],
    alerts: () => ["/alerts", "Needs attention", "Settled transfer no longer on the chain"],
    settings: () => ["/settings", "Settings", "Test receiving address"]
  }

  for (const [turn, { width, colorScheme }] of views.entries()) {
    const view = `${width}px-${colorScheme}`
    const shown = Object.entries(pages).filter((_, index) => isWhole || index % views.length === turn)
    for (const [name, entry] of shown) {
      browserTest(`${name} at ${width} px, ${colorScheme}`, async () => {
        const context = await newContext({ width, colorScheme })
        await signedIn(context)
        const page = await context.newPage()
        const complaints = complaintsOf(page)
        const [path, heading, text] = entry()
        await page.goto(`${service.baseUrl}/dashboard/${populated.person.merchantId}/test${path}`)
        await page.getByRole("heading", { level: 1, name: heading }).waitFor()
        await page.getByText(text).first().waitFor()
        await screenshot(page, `${name}-${view}`)
        await expectFits(page)
        await expectNoAxeViolations(page)
        expect(complaints).toEqual([])
      })
    }

    for (const [name, path, heading] of [
      ["sign-in", "/dashboard/sign-in", "Sign in"],
      ["sign-up", "/dashboard/sign-up", "Create an account"],
      ["welcome", "/dashboard/welcome#token", "Welcome"]
    ] as const) {
      browserTest(`${name} at ${width} px, ${colorScheme}`, async () => {
        const context = await newContext({ width, colorScheme })
        const page = await context.newPage()
        await page.goto(`${service.baseUrl}${path}`)
        await page.getByRole("heading", { level: 1, name: heading }).waitFor()
        await screenshot(page, `${name}-${view}`)
        await expectFits(page)
        await expectNoAxeViolations(page)
      })
    }

    browserTest(`live, empty and missing pages at ${width} px, ${colorScheme}`, async () => {
      const context = await newContext({ width, colorScheme })
      await signedIn(context)
      const page = await context.newPage()
      const live = `${service.baseUrl}/dashboard/${populated.person.merchantId}/live`
      for (const [name, path, text] of [
        ["live-overview", "", "Live payments are closed."],
        ["live-webhooks", "/webhooks", "Register endpoint"],
        ["live-agents", "/agents", "live agents cannot pay"],
        ["live-alerts", "/alerts", "Addresses, keys or members changed"],
        ["missing", `/payments/${populated.settledId}`, "Not found"]
      ] as const) {
        await page.goto(`${live}${path}`)
        await page.getByText(text).first().waitFor()
        await screenshot(page, `${name}-${view}`)
        await expectFits(page)
        await expectNoAxeViolations(page)
      }
    })
  }

  browserTest("dialogs and the phone's menu are accessible too", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const context = await newContext({ width: 360, colorScheme })
      await signedIn(context)
      const page = await context.newPage()
      const test = `${service.baseUrl}/dashboard/${populated.person.merchantId}/test`
      await page.goto(`${test}/keys`)
      await page.getByRole("button", { name: "Create key" }).click()
      await page.getByRole("dialog").waitFor()
      await screenshot(page, `dialog-${colorScheme}`)
      await expectFits(page)
      await expectNoAxeViolations(page)
      await page.keyboard.press("Escape")
      await page.getByRole("dialog").waitFor({ state: "detached" })
      await page.goto(`${test}/agents`)
      await page.getByRole("button", { name: "Create agent" }).click()
      await page.getByLabel("Name").fill("Buyer of forecasts")
      await page.getByLabel("Cap per payment, in USD").fill("1,5")
      await page.getByLabel("Cap per 24 hours, in USD").fill("5")
      await page.getByLabel("Allowed hosts").fill("api.example.com\nhttps://api.example.org/x")
      await page.getByLabel("Allowed payees").fill(`${receiver}\n${receiver.replace("C5", "c5")}`)
      await page.getByRole("dialog").getByRole("button", { name: "Create agent" }).click()
      await page.getByText("Entry 2: Must be a host").waitFor()
      await screenshot(page, `agent-refused-${colorScheme}`)
      await expectFits(page)
      await expectNoAxeViolations(page)
      await page.getByLabel("Cap per payment, in USD").fill("1.5")
      await page.getByLabel("Allowed hosts").fill("api.example.com")
      await page.getByRole("dialog").getByRole("button", { name: "Create agent" }).click()
      await page.getByText("Entry 2: The letters' case breaks the EIP-55 checksum").waitFor()
      await page.getByLabel("Allowed payees").fill(receiver)
      await page.getByRole("dialog").getByRole("button", { name: "Create agent" }).click()
      await page.getByText("Store the key of Buyer of forecasts now").waitFor()
      await screenshot(page, `agent-created-${colorScheme}`)
      await expectFits(page)
      await expectNoAxeViolations(page)
      await page.getByRole("button", { name: "I have stored it" }).click()
      await page.getByRole("dialog").waitFor({ state: "detached" })
      await page.getByRole("button", { name: /^Menu/ }).click()
      await page.getByRole("link", { name: "Settings" }).waitFor()
      await screenshot(page, `menu-${colorScheme}`)
      await expectNoAxeViolations(page)
      await context.close()
    }
  })

  browserTest(
    "without the service a page says so, keeps its data, and recovers without a reload",
    async () => {
      const context = await newContext()
      await signedIn(context)
      const page = await context.newPage()
      await page.goto(`${service.baseUrl}/dashboard/${populated.person.merchantId}/test/payments`)
      await page.getByText("PAY-").first().waitFor()
      await context.setOffline(true)
      await page.getByText("The service is not responding").waitFor()
      expect(await page.getByText("PAY-").count()).toBeGreaterThan(0)
      await screenshot(page, "offline")
      await expectNoAxeViolations(page)
      await context.setOffline(false)
      await page.getByText("The service is not responding").waitFor({ state: "detached" })
    }
  )

  browserTest("a firewall's page is reported as such, for reads and for changes", async () => {
    const context = await newContext()
    await signedIn(context)
    const page = await context.newPage()
    await page.goto(`${service.baseUrl}/dashboard/${populated.person.merchantId}/test/settings`)
    await page.getByRole("button", { name: "Save" }).first().waitFor()
    await page.route("**/dashboard/api/**", (route) =>
      route.fulfill({ status: 403, contentType: "text/html", body: "<h1>403 Forbidden</h1>" })
    )
    await page.getByLabel("Name", { exact: true }).first().fill("O'Brien & Sons")
    await page.getByRole("button", { name: "Save" }).first().click()
    await page.getByText("HTTP 403").getByText("check whether the change was made").first().waitFor()
    await page.goto(`${service.baseUrl}/dashboard/${populated.person.merchantId}/test/payments`)
    await page.getByText("A firewall or proxy answered instead of the service (HTTP 403).").first().waitFor()
  })

  browserTest("a session that ends elsewhere ends the page, and signing in returns to it", async () => {
    const { email, merchantId } = populated.person
    const context = await newContext()
    const page = await context.newPage()
    const signIn = async () => {
      await page.getByRole("heading", { name: "Sign in" }).waitFor()
      await page.getByLabel("Email").fill(email)
      await page.getByLabel("Password").fill(password)
      await page.getByRole("button", { name: "Sign in" }).click()
    }
    await page.goto(`${service.baseUrl}/dashboard/${merchantId}/test/webhooks`)
    await page.getByLabel("Email").fill(email)
    await page.getByLabel("Password").fill("not the password")
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByText("Incorrect email or password").waitFor()
    await signIn()
    await page.getByRole("heading", { level: 1, name: "Webhooks" }).waitFor()
    const [cookie] = await context.cookies()
    await request(service.baseUrl, "POST", "/sign-out", { cookie: `${cookie?.name}=${cookie?.value}` })
    await signIn()
    await page.getByRole("heading", { level: 1, name: "Webhooks" }).waitFor()
  })

  browserTest("a theme chosen by hand is remembered", async () => {
    const context = await newContext({ colorScheme: "light" })
    await signedIn(context)
    const page = await context.newPage()
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    await page.goto(`${service.baseUrl}/dashboard`)
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    const light = await background()
    await page.getByRole("button", { name: "Dark theme" }).click()
    const dark = await background()
    expect(dark).not.toBe(light)
    await page.reload()
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    expect(await background()).toBe(dark)
  })

  browserTest(
    "every payment link is listed, even the oldest, and its day filter covers whole days",
    async () => {
      const { merchantId, call } = populated.person
      for (let made = 0; made < 100; made++)
        await call("POST", `/merchants/${merchantId}/test/payment-links`, {
          description: "Invoice",
          amount: "1.00"
        })
      const context = await newContext()
      await signedIn(context)
      const page = await context.newPage()
      await page.goto(`${service.baseUrl}/dashboard/${merchantId}/test/links`)
      await page.getByText("Invoice").first().waitFor()
      expect(await page.getByText("Chess lesson").count()).toBe(0)
      await page.getByRole("button", { name: "Show older links" }).click()
      await page.getByText("Chess lesson").waitFor()
      await page.getByText("Show older links").waitFor({ state: "detached" })
      expect(await page.locator("tbody tr").count()).toBe(102)
      await screenshot(page, "links-many")

      await page.getByRole("button", { name: "Create link" }).first().click()
      const days = page.getByLabel("Days until it expires")
      for (const [typed, isTaken] of [
        ["7 days", false],
        ["0", false],
        ["-3", false],
        ["7", true],
        ["", true]
      ] as const) {
        await days.fill(typed)
        expect(await days.evaluate((at: HTMLInputElement) => at.checkValidity())).toBe(isTaken)
      }
    }
  )
})
