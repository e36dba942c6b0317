// A receipt from the checkout to its page, its signature, and its verification without a network.
import { describe, expect } from "bun:test"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { compactVerify, createLocalJWKSet } from "jose"
import type { Page } from "playwright-core"
import { checkoutSuite } from "../../checkout/browserWorld.ts"
import { press, toReview, untilState } from "../../checkout/checkoutWorld.ts"
import { expectNoAxeViolations, newContext, screenshot } from "../../support/browser.ts"
import { moneyNetwork } from "../../support/moneyNetwork.ts"

const { browserTest, world } = await checkoutSuite()
const { baseUrl, context, createIntent, keys, open, payment, runIn, wallet } = world

describe("Receipts", () => {
  browserTest(
    "the verifier can be saved, works without a network, and requests only a newer key",
    async () => {
      const browser = await context([await wallet()], { width: 1280 })
      const directory = await mkdtemp(join(tmpdir(), "verifier-"))
      const save = async (from: Page, name: string): Promise<string> => {
        const download = from.waitForEvent("download")
        await from.getByRole("link", { name: "Save this page" }).click()
        const path = join(directory, name)
        await (await download).saveAs(path)
        return `file://${path}`
      }
      const verify = async (at: Page, text: string) => {
        await at.getByLabel("Signed receipt", { exact: true }).fill(text)
        await at.getByRole("button", { name: "Verify" }).click()
      }
      const genuine = (at: Page) => at.getByText("Genuine: Demo Books was paid.").waitFor()

      // Saved before the service's first key.
      const older = await browser.newPage()
      await older.goto(`${baseUrl}/verify-receipt`)
      const savedBefore = await save(older, "before.html")
      const { token, id } = await createIntent("10.00")
      const page = await open(browser, token)
      await toReview(page)
      await press(page, "Pay $10.00")
      await untilState(page, "settled")
      const { jws } = await (
        await fetch(`${baseUrl}/api/v1/payments/${id}/receipt`, {
          method: "POST",
          headers: { authorization: `Bearer ${keys[moneyNetwork.env].publishable}` }
        })
      ).json()
      await verify(older, jws)
      await genuine(older)
      await older.reload()
      const savedAfter = await save(older, "after.html")

      const device = await newContext()
      await device.setOffline(true)
      const saved = await device.newPage()
      await saved.goto(savedAfter)
      await verify(saved, jws)
      await genuine(saved)
      await screenshot(saved, "verify-receipt-saved")
      await expectNoAxeViolations(saved)
      await saved.goto(savedBefore)
      await verify(saved, jws)
      await saved.getByText("Signed with a key that this page does not know.").waitFor()
      await device.setOffline(false)
      await verify(saved, jws)
      await genuine(saved)
      await device.close()
      await browser.close()
      await rm(directory, { recursive: true })
    }
  )

  browserTest(
    "a receipt whose transfer was dropped says so, and names the one that pays instead",
    async () => {
      const browser = await context([await wallet()], { width: 320 })
      const { token, id } = await createIntent("10.00")
      const page = await open(browser, token)
      await toReview(page)
      await press(page, "Pay $10.00")
      await untilState(page, "settled")
      const issued = async () =>
        (
          await fetch(`${baseUrl}/api/v1/payments/${id}/receipt`, {
            method: "POST",
            headers: { authorization: `Bearer ${keys[moneyNetwork.env].publishable}` }
          })
        ).json()
      const { droppedAt, jws, receipt, replacedBy, url } = await issued()
      expect([droppedAt, replacedBy]).toEqual([undefined, undefined])
      // As the watch of settled blocks records it.
      const claim = (changes: string) =>
        runIn(
          Effect.flatMap(SqlClient.SqlClient, (sql) =>
            sql.unsafe(`UPDATE claimed_transfers SET watch_at = NULL, ${changes} WHERE payment_id = '${id}'`)
          )
        )
      const shown = await browser.newPage()
      const dropped = "2026-05-01T12:00:00.000Z"
      await claim(`dropped_at = '${dropped}'`)
      expect(await issued()).toMatchObject({ jws, receipt, droppedAt: dropped })
      const read = await fetch(`${baseUrl}/api/v1/receipts/${receipt.jti}`)
      expect(await read.json()).toMatchObject({ jws, droppedAt: dropped })
      await shown.goto(url)
      await shown.getByText("the merchant has not received it").waitFor()
      expect(await shown.locator("#verified.good").count()).toBe(0)
      await expectNoAxeViolations(shown)
      await screenshot(shown, "receipt-dropped-320")

      const other = `0x${"5".repeat(64)}`
      await claim(`dropped_at = NULL, transaction_id = '\\x${"5".repeat(64)}'`)
      const replaced = await issued()
      expect(replaced).toMatchObject({ jws, receipt, replacedBy: other })
      expect(replaced.droppedAt).toBeUndefined()
      await shown.goto(url)
      await shown.getByText("the signature is valid").waitFor()
      for (const hash of [receipt.transactionId, other])
        await shown.getByText(hash, { exact: true }).waitFor()
      await expectNoAxeViolations(shown)
    }
  )

  browserTest("the checkout links to a receipt that prints, verifies, and exposes a forgery", async () => {
    const buyer = await wallet()
    const browser = await context([buyer], { width: 1280 })
    const { token, id } = await createIntent("10.00")
    const early = await fetch(`${baseUrl}/api/v1/payments/${id}/receipt`, {
      method: "POST",
      headers: { authorization: `Bearer ${keys[moneyNetwork.env].publishable}` }
    })
    expect(early.status).toBe(404)
    const page = await open(browser, token)
    await toReview(page)
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    const href = await page.getByRole("link", { name: "View receipt" }).getAttribute("href")
    const address = href ?? ""
    expect(address).toMatch(/\/receipt\/[\w-]{24}$/)

    const shown = await browser.newPage()
    for (const path of ["/api/v1/receipts/", "/.well-known/jwks.json"]) {
      const busy = (url: URL) => url.pathname.startsWith(path)
      await shown.route(busy, (route) => route.fulfill({ status: 503, json: { error: {} } }))
      await shown.goto(address)
      await shown.getByText("We cannot load the receipt now.").waitFor()
      await shown.unroute(busy)
    }
    await shown.goto(address)
    await shown.getByText("the signature is valid").waitFor()
    const { payerAddress = "", reportedTransactionId = "" } = await payment(id)
    for (const text of ["Demo Books", "$10.00", payerAddress, reportedTransactionId])
      await shown.getByText(text, { exact: true }).waitFor()
    await expectNoAxeViolations(shown)
    for (const colorScheme of ["light", "dark"] as const) {
      await shown.emulateMedia({ colorScheme })
      for (const width of [320, 1280]) {
        await shown.setViewportSize({ width, height: 800 })
        expect(await shown.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width)
        await screenshot(shown, `receipt-${colorScheme}-${width}`)
      }
      await expectNoAxeViolations(shown)
    }
    await shown.emulateMedia({ media: "print" })
    expect(await shown.getByRole("button", { name: "Print" }).isVisible()).toBe(false)
    await screenshot(shown, "receipt-print")
    const arabic = await context([], { locale: "ar", width: 360 })
    const fromTheRight = await arabic.newPage()
    for (const at of [address, `${baseUrl}/verify-receipt`]) {
      await fromTheRight.goto(at)
      await fromTheRight.getByText(at === address ? "دُفع في" : "الإيصال الموقّع").waitFor()
      expect(await fromTheRight.locator("html").getAttribute("dir")).toBe("rtl")
      expect(await fromTheRight.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360)
      await expectNoAxeViolations(fromTheRight)
      await screenshot(fromTheRight, at === address ? "receipt-ar" : "verify-ar")
    }
    await arabic.close()

    const id24 = address.split("/").at(-1)
    const { jws, receipt } = await (await fetch(`${baseUrl}/api/v1/receipts/${id24}`)).json()
    const jwks = await (await fetch(`${baseUrl}/.well-known/jwks.json`)).json()
    expect(JSON.stringify(jwks)).not.toContain('"d"')
    const { payload } = await compactVerify(jws, createLocalJWKSet(jwks))
    expect(JSON.parse(new TextDecoder().decode(payload))).toEqual(receipt)
    expect((await fetch(`${baseUrl}/api/v1/receipts/${"a".repeat(24)}`)).status).toBe(404)

    const verifier = await browser.newPage()
    await verifier.goto(`${baseUrl}/verify-receipt`)
    await browser.setOffline(true)
    await verifier.getByLabel("Signed receipt", { exact: true }).fill(jws)
    await verifier.getByRole("button", { name: "Verify" }).click()
    await verifier
      .getByText(
        `Genuine: Demo Books was paid.${moneyNetwork.isTest ? " Test payment: no real money moved." : ""}`
      )
      .waitFor()
    // The result for one receipt is not shown next to another.
    await verifier.getByLabel("Signed receipt", { exact: true }).fill(`${jws}x`)
    expect(await verifier.getByText("Genuine").count()).toBe(0)
    expect(await verifier.getByText(payerAddress).count()).toBe(0)
    // By keyboard only.
    await browser.setOffline(false)
    await verifier.goto(`${baseUrl}/verify-receipt`)
    const field = verifier.getByLabel("Signed receipt", { exact: true })
    await field.waitFor()
    for (let tabs = 0; tabs < 5 && !(await field.evaluate((at) => at.matches(":focus"))); tabs++)
      await verifier.keyboard.press("Tab")
    await verifier.keyboard.insertText(jws)
    const verify = verifier.getByRole("button", { name: "Verify" })
    for (let tabs = 0; tabs < 5 && !(await verify.evaluate((at) => at.matches(":focus"))); tabs++)
      await verifier.keyboard.press("Tab")
    await verifier.keyboard.press("Enter")
    await verifier.getByText("Genuine: Demo Books was paid.").waitFor()
    await screenshot(verifier, "verify-receipt")
    const [head, body = "", signature] = jws.split(".")
    const forged = Buffer.from(
      Buffer.from(body, "base64url").toString().replace('"10.00"', '"99.00"')
    ).toString("base64url")
    await verifier.getByLabel("Signed receipt", { exact: true }).fill(`${head}.${forged}.${signature}`)
    await verifier.getByRole("button", { name: "Verify" }).click()
    await verifier
      .getByText("Not genuine: this service did not sign this text, or it was changed later.")
      .waitFor()
    await expectNoAxeViolations(verifier)
  })
})
