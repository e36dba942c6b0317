// An agent's life in a real browser, on the whole service with the real USDC on anvil: created, funded, spending over
// REST, paused, revoked; and the page of its payment.

import { describe, expect, setDefaultTimeout } from "bun:test"
import { browserSuite, expectNoAxeViolations, newContext, screenshot, untilOn } from "../support/browser.ts"
import { freshAddress } from "../support/freshAddress.ts"
import { x402World } from "../x402/x402World.ts"
import { requirementsOf, signWith } from "./agentKey.ts"
import { signUp } from "./person.ts"

setDefaultTimeout(60_000)

const browserTest = browserSuite()

const world = await x402World()

describe("An agent's life", () => {
  browserTest("created, funded, paying, its payment in the dashboard, paused, revoked", async () => {
    const { baseUrl } = world
    const person = await signUp(baseUrl, freshAddress())
    const context = await newContext()
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: baseUrl })
    const [name = "", value = ""] = person.cookie.split("=")
    await context.addCookies([{ name, value, url: baseUrl }])
    const page = await context.newPage()
    const problems: Array<string> = []
    page.on("pageerror", (error) => problems.push(String(error)))
    const dialog = page.getByRole("dialog")
    const go = (to: string) =>
      page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: to }).click()

    await page.goto(`${baseUrl}/dashboard/${person.merchantId}/test`)
    await go("Agents")
    await page.getByText("No test agents").waitFor()
    await page.getByText(/\/packages\/[0-9a-f]{32}\/agent-proxy\.tgz/).waitFor()
    await screenshot(page, "agents-empty")
    await expectNoAxeViolations(page)

    await page.getByRole("button", { name: "Create agent" }).click()
    await page.getByLabel("Name").fill("Forecaster")
    await page.getByLabel("Cap per payment, in USD").fill("2")
    await page.getByLabel("Cap per 24 hours, in USD").fill("5")
    await page.getByLabel("Allowed hosts").fill("api.example.com")
    await dialog.getByRole("button", { name: "Create agent" }).click()
    await dialog.getByRole("button", { name: "Copy the key" }).click()
    await untilOn(page, "navigator.clipboard.readText().then((text) => text.startsWith('ak_test_'))")
    const key = await page.evaluate(() => navigator.clipboard.readText())
    expect(key).toMatch(/^ak_test_/)
    await dialog.getByText(/\/packages\/[0-9a-f]{32}\/agent-proxy\.tgz/).waitFor()
    await dialog.getByRole("button", { name: "Copy the command" }).click()
    await untilOn(page, "navigator.clipboard.readText().then((text) => text.includes(' npx --yes '))")
    const [variables, address] = (await page.evaluate(() => navigator.clipboard.readText())).split(
      " npx --yes "
    )
    expect(variables).toBe(`SERVICE_AGENT_KEY=${key} SERVICE_BASE_URL=${baseUrl}`)
    expect(address).toMatch(/^http:\/\/[^/]+\/packages\/[0-9a-f]{32}\/agent-proxy\.tgz$/)
    await dialog.getByRole("button", { name: "I have stored it" }).click()
    await dialog.waitFor({ state: "detached" })

    // Funded from the faucet, in real test USDC.
    await page.getByRole("link", { name: "Forecaster" }).click()
    await page.getByText("$0.00 USDC").waitFor()
    await page.getByRole("button", { name: "Fund from the faucet" }).click()
    await page.getByText(/^Sent \$[0-9.]+ to the wallet$/).waitFor()
    await page.getByText("$0.00 USDC").waitFor({ state: "detached" })

    // Its authorization appears without a reload, and becomes used when the chain shows it.
    const meter = page.getByRole("meter", { name: "Spent by Forecaster in the last 24 hours" })
    const spent = () => meter.evaluate((element) => Reflect.get(element, "value"))
    expect(await spent()).toBe(0)
    const signed = await signWith(baseUrl, key, "1.25", { payTo: person.receiver })
    expect(signed.status).toBe(201)
    await page.getByText("$1.25 of $5.00").waitFor()
    await page.getByText("$3.75 left").waitFor()
    expect(await spent()).toBe(1.25)
    await page.getByText("Reserved").waitFor()
    const header = JSON.parse(Buffer.from(signed.body.header.value, "base64").toString())
    const settled = await world.call("POST", "/x402/settle", person.keys.test.secret, {
      x402Version: 2,
      paymentPayload: header,
      paymentRequirements: requirementsOf("1.25", person.receiver)
    })
    expect(settled.body).toMatchObject({ success: true })
    await page.getByText("Paid", { exact: true }).waitFor({ timeout: 60_000 })
    await page.getByText("$8.75 USDC").waitFor()
    // No explorer shows the local chain.
    const hash: string = settled.body.transaction
    await page.getByRole("table").getByText(hash.slice(0, 6)).waitFor()
    expect(await page.getByRole("table").getByRole("link", { name: /0x/ }).count()).toBe(0)
    await screenshot(page, "agent-used")

    // The same payment in the merchant's list, settled without a report by hand.
    await go("Payments")
    await page.getByRole("link", { name: /^PAY-/ }).click()
    await page.getByText("Paid by an agent").waitFor()
    for (const step of ["Opened", "Paid by x402", "Verified and settled"]) {
      await page.locator(".timeline").getByText(step, { exact: true }).waitFor()
    }
    expect(await page.getByText("Reported", { exact: true }).count()).toBe(0)
    await screenshot(page, "payment-x402")

    // Pausing, resuming and revoking take effect at once.
    await go("Agents")
    await page.getByRole("link", { name: "Forecaster" }).click()
    await page.getByRole("button", { name: "Pause" }).click()
    await dialog.getByRole("button", { name: "Pause agent" }).click()
    await page.getByText("Paused", { exact: true }).waitFor()
    expect((await signWith(baseUrl, key, "0.10", { payTo: person.receiver })).body.error.code).toBe(
      "AGENT_PAUSED"
    )
    await page.getByRole("button", { name: "Resume" }).click()
    await dialog.getByRole("button", { name: "Resume agent" }).click()
    await page.getByText("Active", { exact: true }).waitFor()

    await page.getByRole("button", { name: "Change" }).click()
    await page.getByLabel("Cap per payment, in USD").fill("0.05")
    await dialog.getByRole("button", { name: "Save" }).click()
    await page.getByText("at most $0.05").waitFor()
    expect((await signWith(baseUrl, key, "0.10", { payTo: person.receiver })).body.error.code).toBe(
      "AGENT_CAP_EXCEEDED"
    )
    expect((await signWith(baseUrl, key, "0.05", { payTo: person.receiver })).status).toBe(201)

    await page.getByRole("button", { name: "Revoke" }).click()
    await dialog.getByText("stay valid until they expire, at most 10 minutes").waitFor()
    await dialog.getByRole("button", { name: "Revoke agent" }).click()
    await page.getByText("Revoked", { exact: true }).waitFor()
    expect((await signWith(baseUrl, key, "0.01", { payTo: person.receiver })).status).toBe(401)
    expect(await page.getByRole("button", { name: "Fund from the faucet" }).count()).toBe(0)

    // The live page says what holds there.
    await page.getByRole("link", { name: "Live", exact: true }).click()
    await page.getByText("live agents cannot pay").waitFor()
    expect(problems).toEqual([])
  })
})
