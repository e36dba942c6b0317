// Paying with a wallet over WalletConnect, in real Chromium over the test's own relay.
import { afterAll, afterEach, beforeAll, describe, expect } from "bun:test"
import type { Page } from "playwright-core"
import { expectNoAxeViolations, hasChromium, screenshot } from "../support/browser.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { checkoutSuite } from "./browserWorld.ts"
import { press, untilState } from "./checkoutWorld.ts"
import { startWalletConnectRelay } from "./walletConnectRelay.ts"
import { makeWalletConnectWallet } from "./walletConnectWallet.ts"

const projectId = "0123456789abcdef0123456789abcdef"
const relay = startWalletConnectRelay()
afterAll(() => relay.stop())

const { browserTest, world } = await checkoutSuite(
  {},
  { WALLETCONNECT_PROJECT_ID: projectId, WALLETCONNECT_RELAY_URL: relay.url }
)
const { baseUrl, complaints, context, createIntent, keys, pages, payment, shopUrl, transfers, wallet } = world

const openPay = async (page: Page, token: string) => {
  await page.goto(`${baseUrl}/pay#token=${token}&key=${keys[moneyNetwork.env].publishable}`)
}
/** Decodes the QR code's text. */
const pairingOf = async (page: Page): Promise<string> => {
  await page.getByRole("button", { name: "WalletConnect" }).click()
  const link = page.getByRole("link", { name: "Open a wallet on this device" })
  await link.waitFor()
  return (await link.getAttribute("href")) ?? ""
}

const button = (page: Page) => page.getByRole("button", { name: "WalletConnect" })
const unreachable = "We cannot reach your wallet. Try again, or choose another."

describe("WalletConnect", () => {
  beforeAll(async () => {
    if (hasChromium) await world.fundRelayer()
  }, 120_000)
  afterEach(() => relay.silence(false))

  browserTest("a wallet with no wei scans the code, and pays by one signature", async () => {
    const buyer = await wallet({ gas: false })
    const pocket = await makeWalletConnectWallet(relay.url, projectId, buyer)
    const browser = await context([], { width: 1280 })
    const page = await browser.newPage()
    const { id, token } = await createIntent()
    await openPay(page, token)
    const uri = await pairingOf(page)
    expect(uri).toStartWith("wc:")
    await page.getByRole("img", { name: "QR code that connects a wallet" }).waitFor()
    await expectNoAxeViolations(page)
    await screenshot(page, "walletconnect-code")
    await pocket.pair(uri)
    await page.getByRole("button", { name: /^Pay \$/ }).waitFor()
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    expect(buyer.count("eth_signTypedData_v4")).toBe(1)
    expect(await payment(id)).toMatchObject({ status: "settled", payerType: "human" })
    expect(await transfers(buyer)).toBe(1)
  })

  browserTest("a pairing that the wallet declines leads back to the choice", async () => {
    const pocket = await makeWalletConnectWallet(relay.url, projectId, await wallet(), { approves: false })
    const browser = await context([])
    const page = await browser.newPage()
    await openPay(page, (await createIntent()).token)
    await pocket.pair(await pairingOf(page))
    await page.getByText("You declined the request in your wallet.").first().waitFor()
    await page.getByRole("button", { name: "WalletConnect" }).waitFor()
  })

  browserTest("a phone also shows the links to wallets' own browsers", async () => {
    const userAgent =
      "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36"
    const browser = await context([], { userAgent, width: 360 })
    const page = await browser.newPage()
    await openPay(page, (await createIntent()).token)
    await page.getByRole("link", { name: "MetaMask" }).waitFor()
    await page.getByRole("button", { name: "WalletConnect" }).waitFor()
    await expectNoAxeViolations(page)
    await screenshot(page, "walletconnect-phone")
    await pairingOf(page)
    await expectNoAxeViolations(page)
    await screenshot(page, "walletconnect-phone-code")
  })

  browserTest("an approval that arrives after the buyer chose another wallet connects nothing", async () => {
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
  })

  browserTest("WalletConnect can be chosen, left and chosen again by keyboard only", async () => {
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
  })

  browserTest("the session survives a reload, and ends when the wallet ends it", async () => {
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
  })

  browserTest("nothing of WalletConnect is loaded before it is chosen", async () => {
    const browser = await context([])
    const page = await browser.newPage()
    const asked: Array<string> = []
    browser.on("request", (request) => asked.push(request.url()))
    const sockets: Array<string> = []
    page.on("websocket", (socket) => sockets.push(socket.url()))
    await openPay(page, (await createIntent()).token)
    await button(page).waitFor()
    await page.waitForLoadState("networkidle")
    expect(asked).not.toContain(`${baseUrl}/walletconnect.js`)
    expect(sockets).toEqual([])
    await pairingOf(page)
    expect(asked.filter((url) => url === `${baseUrl}/walletconnect.js`)).toHaveLength(1)
  })

  browserTest(
    "a script that does not arrive or fails its integrity is reported, and fetched again",
    async () => {
      const browser = await context([])
      const page = await browser.newPage()
      await openPay(page, (await createIntent()).token)
      for (const fault of ["lost", "changed"]) {
        await browser.route(`${baseUrl}/walletconnect.js`, (route) =>
          fault === "lost"
            ? route.abort()
            : route.fulfill({
                contentType: "text/javascript",
                headers: { "access-control-allow-origin": "*" },
                body: "document.title = 'taken over'"
              })
        )
        await button(page).click()
        await page.getByText(unreachable).first().waitFor()
        expect(await page.title()).not.toBe("taken over")
        await browser.unroute(`${baseUrl}/walletconnect.js`)
      }
      expect(await pairingOf(page)).toStartWith("wc:")
    }
  )

  browserTest("a relay that does not answer is reported, and another wallet pays", async () => {
    const buyer = await wallet({ gas: false })
    const browser = await context([buyer])
    const page = await browser.newPage()
    await openPay(page, (await createIntent()).token)
    relay.silence(true)
    await button(page).click()
    await page.getByText(unreachable).first().waitFor({ timeout: 60_000 })
    await page.getByRole("button", { name: "Test Wallet" }).click()
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    expect(await transfers(buyer)).toBe(1)
  })

  browserTest(
    "a signature request that the wallet lets expire leads back to the review, which asks again",
    async () => {
      const buyer = await wallet({ gas: false })
      let asked = 0
      buyer.behave("eth_signTypedData_v4", async (_, next) => {
        asked += 1
        if (asked === 1) throw { code: 8000, message: "Request expired. Please try again." }
        return next()
      })
      const pocket = await makeWalletConnectWallet(relay.url, projectId, buyer)
      const browser = await context([])
      const page = await browser.newPage()
      await openPay(page, (await createIntent()).token)
      await pocket.pair(await pairingOf(page))
      await press(page, "Pay $10.00")
      await page.getByText(unreachable).first().waitFor()
      await page.getByText("None: paid for you").waitFor()
      await press(page, "Pay $10.00")
      await untilState(page, "settled")
    }
  )

  browserTest("a shop's page with the documented policy can pay over WalletConnect", async () => {
    pages.set("/order", {
      headers: {
        "content-type": "text/html",
        "content-security-policy": [
          "default-src 'none'",
          `script-src 'self' ${baseUrl}`,
          `connect-src ${baseUrl} ${relay.url} https://rpc.walletconnect.org ${moneyNetwork.isTest ? "" : world.node.url}`,
          "style-src 'self'",
          "img-src data:",
          "require-trusted-types-for 'script'",
          "trusted-types quittance"
        ].join("; ")
      },
      body: `<!doctype html><html lang="en"><title>Order</title><script src="${baseUrl}/checkout.js"></script>
        <body></body></html>`
    })
    const pocket = await makeWalletConnectWallet(relay.url, projectId, await wallet({ gas: false }))
    const browser = await context([])
    const page = await browser.newPage()
    await page.goto(`${shopUrl}/order`)
    const { id, token } = await createIntent()
    await page.evaluate(
      ([intent = "", key = ""]) => {
        const checkout = document.createElement("quittance-checkout")
        checkout.setAttribute("intent-token", intent)
        checkout.setAttribute("publishable-key", key)
        document.body.append(checkout)
      },
      [token, keys[moneyNetwork.env].publishable]
    )
    await pocket.pair(await pairingOf(page))
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    expect(await payment(id)).toMatchObject({ status: "settled" })
    expect(complaints).toEqual([])
  })

  browserTest(
    "the QR code is accessible and not cut off, light and dark, in Arabic, from 320 px",
    async () => {
      for (const locale of ["en", "ar"]) {
        const browser = await context([], { locale })
        const page = await browser.newPage()
        await openPay(page, (await createIntent()).token)
        await button(page).click()
        await page.locator("quittance-checkout svg.qr").waitFor()
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
          for (const width of [320, 360, 1280]) {
            await page.setViewportSize({ width, height: 800 })
            expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width)
            if (width !== 320) await screenshot(page, `walletconnect-code-${locale}-${colorScheme}-${width}`)
          }
          await expectNoAxeViolations(page)
        }
        await browser.close()
      }
    }
  )
})
