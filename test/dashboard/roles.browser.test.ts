// In a real browser: each role sees the buttons for what it may do, and none for what would be refused.

import { describe, expect, setDefaultTimeout } from "bun:test"
import { browserSuite, expectNoAxeViolations, newContext, screenshot } from "../support/browser.ts"
import { serviceForFile } from "../support/forFile.ts"
import { agentForm, colleagueOf, password, request, signUp } from "./person.ts"

setDefaultTimeout(60_000)

const browserTest = browserSuite()

/** The buttons of each page, by role; a page that is not listed has none. */
const offered = {
  owner: {
    keys: ["Create key", "Rotate", "Revoke"],
    links: ["Create link", "Close link"],
    webhooks: ["Send test event", "Delete"],
    agents: ["Create agent"],
    settings: ["Change address", "Invite", "Save profile", "Leave"],
    alerts: ["Acknowledge"]
  },
  developer: {
    keys: ["Create key", "Rotate", "Revoke"],
    links: ["Create link", "Close link"],
    webhooks: ["Send test event", "Delete"],
    agents: ["Create agent"],
    settings: ["Leave"],
    alerts: ["Acknowledge"]
  },
  support: {
    keys: [],
    links: ["Create link", "Close link"],
    webhooks: [],
    agents: [],
    settings: ["Leave"],
    alerts: ["Acknowledge"]
  },
  read_only: { keys: [], links: [], webhooks: [], agents: [], settings: ["Leave"], alerts: [] }
} as const
const all = [...new Set(Object.values(offered.owner).flat())]

const service = await serviceForFile()
const cookies = new Map<string, string>()
const emails = new Map<string, string>()
const owner = await signUp(service.baseUrl)
const merchantId = owner.merchantId
const at = `/merchants/${merchantId}/test`
await owner.call("POST", `${at}/webhook-endpoint`, { url: "https://shop.example.com/hook" })
await owner.call("POST", `${at}/payment-links`, { description: "Chess lesson", amount: "1.00" })
await owner.call("POST", `${at}/agents`, agentForm)
cookies.set("owner", owner.cookie)
for (const role of ["developer", "support", "read_only"]) {
  const { cookie, email } = await colleagueOf(service.baseUrl, owner, role)
  cookies.set(role, cookie)
  emails.set(role, email)
}

describe("the buttons of each role", () => {
  for (const [role, pages] of Object.entries(offered))
    browserTest(`as ${role}`, async () => {
      const context = await newContext({ width: 390, colorScheme: role === "support" ? "dark" : "light" })
      const [name = "", value = ""] = (cookies.get(role) ?? "").split("=")
      await context.addCookies([{ name, value, url: service.baseUrl }])
      const page = await context.newPage()
      for (const [path, names] of Object.entries(pages)) {
        await page.goto(`${service.baseUrl}/dashboard/${merchantId}/test/${path}`)
        await page.locator("main .card").first().waitFor()
        const seen = async () => {
          const shown = await page.locator("main button").allTextContents()
          return all.filter((one) => shown.some((text) => text.trim() === one)).toSorted()
        }
        // Each card has a request of its own.
        const end = Date.now() + 30_000
        while ((await seen()).length < names.length && Date.now() < end) await Bun.sleep(50)
        await page.waitForLoadState("networkidle")
        expect({ path, seen: await seen() }).toEqual({ path, seen: [...names].toSorted() })
        await expectNoAxeViolations(page)
        await screenshot(page, `role-${role}-${path}`)
      }
    })

  browserTest("an invitation opened in the tab of a withdrawn one is redeemed", async () => {
    const at = `/merchants/${merchantId}/test/members`
    const owner = { cookie: cookies.get("owner") ?? "" }
    const invited = async () => {
      const body = { email: "late@example.com", role: "support" }
      const { link } = (await request(service.baseUrl, "POST", at, { ...owner, body })).body
      return `${service.baseUrl}/dashboard/welcome#${link.split("#")[1]}`
    }
    const context = await newContext()
    const page = await context.newPage()
    const redeem = async () => {
      await page.getByLabel("Password").fill(password)
      await page.getByRole("button", { name: "Continue" }).click()
    }
    await page.goto(await invited())
    await page.getByLabel("Password").waitFor()
    const { body } = await request(service.baseUrl, "GET", at.replace("/members", "/settings"), owner)
    await request(service.baseUrl, "DELETE", `${at}/invitations/${body.invitations[0]?.id}`, owner)
    const link = await invited()
    await redeem()
    await page.getByRole("alert").waitFor()
    await page.goto(link)
    await redeem()
    await page.getByRole("heading", { name: "Overview" }).waitFor()
  })

  browserTest(
    "a deep link leads through the sign-in to its page, and Back leaves the dashboard",
    async () => {
      const context = await newContext()
      const page = await context.newPage()
      const deep = `${service.baseUrl}/dashboard/${merchantId}/test/payments?status=settled`
      await page.goto(deep)
      await page.getByLabel("Email").fill(emails.get("developer") ?? "")
      await page.getByLabel("Password").fill(password)
      await page.getByRole("button", { name: "Sign in", exact: true }).click()
      await page.getByRole("heading", { name: "Payments" }).waitFor()
      expect(page.url()).toBe(deep)
      await page.goBack()
      expect(page.url()).toBe("about:blank")
      await page.goto(`${service.baseUrl}/dashboard`)
      await page.getByRole("heading", { name: "Overview" }).waitFor()
      await page.goBack()
      expect(page.url()).toBe("about:blank")
    }
  )

  browserTest(
    "a member whose role changes while a form is open is told so, and sees only the new role's buttons",
    async () => {
      const at = `/merchants/${merchantId}/test`
      const owner = { cookie: cookies.get("owner") ?? "" }
      const { members } = (await request(service.baseUrl, "GET", `${at}/settings`, owner)).body
      const of = (members as ReadonlyArray<{ readonly id: string; readonly email: string }>).find(
        ({ email }) => email === emails.get("developer")
      )
      const becomes = (role: string) =>
        request(service.baseUrl, "PUT", `${at}/members/${of?.id}/role`, { ...owner, body: { role } })
      const context = await newContext()
      const [name = "", value = ""] = (cookies.get("developer") ?? "").split("=")
      await context.addCookies([{ name, value, url: service.baseUrl }])
      const page = await context.newPage()
      await page.goto(`${service.baseUrl}/dashboard/${merchantId}/test/keys`)
      await page.getByRole("button", { name: "Create key" }).click()
      await becomes("read_only")
      await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click()
      await page.getByRole("dialog").getByRole("alert").waitFor()
      await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click()
      await page.getByRole("button", { name: "Create key" }).waitFor({ state: "detached" })
      expect(await page.getByRole("button", { name: /^(Rotate|Revoke)/ }).count()).toBe(0)
      await becomes("developer")
    }
  )

  browserTest("a dialog does not show the error of an earlier one", async () => {
    const context = await newContext({ width: 1280 })
    const [name = "", value = ""] = (cookies.get("owner") ?? "").split("=")
    await context.addCookies([{ name, value, url: service.baseUrl }])
    const page = await context.newPage()
    await page.goto(`${service.baseUrl}/dashboard/${merchantId}/test/keys`)
    const dialog = page.getByRole("dialog")
    const act = (what: string) => dialog.getByRole("button", { name: what, exact: true }).click()
    const refused = { error: { code: "X", message: "Refused here.", requestId: "r", retryable: false } }
    let answer = Promise.resolve()
    await page.route("**/rotate", async (route) => {
      await answer
      await route.fulfill({ status: 409, json: refused })
    })
    await page
      .getByRole("button", { name: /^Rotate/ })
      .first()
      .click()
    await act("Rotate key")
    await dialog.getByText("Refused here.").waitFor()
    await act("Cancel")
    await page
      .getByRole("button", { name: /^Rotate/ })
      .last()
      .click()
    await dialog.getByText("You get a new key").waitFor()
    expect(await page.getByText("Refused here.").count()).toBe(0)
    // An answer that arrives after its dialog has closed is shown outside the next one.
    const late = Promise.withResolvers<void>()
    answer = late.promise
    await act("Rotate key")
    await act("Cancel")
    await page
      .getByRole("button", { name: /^Rotate/ })
      .first()
      .click()
    late.resolve()
    await page.getByText("Refused here.").waitFor()
    expect(await dialog.getByText("Refused here.").count()).toBe(0)
  })
})
