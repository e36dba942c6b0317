// In a real browser: the password for a change of money settings, a pending live address, and the list of changes.

import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { browserSuite, expectNoAxeViolations, screenshot } from "../support/browser.ts"
import { serviceForFile } from "../support/forFile.ts"
import { freshAddress } from "../support/freshAddress.ts"
import { password, signUp } from "./person.ts"
import { signedIn } from "./signedIn.ts"

setDefaultTimeout(60_000)

const browserTest = browserSuite()

const service = await serviceForFile()

describe("Money settings in the dashboard", () => {
  browserTest(
    "ask for the password, show what is pending and who changed what, and let the owner withdraw it",
    async () => {
      const person = await signUp(service.baseUrl)
      await Effect.runPromise(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE sessions SET confirmed_at = 'epoch'`).pipe(
          Effect.provideContext(service.context)
        )
      )
      const page = await signedIn(service.baseUrl, person.cookie, { width: 360 })
      await page.goto(`${service.baseUrl}/dashboard/${person.merchantId}/live/settings`)
      const asked = page.getByRole("dialog", { name: "Confirm your password" })

      // If the person cancels, nothing changes, and the form says why.
      await page.getByLabel("Invite by email").fill("friend@example.com")
      await page.getByRole("button", { name: "Invite" }).click()
      await asked.getByRole("button", { name: "Cancel" }).click()
      await page.getByText("Confirm your password or use a passkey").waitFor()

      await page.getByRole("button", { name: "Invite" }).click()
      await asked.getByLabel("Password").fill("not the password")
      await asked.getByRole("button", { name: "Confirm" }).click()
      await asked.getByText("Incorrect email or password").waitFor()
      await screenshot(page, "password-again")
      await expectNoAxeViolations(page)
      await asked.getByLabel("Password").fill(password)
      await asked.getByRole("button", { name: "Confirm" }).click()
      await page.getByRole("dialog", { name: "Share this link" }).waitFor()
      await page.getByRole("button", { name: "Done" }).click()

      const next = freshAddress()
      await page.getByLabel("New address").fill(next)
      await page.getByRole("button", { name: "Change address" }).click()
      await page.getByRole("dialog").getByText("You can withdraw the change").waitFor()
      await page.getByRole("dialog").getByRole("button", { name: "Change address" }).click()
      await page.getByText(/takes effect on [A-Z][a-z]{2} \d{1,2}, \d{2}:\d{2}; you can withdraw/).waitFor()
      await page.getByRole("button", { name: "Withdraw the change" }).waitFor()
      await page
        .getByText(new RegExp(`requested to change the receiving address from \\w+ to ${next}`))
        .waitFor()
      await screenshot(page, "receiver-waits")
      await expectNoAxeViolations(page)
      await page.getByRole("button", { name: "Withdraw the change" }).click()
      await page.getByText(`withdrew the change of the receiving address to ${next}`).waitFor()
      expect(await page.getByRole("button", { name: "Withdraw the change" }).count()).toBe(0)

      await page.goto(`${service.baseUrl}/dashboard/${person.merchantId}/live/alerts`)
      await page.getByText("Addresses, keys or members changed").first().waitFor()
      await screenshot(page, "account-changes")
    }
  )
})
