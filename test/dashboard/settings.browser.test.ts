// The settings in a real browser: sections by anchors, with a navigation on a desktop, without one on a phone.
import { describe, expect, setDefaultTimeout } from "bun:test"
import { browserSuite, expectNoAxeViolations, screenshot, untilOn } from "../support/browser.ts"
import { serviceForFile } from "../support/forFile.ts"
import { signUp } from "./person.ts"
import { signedIn } from "./signedIn.ts"

setDefaultTimeout(60_000)

const browserTest = browserSuite()
const service = await serviceForFile()

const isAtTop = (id: string) => {
  const box = `document.getElementById("${id}")?.getBoundingClientRect()`
  // The last sections cannot scroll to the top of a tall window.
  return `${box} !== undefined && ${box}.top >= 0 && ${box}.top < innerHeight / 2`
}

describe("Settings", () => {
  browserTest("have a section for each purpose, reachable by the navigation and by an address", async () => {
    const person = await signUp(service.baseUrl)
    const settings = `${service.baseUrl}/dashboard/${person.merchantId}/test/settings`
    const page = await signedIn(service.baseUrl, person.cookie, { width: 1280 })
    await page.goto(settings)
    const nav = page.getByRole("navigation", { name: "Settings" })
    await nav.getByRole("link", { name: "Business" }).waitFor()
    const names = await nav.getByRole("link").allTextContents()
    expect(names).toEqual([
      "Receiving payments",
      "Business",
      "Branding",
      "Team",
      "Notifications",
      "Your account",
      "Security"
    ])
    await untilOn(page, `document.querySelectorAll(".settings h2").length >= ${names.length}`)
    expect(await page.locator(".settings h2").allTextContents()).toEqual(names)
    await nav.getByRole("link", { name: "Team" }).click()
    await untilOn(page, isAtTop("team"))
    expect(page.url()).toBe(`${settings}#team`)
    expect(await nav.isVisible()).toBeTrue()

    const other = await page.context().newPage()
    await other.goto(`${settings}#branding`)
    await untilOn(other, isAtTop("branding"))
  })

  browserTest(
    "an owner can make live payments wait for more certainty than the operator requires",
    async () => {
      const person = await signUp(service.baseUrl)
      const page = await signedIn(service.baseUrl, person.cookie, { width: 390 })
      await page.goto(`${service.baseUrl}/dashboard/${person.merchantId}/live/settings`)
      const limit = page.getByLabel("Largest amount that settles within seconds")
      await limit.fill("200")
      await page.getByRole("button", { name: "Save limits" }).click()
      await page.getByText("At most 100.00, the operator's limit.").waitFor()
      await limit.fill("20")
      await page.getByRole("button", { name: "Save limits" }).click()
      await page.getByText("Saved").waitFor()
      await screenshot(page, "settings-settlement-levels")
      await page.reload()
      expect(await limit.inputValue()).toBe("20.00")
      await page.goto(`${service.baseUrl}/dashboard/${person.merchantId}/test/settings`)
      await page.getByRole("heading", { name: "Where you are signed in" }).waitFor()
      expect(await limit.count()).toBe(0)
    }
  )

  for (const width of [1280, 390])
    browserTest(`at ${width} px nothing overflows the page, in light and dark`, async () => {
      const person = await signUp(service.baseUrl)
      const page = await signedIn(service.baseUrl, person.cookie, { width })
      await page.goto(`${service.baseUrl}/dashboard/${person.merchantId}/test/settings`)
      await page.getByRole("heading", { name: "Where you are signed in" }).waitFor()
      await page.getByRole("heading", { name: "Email notifications" }).waitFor()
      expect(await page.getByRole("navigation", { name: "Settings" }).isVisible()).toBe(true)
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme })
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width)
        await screenshot(page, `settings-sections-${width}-${colorScheme}`)
        await expectNoAxeViolations(page)
      }
    })
})
