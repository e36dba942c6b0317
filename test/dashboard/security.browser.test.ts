// In a real browser with a virtual authenticator: a passkey is added, signs in and confirms; an authenticator app is
// set up and required; sessions are listed and ended.

import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Page } from "playwright-core"
import { codeOf, stepAt } from "../../src/merchants/accounts/SecondFactors/totp.ts"
import { browserSuite, expectNoAxeViolations, newContext, screenshot } from "../support/browser.ts"
import { serviceForFile } from "../support/forFile.ts"
import { password, signUp } from "./person.ts"
import { secretBytesOf } from "./secretBytesOf.ts"

setDefaultTimeout(60_000)

const browserTest = browserSuite()

const service = await serviceForFile()
/** Passkeys belong to a host name, never to an address. */
const site = service.baseUrl.replace("127.0.0.1", "localhost")

describe("The account's security in the dashboard", () => {
  const aged = () =>
    Effect.runPromise(
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE sessions SET confirmed_at = 'epoch'`).pipe(
        Effect.provideContext(service.context)
      )
    )
  const signIn = async (page: Page, email: string) => {
    await page.goto(`${site}/dashboard/sign-in`)
    await page.getByLabel("Email").fill(email)
    await page.getByLabel("Password").fill(password)
    await page.getByRole("button", { name: "Sign in", exact: true }).click()
  }

  for (const look of [
    { width: 1280, colorScheme: "light" },
    { width: 390, colorScheme: "dark" }
  ] as const)
    browserTest(`a passkey signs in and confirms, at ${look.width} px in ${look.colorScheme}`, async () => {
      const person = await signUp(service.baseUrl)
      const context = await newContext(look)
      const page = await context.newPage()
      const cdp = await context.newCDPSession(page)
      await cdp.send("WebAuthn.enable")
      const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
        options: {
          protocol: "ctap2",
          transport: "internal",
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
          automaticPresenceSimulation: true
        }
      })
      await signIn(page, person.email)
      await page.getByRole("heading", { name: "Overview" }).waitFor()
      await page.goto(`${site}/dashboard/${person.merchantId}/test/settings`)
      await page.getByRole("button", { name: "Add a passkey" }).click()
      await page.getByLabel("Name", { exact: true }).last().fill("Test laptop")
      await page.getByRole("button", { name: "Continue" }).click()
      await page.getByText("Test laptop").waitFor()
      const { credentials } = await cdp.send("WebAuthn.getCredentials", { authenticatorId })
      expect(credentials).toMatchObject([{ isResidentCredential: true, rpId: "localhost" }])
      await screenshot(page, `security-${look.width}`)
      await expectNoAxeViolations(page)

      // As the recent confirmation.
      await aged()
      await page.getByLabel("Invite by email").fill("friend@example.com")
      await page.getByRole("button", { name: "Invite", exact: true }).click()
      const asked = page.getByRole("dialog", { name: "Confirm your password" })
      await screenshot(page, `confirm-${look.width}`)
      await asked.getByRole("button", { name: "Use a passkey" }).click()
      await page.getByRole("dialog", { name: "Share this link" }).waitFor()
      await page.getByRole("button", { name: "Done" }).click()

      // As the sign-in, with nothing typed.
      await context.clearCookies()
      await page.goto(`${site}/dashboard/sign-in`)
      await screenshot(page, `sign-in-${look.width}`)
      await expectNoAxeViolations(page)
      await page.getByRole("button", { name: "Use a passkey" }).click()
      await page.getByRole("heading", { name: "Overview" }).waitFor()

      // A device that does not verify its user is refused.
      await context.clearCookies()
      await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false })
      await page.goto(`${site}/dashboard/sign-in`)
      await page.getByRole("button", { name: "Use a passkey" }).click()
      await page.getByText("The device returned no passkey").waitFor()

      // A removed passkey signs nobody in. Signing in by it confirms enough to remove it.
      await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: true })
      await page.getByRole("button", { name: "Use a passkey" }).click()
      await page.getByRole("heading", { name: "Overview" }).waitFor()
      await page.goto(`${site}/dashboard/${person.merchantId}/test/settings`)
      await page.getByRole("button", { name: "Remove the passkey Test laptop" }).click()
      await page.getByText("A passkey signs you in").waitFor()
      await context.clearCookies()
      await page.goto(`${site}/dashboard/sign-in`)
      await page.getByRole("button", { name: "Use a passkey" }).click()
      await page.getByText("The passkey was not accepted").waitFor()
    })

  browserTest("recovery codes stay on the page if the connection is lost as they arrive", async () => {
    const person = await signUp(service.baseUrl)
    const context = await newContext({ width: 1280 })
    const page = await context.newPage()
    await signIn(page, person.email)
    await page.getByRole("heading", { name: "Overview" }).waitFor()
    await page.goto(`${site}/dashboard/${person.merchantId}/test/settings`)
    await page.getByRole("button", { name: "Set up" }).click()
    const dialog = page.getByRole("dialog", { name: "Set up an authenticator app" })
    const secret = secretBytesOf((await dialog.locator("code").textContent()) ?? "")
    await page.route("**/dashboard/api/session", (route) => route.abort())
    await dialog.getByLabel("Code", { exact: true }).fill(codeOf(secret, stepAt(Date.now())))
    const lost = page.waitForEvent("requestfailed", (request) =>
      new URL(request.url()).pathname.endsWith("/session")
    )
    await dialog.getByRole("button", { name: "Turn on" }).click()
    await lost
    await Bun.sleep(500)
    const codes = page.getByRole("dialog", { name: "Store your recovery codes" })
    expect(await codes.locator("pre").textContent({ timeout: 30_000 })).not.toBe("")
  })

  browserTest(
    "an authenticator app is set up, required at sign-in, and removed with a recovery code",
    async () => {
      const person = await signUp(service.baseUrl)
      const context = await newContext({ width: 390 })
      const page = await context.newPage()
      await signIn(page, person.email)
      await page.getByRole("heading", { name: "Overview" }).waitFor()
      await page.goto(`${site}/dashboard/${person.merchantId}/test/settings`)
      await page.getByRole("button", { name: "Set up" }).click()
      const dialog = page.getByRole("dialog", { name: "Set up an authenticator app" })
      const secret = secretBytesOf((await dialog.locator("code").textContent()) ?? "")
      await screenshot(page, "authenticator")
      await expectNoAxeViolations(page)
      await dialog.getByLabel("Code", { exact: true }).fill(codeOf(secret, stepAt(Date.now())))
      await dialog.getByRole("button", { name: "Turn on" }).click()
      const stored = page.getByRole("dialog", { name: "Store your recovery codes" })
      const codes = ((await stored.locator("pre").textContent()) ?? "").split("\n")
      expect(codes).toHaveLength(10)
      await screenshot(page, "recovery-codes")
      await expectNoAxeViolations(page)
      await stored.getByRole("button", { name: "I have stored the codes" }).click()
      await page.getByText("10 of 10 recovery codes left").waitFor()

      await context.clearCookies()
      await signIn(page, person.email)
      await page.getByText("This account also needs a code").waitFor()
      await screenshot(page, "sign-in-code")
      await expectNoAxeViolations(page)
      await page.getByLabel("Code", { exact: true }).fill(codes[0] ?? "")
      await page.getByRole("button", { name: "Sign in", exact: true }).click()
      await page.getByRole("heading", { name: "Overview" }).waitFor()
      await page.goto(`${site}/dashboard/${person.merchantId}/test/settings`)
      await page.getByText("9 of 10 recovery codes left").waitFor()
      // The first sign-in's session still exists, though its browser has lost the cookie.
      await page.getByRole("button", { name: "End all others" }).click()
      await page.getByText("Signed out everywhere else").waitFor()
      await page.getByRole("button", { name: "End all others" }).waitFor({ state: "detached" })
    }
  )
})
