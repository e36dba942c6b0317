// The wallet of `TEST_WALLET=on`: a developer without a wallet pays on a local chain.
import { expect } from "bun:test"
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

browserTest("a shop's own page offers it, and the order is paid", async () => {
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
  await press(page, "Test wallet")
  await untilState(page, "needs-funds")
  await press(page, "Get $10.00 test USDC")
  await untilState(page, "review")
  await press(page, "Pay $10.00")
  await untilState(page, "settled")
  complaints.splice(0)
})
