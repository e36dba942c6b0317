// A merchant's first day in a real browser, on the whole service: sign-up, keys used over REST and rotated, an
// endpoint, a settlement on the local chain whose webhook appears without a reload, a broken webhook server, the alert,
// the repair and the resend.

import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { payIntent } from "../../src/app/dev/payIntent.ts"
import { browserSuite, newContext, untilOn } from "../support/browser.ts"
import { forFile } from "../support/forFile.ts"
import { freshAddress } from "../support/freshAddress.ts"
import { anvilWorld } from "./anvilWorld.ts"
import { password } from "./person.ts"

setDefaultTimeout(60_000)

const browserTest = browserSuite()

const world = await forFile(anvilWorld())

describe("A merchant's first day", () => {
  const rest = async (key: string) =>
    (
      await fetch(`${world.baseUrl}/api/v1/payment-intents`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ amount: "10.00", intentUrl: "https://shop.example.com/1" })
      })
    ).status

  /** Returns the secret that the open dialog shows, and closes the dialog. */
  const takeSecret = async (page: Page, stored: string) => {
    const dialog = page.getByRole("dialog")
    const secret = (await dialog.locator(".secret code").textContent()) ?? ""
    await dialog.getByRole("button", { name: stored }).click()
    await dialog.waitFor({ state: "detached" })
    return secret
  }

  browserTest(
    "sign-up, key, rotation, endpoint, live settlement, failure, alert, repair, resend",
    async () => {
      const { baseUrl, shop } = world
      const receiver = freshAddress()
      const context = await newContext()
      const page = await context.newPage()
      const go = (name: string | RegExp) =>
        page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name }).click()
      const problems: Array<string> = []
      page.on("pageerror", (error) => problems.push(String(error)))

      // Sign-up shows the first keys once.
      await page.goto(`${baseUrl}/dashboard`)
      await page.getByRole("link", { name: "Create an account" }).click()
      await page.getByLabel("Email").fill("merchant@example.com")
      await page.getByLabel("Password").fill(password)
      await page.getByLabel("Merchant name").fill("Demo Books")
      await page.getByLabel("Receiving address").fill(receiver)
      await page.getByRole("button", { name: "Create account" }).click()
      await page.getByRole("heading", { name: "Your first keys" }).waitFor()
      const publishable = (await page.locator(".secret code").nth(1).textContent()) ?? ""
      expect(publishable).toStartWith("pk_test_")
      await page.getByRole("button", { name: "I have stored the keys" }).click()
      await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
      // Only now: before the sign-up the service may have read past it, because the address belonged to nobody.
      await world.mint(receiver, 1_000_000_000n)
      // Everything below must appear without a reload, which would lose this mark.
      await page.evaluate(() => Reflect.set(window, "sameDocument", true))

      // A key that the merchant creates works over REST; once rotated, the old one is refused at once.
      await go("API keys")
      await page.getByRole("button", { name: "Create key" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click()
      await page.getByText("Store this key now").waitFor()
      const first = await takeSecret(page, "I have stored it")
      expect(first).toStartWith("sk_test_")
      expect(await rest(first)).toBe(201)
      await page.getByRole("button", { name: `Rotate sk_test_…${first.slice(-4)}` }).click()
      await page.getByRole("dialog").getByText("The old key stops working immediately").waitFor()
      await page.getByRole("dialog").getByRole("button", { name: "Rotate key" }).click()
      await page.getByText("The old key no longer works").waitFor()
      const second = await takeSecret(page, "I have stored it")
      expect(await rest(first)).toBe(401)
      expect(await rest(second)).toBe(201)

      // The endpoint's secret is shown once.
      await go("Webhooks")
      await page.getByLabel("Your endpoint's URL").fill("https://127.0.0.1/webhooks")
      await page.getByRole("button", { name: "Register endpoint" }).click()
      await page.getByText("Use a host name instead of the IP address").waitFor()
      await page.getByLabel("Your endpoint's URL").fill(world.receiverUrl)
      await page.getByRole("button", { name: "Register endpoint" }).click()
      await page.getByText("Store the signing secret now").waitFor()
      const secret = await takeSecret(page, "I have stored it")
      expect(secret).toStartWith("whsec_")

      // A settlement on the chain: its webhook attempt appears while the page is open.
      await page.getByText("No deliveries yet").waitFor()
      const pay = () =>
        Effect.runPromise(
          payIntent({
            baseUrl,
            secretKey: second,
            publishableKey: publishable,
            amount: "10.00",
            onStep: () => Effect.void
          })
        )
      const paid = await pay()
      const row = page.getByRole("row", { name: paid.refCode })
      await row.getByText("HTTP 204").waitFor()
      await row.getByText("Delivered", { exact: true }).waitFor()
      expect(shop.received).toHaveLength(1)

      // The payment's timeline shows every step.
      await go("Payments")
      await page.getByRole("link", { name: paid.refCode }).click()
      for (const step of ["Opened", "Reported", "Verified and settled", "Webhook attempt 1: HTTP 204"]) {
        await page.locator(".timeline").getByText(step, { exact: true }).waitFor()
      }
      // No explorer shows the local chain.
      await page.locator(".timeline").getByTitle(paid.transactionId).first().waitFor()
      expect(await page.getByRole("link", { name: "Explorer" }).count()).toBe(0)

      // The delivery verifies in the browser's own tool; with one byte more it does not.
      const sent = shop.received[0]
      await go("Webhooks")
      await page.getByRole("link", { name: "Verify a signature" }).click()
      await page.getByLabel("Raw body").fill(sent?.body ?? "")
      await page.getByLabel("x-service-signature").fill(sent?.signature ?? "")
      await page.getByLabel("Signing secret").fill(secret)
      await page.getByRole("button", { name: "Verify" }).click()
      await page.getByText("The signature is valid and recent.").waitFor()
      await page.getByLabel("Raw body").fill(`${sent?.body ?? ""} `)
      await page.getByRole("button", { name: "Verify" }).click()
      await page.getByText("The signature does not match").waitFor()

      // The webhook server breaks: after three attempts an alert and its badge appear.
      shop.status = 500
      const unheard = await pay()
      await go("Webhooks")
      const failing = page.getByRole("row", { name: unheard.refCode })
      await failing.getByText("HTTP 500").waitFor()
      for (const attempts of [2, 3]) {
        // The page may show the second attempt only after the third.
        const made = failing.getByRole("cell", { name: attempts === 2 ? /^[23]$/ : /^3$/ })
        // While an attempt runs, there is no next attempt whose time could pass.
        for (let waited = 0; waited < 240 && !(await made.isVisible()); waited++) {
          await world.passTime()
          await page.waitForTimeout(250)
        }
      }
      await failing.getByText("Failed").waitFor()
      // Two are about the new keys, one is a transfer to explain.
      await go(/Needs attention\s*4/)
      await page.getByText("Webhook delivery failed", { exact: true }).waitFor()

      // Repaired and sent again, with the same bytes and the headers of each attempt.
      shop.status = 204
      await page.getByRole("link", { name: "View delivery" }).click()
      await page.getByRole("button", { name: "Resend" }).click()
      await page.getByText("Attempt 4, manual").waitFor()
      await page.getByText("Delivered", { exact: true }).waitFor()
      await page.getByText("Request and response").last().click()
      const last = shop.received.at(-1)
      await page
        .getByText(`x-service-signature: ${last?.signature ?? ""}`)
        .last()
        .waitFor()
      await page
        .getByText(last?.body ?? "no body")
        .last()
        .waitFor()

      // The delivered webhook needs no attention; the rest is acknowledged and handled, and the badge disappears.
      await go(/Needs attention/)
      await page.locator(".alert").getByText("Resolved", { exact: true }).waitFor()
      const acknowledge = page.getByRole("button", { name: /^Acknowledge/ })
      for (const left of [1, 0]) {
        await acknowledge.first().click()
        await untilOn(page, `document.querySelectorAll(".alert.open:not(.transfer)").length === ${left}`)
      }
      await page
        .getByText(/^Acknowledged by /)
        .first()
        .waitFor()
      await page.locator(".alert.transfer summary").click()
      await page.getByLabel("Note", { exact: true }).fill("Known")
      await page.getByRole("button", { name: "Mark as handled" }).click()
      await page.getByRole("link", { name: "Needs attention", exact: true }).waitFor()
      expect(await page.evaluate(() => Reflect.get(window, "sameDocument"))).toBe(true)
      expect(problems).toEqual([])

      // Live is separate: nothing of this is there except the notifications of the person.
      await page.getByRole("link", { name: "Live", exact: true }).click()
      await page
        .getByText(/^Acknowledged by /)
        .nth(1)
        .waitFor()
      expect(await page.getByText("Webhook delivery failed").count()).toBe(0)
      await go("Payments")
      await page.getByText("No payments here").waitFor()
    }
  )

  browserTest("the keyboard is enough to sign in, create a key, leave the dialog and sign out", async () => {
    const context = await newContext()
    const page = await context.newPage()
    const focused = () =>
      page.evaluate(
        () => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent
      )
    const tabTo = async (name: string) => {
      for (let presses = 0; presses < 40; presses++) {
        if ((await focused())?.trim() === name) return
        await page.keyboard.press("Tab")
      }
      throw new Error(`Tab does not reach ${name}`)
    }
    await fetch(`${world.baseUrl}/dashboard/api/sign-up`, {
      method: "POST",
      headers: { "sec-fetch-site": "same-origin", "content-type": "application/json" },
      body: JSON.stringify({
        email: "keys@example.com",
        password,
        merchantName: "Keyboard",
        receiver: freshAddress()
      })
    })
    await page.goto(`${world.baseUrl}/dashboard`)
    await page.getByRole("heading", { name: "Sign in" }).waitFor()
    await page.keyboard.press("Tab")
    await page.keyboard.type("keys@example.com")
    await page.keyboard.press("Tab")
    await page.keyboard.type(password)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    await tabTo("API keys")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor()
    await tabTo("Create key")
    await page.keyboard.press("Enter")
    await page.getByRole("dialog").waitFor()
    await tabTo("Create key")
    await page.keyboard.press("Enter")
    await page.getByText("Store this key now").waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("dialog").waitFor({ state: "detached" })
    await tabTo("Sign out")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Sign in" }).waitFor()
  })
})
