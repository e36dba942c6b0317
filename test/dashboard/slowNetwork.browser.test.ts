// The dashboard with late answers: an answer to an earlier request does not override what happened since.

import { describe, expect, setDefaultTimeout } from "bun:test"
import type { Page } from "playwright-core"
import { makeShop } from "../platform/http/shop.ts"
import { browserSuite, newContext } from "../support/browser.ts"
import { serviceForFile } from "../support/forFile.ts"
import { password, signUp } from "./person.ts"
import { signedIn } from "./signedIn.ts"

setDefaultTimeout(60_000)

const browserTest = browserSuite()

/** Holds back the first answer from the address until `letGo`, and passes all others. */
const heldBack = async (page: Page, address: string) => {
  const answered = Promise.withResolvers<void>()
  const free = Promise.withResolvers<void>()
  const told = Promise.withResolvers<void>()
  let isFirst = true
  await page.route(address, async (route) => {
    if (!isFirst) return route.continue()
    isFirst = false
    const response = await route.fetch()
    answered.resolve()
    await free.promise
    await route.fulfill({ response })
    told.resolve()
  })
  return {
    answered: answered.promise,
    letGo: async () => {
      free.resolve()
      await told.promise
      // The page has received it, and has rendered it.
      await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 200)))")
    }
  }
}

const service = await serviceForFile()

describe("The dashboard on a slow network", () => {
  browserTest(
    "a person who signs in stays signed in if the page's first request is answered later",
    async () => {
      const person = await signUp(service.baseUrl)
      const context = await newContext()
      const page = await context.newPage()
      const { answered, letGo } = await heldBack(page, "**/dashboard/api/session")
      await page.goto(`${service.baseUrl}/dashboard/sign-in`)
      await answered
      await page.getByLabel("Email").fill(person.email)
      await page.getByLabel("Password").fill(password)
      await page.getByRole("button", { name: "Sign in", exact: true }).click()
      await page.getByRole("heading", { name: "Overview" }).waitFor()
      await letGo()
      expect(await page.getByRole("heading", { name: "Overview" }).count()).toBe(1)
      expect(page.url()).not.toContain("sign-in")
    }
  )

  browserTest("an answer that arrives after a newer one changes nothing on the page", async () => {
    const person = await signUp(service.baseUrl)
    const shop = await makeShop(service, { ...person, id: person.merchantId })
    const { payment } = (await shop.open("41.00")).body
    const page = await signedIn(service.baseUrl, person.cookie)
    await page.goto(`${service.baseUrl}/dashboard/${person.merchantId}/test/payments`)
    const row = page.getByRole("row", { name: payment.refCode })
    await row.getByText("Not started", { exact: true }).waitFor()
    const { answered, letGo } = await heldBack(page, "**/test/payments")
    // Any change makes the page read again.
    await shop.open("42.00")
    await answered
    await shop.report(payment.id, await shop.transfer(41_000_000n), 41_000_000n)
    await row.getByText("Settled", { exact: true }).waitFor()
    await letGo()
    expect(await row.getByText("Settled", { exact: true }).count()).toBe(1)
  })
})
