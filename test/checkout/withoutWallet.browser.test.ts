// The wallet of `TEST_WALLET=on`: a developer without a wallet pays on a local chain.
import { expect } from "bun:test"
import type { Page } from "playwright-core"
import { expectNoAxeViolations, screenshot } from "../support/browser.ts"
import { checkoutSuite } from "./browserWorld.ts"
import { press, untilState } from "./checkoutWorld.ts"

const { browserTest, world } = await checkoutSuite({}, { TEST_WALLET: "on" })
const { baseUrl, chain, complaints, context, createIntent, keys, pages, shopUrl } = world

browserTest("the playground pays with one click, and shows the webhook", async () => {
  const browser = await context([])
  const page = await browser.newPage()
  await page.goto(`${baseUrl}/playground#pk=${keys.test.publishable}`)
  await press(page, "Test wallet")
  await untilState(page, "needs-funds")
  await press(page, "Get $10.00 test USDC")
  await untilState(page, "review")
  await page.reload()
  await untilState(page, "review")
  await press(page, "Pay $1.00")
  await untilState(page, "settled")
  await page.getByText("delivered", { exact: true }).waitFor()
  await page.locator("#payload", { hasText: '"type": "payment.settled"' }).waitFor()
  await page.locator("#attempts", { hasText: "Attempt 1: your endpoint answered 204" }).waitFor()
  expect(await page.locator("#page-code").textContent()).toContain('integrity="sha384-')
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme })
    for (const width of [320, 360, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width)
      await screenshot(page, `playground-${colorScheme}-${width}`)
    }
    await expectNoAxeViolations(page)
  }
  // In development the built-in wallet calls the node that the service names; no other host is contacted.
  const node = complaints.splice(0).filter((one) => !one.includes(new URL(world.node.url).host))
  expect(node).toEqual([])
  expect(chain.rpcUrl).toStartWith("http://127.0.0.1")
})

/** Funds the new wallet of this page, and pays. */
const payWith = async (page: Page) => {
  await press(page, "Test wallet")
  await untilState(page, "needs-funds")
  await press(page, "Get $10.00 test USDC")
  await untilState(page, "review")
  await press(page, "Pay $10.00")
  await untilState(page, "settled")
}

browserTest("a shop's own page offers it, under the script's integrity", async () => {
  const { token } = await createIntent()
  const integrity = (await (await fetch(`${baseUrl}/checkout.js.integrity`)).text()).trim()
  pages.set("/order", {
    headers: { "content-type": "text/html" },
    body: `<!doctype html><title>Order</title>
      <script src="${baseUrl}/checkout.js" integrity="${integrity}" crossorigin="anonymous"></script>
      <quittance-checkout intent-token="${token}" publishable-key="${keys.test.publishable}"></quittance-checkout>`
  })
  const page = await (await context([])).newPage()
  await page.goto(`${shopUrl}/order`)
  await payWith(page)
  complaints.splice(0)
})

browserTest("a hosted page and a payment link offer it, under their own policies", async () => {
  const { token } = await createIntent()
  const created = await fetch(`${baseUrl}/api/v1/payment-links`, {
    method: "POST",
    headers: { authorization: `Bearer ${keys.test.secret}`, "content-type": "application/json" },
    body: JSON.stringify({ description: "Signed print", amount: "10.00" })
  })
  const { link } = await created.json()
  for (const address of [`${baseUrl}/pay#token=${token}&key=${keys.test.publishable}`, link.url]) {
    const page = await (await context([])).newPage()
    await page.goto(address)
    await payWith(page)
    const policies = complaints.splice(0).filter((one) => !one.includes(new URL(world.node.url).host))
    expect(policies).toEqual([])
  }
})
