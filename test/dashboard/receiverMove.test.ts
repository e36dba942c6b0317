// In a real browser: another merchant's address is refused with the text to sign, and the owner's signature moves it.

import { describe, expect, setDefaultTimeout } from "bun:test"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { Address } from "../../src/domain/Chain.ts"
import { browserSuite, expectNoAxeViolations, screenshot } from "../support/browser.ts"
import { serviceForFile } from "../support/forFile.ts"
import { signUp } from "./person.ts"
import { signedIn } from "./signedIn.ts"

setDefaultTimeout(60_000)

const browserTest = browserSuite()

const service = await serviceForFile()

describe("Moving a receiving address", () => {
  browserTest(
    "shows the text to sign, refuses another signature, and moves the address by the owner's",
    async () => {
      const owner = privateKeyToAccount(generatePrivateKey())
      await signUp(service.baseUrl, Address.make(owner.address))
      const person = await signUp(service.baseUrl)
      const page = await signedIn(service.baseUrl, person.cookie, { width: 360 })
      await page.goto(`${service.baseUrl}/dashboard/${person.merchantId}/test/settings`)
      const dialog = page.getByRole("dialog")

      await page.getByLabel("New address").fill(owner.address)
      await page.getByRole("button", { name: "Change address" }).click()
      await dialog.getByRole("button", { name: "Change address" }).click()
      await dialog.getByRole("heading", { name: "This address is in use" }).waitFor()
      await screenshot(page, "receiver-taken")
      await expectNoAxeViolations(page)
      const message = (await dialog.locator("pre").textContent()) ?? ""
      expect(message).toContain(person.merchantId)

      const sign = (signer: typeof owner) => signer.signMessage({ message })
      await dialog.getByLabel("Signature").fill(await sign(privateKeyToAccount(generatePrivateKey())))
      await dialog.getByRole("button", { name: "Move the address" }).click()
      await dialog.getByText("The signature does not match").waitFor()
      await dialog.getByLabel("Signature").fill(await sign(owner))
      await dialog.getByRole("button", { name: "Move the address" }).click()
      await dialog.waitFor({ state: "detached" })
      await page.getByText(owner.address, { exact: true }).waitFor()
      const settings = await person.call("GET", `/merchants/${person.merchantId}/test/settings`)
      expect(settings.body.receiver).toBe(owner.address)

      // The rules for buyer tokens, on the same page.
      await page.getByText("Buyers’ tokens (advanced)").click()
      await page.getByLabel("Bound to one payment").check()
      await page.getByLabel("Maximum token lifetime").fill("7200")
      await page.getByRole("button", { name: "Save profile" }).click()
      await page.getByText("Saved").waitFor()
      const { body } = await person.call("GET", `/merchants/${person.merchantId}/test/settings`)
      expect(body.profile).toMatchObject({ boundTokensOnly: true, tokenLifetimeSeconds: 7200 })
    }
  )
})
