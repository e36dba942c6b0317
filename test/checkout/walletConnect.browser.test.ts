// Paying with a wallet at the other end of WalletConnect, in real Chromium over a relay of the test's own.
import { afterAll, beforeAll, describe, expect } from "bun:test"
import type { Page } from "playwright-core"
import { expectNoAxeViolations, hasChromium, screenshot } from "../support/browser.ts"
import { checkoutSuite } from "./browserWorld.ts"
import { press, untilState } from "./checkoutWorld.ts"
import { startWalletConnectRelay } from "./walletConnectRelay.ts"
import { makeWalletConnectWallet } from "./walletConnectWallet.ts"

const projectId = "0123456789abcdef0123456789abcdef"
const relay = startWalletConnectRelay()
afterAll(() => relay.stop())

const { browserTest, world } = checkoutSuite(
  {},
  { WALLETCONNECT_PROJECT_ID: projectId, WALLETCONNECT_RELAY_URL: relay.url }
)

const openPay = async (page: Page, token: string) => {
  const { baseUrl, keys } = world()
  await page.goto(`${baseUrl}/pay#token=${token}&key=${keys.test.publishable}`)
}
/** What the code says. */
const pairingOf = async (page: Page): Promise<string> => {
  await page.getByRole("button", { name: "WalletConnect" }).click()
  const link = page.getByRole("link", { name: "Open a wallet on this device" })
  await link.waitFor()
  return (await link.getAttribute("href")) ?? ""
}

describe("WalletConnect", () => {
  beforeAll(async () => {
    if (hasChromium) await world().fundRelayer()
  }, 30_000)

  browserTest("a wallet with no wei scans the code, and pays by one signature", async () => {
    const { context, createIntent, payment, transfers, wallet } = world()
    const buyer = await wallet({ gas: false })
    const pocket = await makeWalletConnectWallet(relay.url, projectId, buyer)
    const browser = await context([], { width: 1280 })
    const page = await browser.newPage()
    const { id, token } = await createIntent()
    await openPay(page, token)
    const uri = await pairingOf(page)
    expect(uri).toStartWith("wc:")
    await page.getByRole("img", { name: "Code that connects a wallet" }).waitFor()
    await expectNoAxeViolations(page)
    await screenshot(page, "walletconnect-code")
    await pocket.pair(uri)
    await page.getByRole("button", { name: /^Pay \$/ }).waitFor()
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    expect(buyer.count("eth_signTypedData_v4")).toBe(1)
    expect(await payment(id)).toMatchObject({ status: "settled", payerType: "human" })
    expect(await transfers(buyer)).toBe(1)
    await browser.close()
  })

  browserTest("a pairing that the wallet declines leads back to the choice", async () => {
    const { context, createIntent, wallet } = world()
    const pocket = await makeWalletConnectWallet(relay.url, projectId, await wallet(), { approves: false })
    const browser = await context([])
    const page = await browser.newPage()
    await openPay(page, (await createIntent()).token)
    await pocket.pair(await pairingOf(page))
    await page.getByText("You declined in your wallet.").first().waitFor()
    await page.getByRole("button", { name: "WalletConnect" }).waitFor()
    await browser.close()
  })

  browserTest("a phone keeps the links to wallets' own browsers beside it", async () => {
    const { context, createIntent } = world()
    const userAgent =
      "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36"
    const browser = await context([], { userAgent, width: 360 })
    const page = await browser.newPage()
    await openPay(page, (await createIntent()).token)
    await page.getByRole("link", { name: "MetaMask" }).waitFor()
    await page.getByRole("button", { name: "WalletConnect" }).waitFor()
    await expectNoAxeViolations(page)
    await screenshot(page, "walletconnect-phone")
    await browser.close()
  })

  browserTest("an approval that comes after another wallet was chosen connects nothing", async () => {
    const { context, createIntent, transfers, wallet } = world()
    const [late, buyer] = [await wallet({ gas: false }), await wallet({ gas: false })]
    const pocket = await makeWalletConnectWallet(relay.url, projectId, late)
    const browser = await context([buyer])
    const page = await browser.newPage()
    await openPay(page, (await createIntent()).token)
    const uri = await pairingOf(page)
    await page.getByRole("button", { name: "Stop waiting" }).click()
    await page.getByRole("button", { name: "Test Wallet" }).click()
    await page.getByRole("button", { name: /^Pay \$/ }).waitFor()
    await pocket.pair(uri)
    await Bun.sleep(1_000)
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    expect(late.count("eth_signTypedData_v4")).toBe(0)
    expect(await transfers(buyer)).toBe(1)
    await browser.close()
  })

  browserTest("is chosen, left and chosen again by keyboard alone", async () => {
    const { context, createIntent } = world()
    const browser = await context([])
    const page = await browser.newPage()
    await openPay(page, (await createIntent()).token)
    for (const _ of [1, 2]) {
      await page.getByRole("button", { name: "WalletConnect" }).focus()
      await page.keyboard.press("Enter")
      await page.getByRole("link", { name: "Open a wallet on this device" }).waitFor()
      await page.getByRole("button", { name: "Stop waiting" }).focus()
      await page.keyboard.press("Enter")
    }
    await page.getByRole("button", { name: "WalletConnect" }).waitFor()
    await browser.close()
  })

  browserTest("the session lasts over a reload, and ends when the wallet ends it", async () => {
    const { context, createIntent, wallet } = world()
    const pocket = await makeWalletConnectWallet(relay.url, projectId, await wallet({ gas: false }))
    const browser = await context([])
    const page = await browser.newPage()
    await openPay(page, (await createIntent()).token)
    await pocket.pair(await pairingOf(page))
    await page.getByRole("button", { name: /^Pay \$/ }).waitFor()
    await page.reload()
    await page.getByRole("button", { name: /^Pay \$/ }).waitFor()
    await pocket.disconnect()
    await page.getByRole("button", { name: "WalletConnect" }).waitFor()
    await browser.close()
  })
})
