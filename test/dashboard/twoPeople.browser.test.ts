// Two people with the same form: one's edit is saved, and the other's change is kept or reported.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { browserSuite, expectNoAxeViolations, screenshot, untilOn } from "../support/browser.ts"
import { serviceForFile } from "../support/forFile.ts"
import { agentForm, signUp } from "./person.ts"
import { signedIn } from "./signedIn.ts"

setDefaultTimeout(60_000)

const browserTest = browserSuite()

const service = await serviceForFile()
const person = await signUp(service.baseUrl)
const at = `/merchants/${person.merchantId}/test`

describe("Two people with the same form", () => {
  const patch = (path: string, body: unknown) => person.call("PATCH", `${at}${path}`, body)
  const settings = async () => (await person.call("GET", `${at}/settings`)).body
  const opened = async (path: string) => {
    const page = await signedIn(service.baseUrl, person.cookie, { width: 360 })
    await page.goto(`${service.baseUrl}/dashboard/${person.merchantId}/test/${path}`)
    return page
  }

  test("a change contains only its own fields, and is refused if one has changed in between", async () => {
    expect((await patch("/settings", { name: "First" })).body).toMatchObject({
      name: "First",
      tokenLifetimeSeconds: 86_400
    })
    expect((await patch("/settings", { tokenLifetimeSeconds: 7_200 })).body).toMatchObject({ name: "First" })
    const late = await patch("/settings", { name: "Late", was: { name: "Shop" } })
    expect([late.status, late.body.error.code]).toEqual([409, "CHANGED_MEANWHILE"])
    expect(late.body.error.details).toMatchObject([{ path: "body.name", actual: "First" }])
    expect((await settings()).profile.name).toBe("First")
    const audience = { identityAudience: "https://one.example" }
    expect((await patch("/settings", { ...audience, was: { identityAudience: null } })).status).toBe(200)
    const other = { identityAudience: null, was: { identityAudience: null } }
    expect((await patch("/settings", other)).status).toBe(409)
    expect((await patch("/settings", { ...other, was: audience })).status).toBe(200)

    // Also for a merchant without branding.
    expect((await patch("/branding", { support: "a@example.com", was: { support: "b" } })).status).toBe(409)
    expect((await patch("/branding", { support: "a@example.com", was: { support: null } })).status).toBe(200)
    expect((await patch("/branding", { accentColor: "#112233", was: { accentColor: null } })).status).toBe(
      200
    )
    expect((await settings()).branding).toMatchObject({ support: "a@example.com", accentColor: "#112233" })
    expect((await patch("/branding", { support: null, was: { support: null } })).status).toBe(409)
  })

  test("an agent's caps and lists are changed one by one, each only from its known value", async () => {
    const { id } = (await person.call("POST", `${at}/agents`, agentForm)).body.agent
    const read = async () => (await person.call("GET", `${at}/agents/${id}`)).body.agent
    expect((await patch(`/agents/${id}`, { capPerPayment: "1.00" })).status).toBe(204)
    const hosts = { allowedHosts: ["A.example"], was: { allowedHosts: null } }
    expect((await patch(`/agents/${id}`, hosts)).status).toBe(204)
    const late = await patch(`/agents/${id}`, { capPerPayment: "9.00", was: { capPerPayment: "2.50" } })
    expect([late.status, late.body.error.code]).toEqual([409, "CHANGED_MEANWHILE"])
    expect(late.body.error.details).toMatchObject([
      { path: "body.capPerPayment", expected: "2.50", actual: "1.00" }
    ])
    const second = { allowedHosts: ["b.example"], was: { allowedHosts: null } }
    expect((await patch(`/agents/${id}`, second)).body.error.details).toMatchObject([{ actual: "a.example" }])
    expect(await read()).toMatchObject({
      caps: { perPayment: "1.00", perDay: "10.00" },
      allowedHosts: ["a.example"]
    })
    // One of two changes at once is refused.
    const both = await Promise.all(
      ["3.00", "4.00"].map((capPerDay) => patch(`/agents/${id}`, { capPerDay, was: { capPerDay: "10.00" } }))
    )
    expect(both.map(({ status }) => status).toSorted()).toEqual([204, 409])
    await person.call("POST", `${at}/agents/${id}/revoke`)
    expect((await patch(`/agents/${id}`, { capPerDay: "1.00", was: { capPerDay: "2.00" } })).status).toBe(404)
  })

  browserTest(
    "settings: an unedited field keeps the other's change, and a conflict is reported",
    async () => {
      await patch("/settings", { name: "Before" })
      const page = await opened("settings")
      const name = page.getByLabel("Name", { exact: true })
      await name.waitFor()
      expect(await name.inputValue()).toBe("Before")
      await page.getByText("Buyers’ tokens (advanced)").click()
      await page.getByLabel("Maximum token lifetime").fill("3600")
      await patch("/settings", { name: "Theirs" })
      await page.getByRole("button", { name: "Save profile" }).click()
      await page.getByText("Saved").first().waitFor()
      expect((await settings()).profile).toMatchObject({ name: "Theirs", tokenLifetimeSeconds: 3_600 })
      await untilOn(page, `document.querySelector("input[name=name]").value === "Theirs"`)

      await name.fill("Mine")
      await patch("/settings", { name: "Theirs again" })
      await page.getByRole("button", { name: "Save profile" }).click()
      await page.getByText("It is now: Theirs again.").waitFor()
      expect((await settings()).profile.name).toBe("Theirs again")
      for (const width of [360, 1280]) {
        await page.setViewportSize({ width, height: 900 })
        expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true)
        await name.scrollIntoViewIfNeeded()
        await screenshot(page, `settings-changed-${width}`)
      }
      await expectNoAxeViolations(page)
      const saved = page.waitForResponse((answer) => answer.request().method() === "PATCH" && answer.ok())
      await page.getByRole("button", { name: "Save profile" }).click()
      await saved
      await page.getByText("It is now: Theirs again.").waitFor({ state: "detached" })
      expect((await settings()).profile.name).toBe("Mine")

      // Text typed while another field is being saved is kept, and saved next.
      const audience = page.getByLabel("Audience of buyers’ tokens")
      await page.route("**/settings", async (route) => {
        if (route.request().method() === "PATCH") await audience.fill("https://typed.example")
        await route.continue()
      })
      for (const value of ["Slowly", "Slowly"]) {
        await name.fill(value)
        const answer = page.waitForResponse((one) => one.request().method() === "PATCH")
        await page.getByRole("button", { name: "Save profile" }).click()
        expect((await answer).status()).toBe(200)
        await Bun.sleep(1_000)
        expect(await audience.inputValue()).toBe("https://typed.example")
      }
      await page.unroute("**/settings")
      expect((await settings()).profile).toMatchObject({
        name: "Slowly",
        identityAudience: "https://typed.example"
      })

      // The branding: the other's colour is kept if only the contact is edited.
      await patch("/branding", { accentColor: null, support: null })
      await page.reload()
      await page.getByLabel("Support contact").fill("help@example.com")
      await patch("/branding", { accentColor: "#445566" })
      const branding = page
        .locator("section")
        .filter({ has: page.getByRole("heading", { name: "Checkout appearance" }) })
      await branding.getByRole("button", { name: "Save", exact: true }).click()
      await page.getByText("Saved").first().waitFor()
      expect((await settings()).branding).toMatchObject({
        support: "help@example.com",
        accentColor: "#445566"
      })
      await page.context().close()
    }
  )

  browserTest(
    "an agent's caps: the other's change to one cap is kept, and a conflict on the other is reported",
    async () => {
      const { id } = (await person.call("POST", `${at}/agents`, { ...agentForm, name: "Shared" })).body.agent
      const read = async () => (await person.call("GET", `${at}/agents/${id}`)).body.agent.caps
      const page = await opened(`agents/${id}`)
      await page.getByRole("button", { name: "Change" }).click()
      const dialog = page.getByRole("dialog", { name: "Change Shared" })
      await dialog.getByLabel("Cap per 24 hours, in USD").fill("20.00")
      await patch(`/agents/${id}`, { capPerPayment: "0.50" })
      await dialog.getByRole("button", { name: "Save" }).click()
      await dialog.waitFor({ state: "detached" })
      expect(await read()).toEqual({ perPayment: "0.50", perDay: "20.00" })

      await page.getByRole("button", { name: "Change" }).click()
      await dialog.getByLabel("Cap per 24 hours, in USD").fill("50.00")
      await patch(`/agents/${id}`, { capPerDay: "5.00" })
      await dialog.getByRole("button", { name: "Save" }).click()
      await dialog.getByText("It is now: 5.00.").waitFor()
      await screenshot(page, "agent-changed-360")
      expect(await read()).toEqual({ perPayment: "0.50", perDay: "5.00" })
      // Once the page has the other's change, saving replaces it.
      await page.getByText("at most $5.00", { exact: true }).waitFor()
      await dialog.getByRole("button", { name: "Save" }).click()
      await dialog.waitFor({ state: "detached" })
      expect(await read()).toEqual({ perPayment: "0.50", perDay: "50.00" })

      // A second change is reported as well, even if the page had the first one before the person saw it.
      await page.getByRole("button", { name: "Change" }).click()
      await dialog.getByLabel("Cap per 24 hours, in USD").fill("60.00")
      for (const capPerDay of ["7.00", "8.00"]) {
        await patch(`/agents/${id}`, { capPerDay })
        await Bun.sleep(2_500)
        await dialog.getByRole("button", { name: "Save" }).click()
        await dialog.getByText(`It is now: ${capPerDay}.`).waitFor()
        expect(await read()).toEqual({ perPayment: "0.50", perDay: capPerDay })
      }
      await page.context().close()
    }
  )
})
