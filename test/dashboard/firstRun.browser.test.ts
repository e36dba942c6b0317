// In a real browser: the first steps complete themselves and disappear; settings take effect; people choose their
// notifications.

import { describe, expect, setDefaultTimeout } from "bun:test"
import { makeShop } from "../platform/http/shop.ts"
import {
  browserSuite,
  expectNoAxeViolations,
  newContext,
  type PageOptions,
  screenshot
} from "../support/browser.ts"
import { serviceForFile } from "../support/forFile.ts"
import { type Person, signUp } from "./person.ts"

setDefaultTimeout(60_000)

const browserTest = browserSuite()

const service = await serviceForFile()

describe("First steps and settings in the dashboard", () => {
  const signedIn = async (person: Person, options: PageOptions) => {
    const context = await newContext(options)
    const [name = "", value = ""] = person.cookie.split("=")
    await context.addCookies([{ name, value, url: service.baseUrl }])
    return context.newPage()
  }

  for (const look of [
    { width: 1280, colorScheme: "light" },
    { width: 390, colorScheme: "dark" }
  ] as const)
    browserTest(
      `the list completes itself and disappears, at ${look.width} px in ${look.colorScheme}`,
      async () => {
        const person = await signUp(service.baseUrl)
        const page = await signedIn(person, look)
        const at = `/merchants/${person.merchantId}/test`
        await page.goto(`${service.baseUrl}/dashboard/${person.merchantId}/test`)
        const steps = page.locator(".steps")
        await steps.waitFor()
        const done = () => page.locator(".step.done").count()
        expect(await done()).toBe(1)
        expect(await page.getByText("Settled volume").count()).toBe(0)
        const link = page.getByRole("link", { name: "Open the playground" })
        expect(await link.getAttribute("href")).toBe(`/playground#pk=${person.keys.test.publishable}`)
        await page.getByRole("button", { name: "Create a key and fill it in" }).click()
        await page.getByText("The key is shown only once").waitFor()
        const curl = (await steps.locator("pre").first().textContent()) ?? ""
        const key = /sk_test_\w+/u.exec(curl)?.[0]
        await screenshot(page, `first-run-${look.width}`)
        await expectNoAxeViolations(page)

        // The command creates an intent as it is shown.
        const body = /-d '(.+)'/u.exec(curl)?.[1] ?? ""
        const made = await fetch(`${service.baseUrl}/api/v1/payment-intents`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body
        })
        expect(made.status).toBe(201)

        await person.call("POST", `${at}/webhook-endpoint`, { url: "https://shop.example.com/hook" })
        await page.getByRole("heading", { name: /^Webhook endpoint registered ?, done$/u }).waitFor()
        const shop = await makeShop(service, { ...person, id: person.merchantId })
        const pk = person.keys.test.publishable
        const minted = await (
          await fetch(`${service.baseUrl}/api/v1/checkout/playground-intent?pk=${pk}&amount=1.00`)
        ).json()
        await fetch(`${service.baseUrl}/api/v1/payments`, {
          method: "POST",
          headers: { authorization: `Bearer ${pk}`, "content-type": "application/json" },
          body: JSON.stringify({ intentToken: minted.intentToken ?? minted.token })
        })
        await page.getByRole("heading", { name: /^Checkout tried in the playground ?, done$/u }).waitFor()
        await shop.settle()
        await steps.waitFor({ state: "detached" })
        await page.reload()
        await page.getByRole("heading", { name: "Latest payments" }).waitFor()
        expect(await steps.count()).toBe(0)
        await page.context().close()
      }
    )

  for (const look of [
    { width: 1280, colorScheme: "dark" },
    { width: 390, colorScheme: "light" }
  ] as const)
    browserTest(`settings take effect, at ${look.width} px in ${look.colorScheme}`, async () => {
      const person = await signUp(service.baseUrl)
      const page = await signedIn(person, look)
      await page.goto(`${service.baseUrl}/dashboard/${person.merchantId}/test/settings`)

      // The form checks the checksum before it sends anything; a wrong one sends nothing.
      const address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
      await page.getByLabel("New address").fill(address.replace("0x5aA", "0x5AA"))
      await page.getByRole("button", { name: "Change address" }).click()
      await page.getByText("breaks the EIP-55 checksum").waitFor()
      expect(await page.getByRole("dialog").count()).toBe(0)
      await page.getByLabel("New address").fill(address.toLowerCase())
      await page.getByRole("button", { name: "Change address" }).click()
      await page.getByRole("dialog").getByText(address, { exact: true }).waitFor()
      await screenshot(page, `checksum-${look.width}`)
      await expectNoAxeViolations(page)
      await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click()

      await page.getByLabel("Your language").selectOption("de")
      await page.getByRole("button", { name: "Save language" }).click()
      await page.getByText("Saved").first().waitFor()
      expect((await person.call("GET", "/session")).body.user).toMatchObject({ locale: "de" })
      await page.getByLabel("Time zone", { exact: true }).fill("Mars/Olympus")
      await page.getByRole("button", { name: "Save time zone" }).click()
      await page.getByText("a time zone's name").waitFor()
      await page.getByLabel("Time zone", { exact: true }).fill("Europe/Berlin")
      // The error disappears when the form is sent, before the answer arrives.
      const saved = page.waitForResponse((response) => response.request().method() !== "GET")
      await page.getByRole("button", { name: "Save time zone" }).click()
      await saved
      await page.getByText("a time zone's name").waitFor({ state: "detached" })
      expect((await person.call("GET", `/merchants/${person.merchantId}/test/settings`)).body).toMatchObject({
        timeZone: "Europe/Berlin"
      })

      await page.getByLabel("Live only").check()
      await page.getByLabel("Weekly summary").uncheck()
      const chosen = page.locator("form", { has: page.getByText("Live only") })
      await chosen.getByRole("button", { name: "Save", exact: true }).click()
      const preferences = async () =>
        (await person.call("GET", `/merchants/${person.merchantId}/test/notification-preferences`)).body
      for (let tries = 0; tries < 600; tries++) {
        if (JSON.stringify(await preferences()).includes('"weekly":false')) break
        await Bun.sleep(50)
      }
      expect(await preferences()).toMatchObject({ choice: { alerts: "live", weekly: false } })
      await page.getByRole("button", { name: "Add", exact: true }).click()
      await page.getByLabel("Signed JSON").check()
      await page.getByLabel("URL", { exact: true }).fill("https://ops.example.com/alerts")
      await page.getByRole("dialog").getByRole("button", { name: "Add", exact: true }).click()
      await page.getByRole("dialog", { name: "Store this secret now" }).waitFor()
      await page.getByRole("button", { name: "I have stored it" }).click()
      await page.getByText("ops.example.com", { exact: true }).waitFor()
      await screenshot(page, `settings-${look.width}`)
      await expectNoAxeViolations(page)
      await page.context().close()
    })
})
