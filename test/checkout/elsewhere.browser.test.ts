// Buyers without a wallet in their browser: on a phone, by a QR code, and from an exchange.

import { describe, expect } from "bun:test"
import { Effect } from "effect"
import type { Locator, Page } from "playwright-core"
import { encode } from "uqr"
import { usdcAbi } from "../../src/app/dev/LocalUsdc.ts"
import { MerchantId } from "../../src/domain/Merchant.ts"
import { TransferRepo } from "../../src/payments/TransferRepo.ts"
import { untilOn } from "../support/browser.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { checkoutSuite } from "./browserWorld.ts"
import { press, receiver, toReview, untilState } from "./checkoutWorld.ts"

const { browserTest, world } = await checkoutSuite()
const { baseUrl, chain, context, createIntent, keys, merchantId, open, payment, runIn, shopUrl, wallet } =
  world

const phone =
  "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36"

/** Decodes the text of a QR code on the page from its modules. */
const codeOf = (page: Page) => page.locator("quittance-checkout svg.qr path").getAttribute("d")

describe("Paying from elsewhere", () => {
  browserTest("on a phone links open this very payment in the wallets' own browsers", async () => {
    const browser = await context([], { userAgent: phone })
    const { token } = await createIntent()
    const page = await open(browser, token)
    await page.getByText("Open this payment in your wallet app").first().waitFor()
    const href = (name: string) => page.getByRole("link", { name }).getAttribute("href")
    const url = `${baseUrl}/pay#token=${token}&key=${keys[moneyNetwork.env].publishable}`
    expect(await href("MetaMask")).toBe(`https://link.metamask.io/dapp/${url.replace("http://", "")}`)
    const encoded = encodeURIComponent(url)
    expect(await href("Coinbase Wallet")).toBe(`cbwallet://dapp?url=${encoded}`)
    expect(await href("Trust Wallet")).toBe(`trust://open_url?coin_id=60&url=${encoded}`)
    expect(await href("Rainbow")).toBe(`rainbow://dapp?url=${encoded}`)
    expect(await href("OKX Wallet")).toBe(`okx://wallet/dapp/url?dappUrl=${encoded}`)
  })

  browserTest("a desktop shows a QR code, and follows the payment on the phone", async () => {
    const { token } = await createIntent()
    const desk = await context([], { width: 1280 })
    let resumeCode = ""
    await desk.route("**/api/v1/payments", async (route) => {
      const response = await route.fetch()
      ;({ resumeCode } = await response.json())
      await route.fulfill({ response })
    })
    const page = await open(desk, token)
    await page.getByRole("img", { name: "QR code that opens this payment on a phone" }).waitFor()
    const scanned = `${baseUrl}/pay#c=${resumeCode}&key=${keys[moneyNetwork.env].publishable}`
    // A phone reads 45 modules at arm's length, with four of quiet around them.
    const { data, size } = encode(scanned, { ecc: "L", border: 4 })
    expect(size).toBeLessThanOrEqual(45 + 2 * 4)
    expect(await codeOf(page)).toBe(
      data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ""))).join("")
    )
    const pocket = await context([await wallet()], { userAgent: phone })
    const there = await pocket.newPage()
    await there.goto(scanned)
    await toReview(there)
    await press(there, "Pay $10.00")
    await untilState(there, "settled")
    const began = performance.now()
    await untilState(page, "settled")
    expect(performance.now() - began).toBeLessThan(20_000)
    // A reload shows the outcome; a phone that scans the code now sees that the payment is settled.
    await there.reload()
    await untilState(there, "settled")
    const late = await pocket.newPage()
    await late.goto(scanned)
    await late.getByText("This payment has ended.").waitFor()
    await Promise.all([desk.close(), pocket.close()])
  })

  browserTest("elements that have not changed stay in the page while the payment is followed", async () => {
    const browser = await context([], { userAgent: phone })
    const page = await open(browser, (await createIntent()).token)
    /** True if the element is still in the page after three polls of the payment. */
    const stays = async (element: Locator) => {
      const handle = await element.elementHandle()
      for (let looks = 0; looks < 3; looks++) await page.waitForResponse(/\/attempts/)
      return handle?.evaluate(({ isConnected }) => isConnected)
    }
    expect(await stays(page.getByRole("link", { name: "MetaMask" }))).toBe(true)
    await press(page, "Pay from an exchange")
    expect(await stays(page.getByText(receiver))).toBe(true)
  })

  browserTest(
    "a wallet app that injects its provider late, without an announcement, is found and named",
    async () => {
      const browser = await context([], { userAgent: phone })
      await browser.addInitScript(
        `setTimeout(() => { window.ethereum = { isTrust: true, request: async () => [] } }, 600)`
      )
      const page = await open(browser, (await createIntent()).token)
      await page.getByRole("button", { name: "Trust Wallet" }).waitFor()
    }
  )

  browserTest(
    "from an exchange: the page shows the address and the exact amount, and the transfer waits for the shop",
    async () => {
      const { token, id } = await createIntent("12.34")
      const browser = await context([], { width: 1280 })
      await browser.grantPermissions(["clipboard-read", "clipboard-write"], { origin: shopUrl })
      const page = await open(browser, token)
      await press(page, "Pay from an exchange")
      await page.getByText(receiver).waitFor()
      await page.getByText("This transfer does not identify your order", { exact: false }).first().waitFor()
      await press(page, "Copy: Address")
      await untilOn(page, `navigator.clipboard.readText().then((text) => text === "${receiver}")`)
      await press(page, "Copy: Exact amount in USDC")
      await untilOn(page, `navigator.clipboard.readText().then((text) => text === "12.34")`)
      const other = await createIntent("12.34")
      const newer = other.id
      const second = await open(await context([]), other.token)
      await second.getByRole("heading", { name: "Pay with your phone or a wallet" }).waitFor()
      // The service does not know the exchange's wallet.
      const hash = await chain.walletClient(0).writeContract({
        address: moneyNetwork.usdc.address,
        abi: usdcAbi,
        functionName: "mint",
        args: [receiver, 12_340_000n]
      })
      await chain.publicClient.waitForTransactionReceipt({ hash })
      expect(await payment(id)).toMatchObject({ status: "pending" })
      // The transfer waits for the shop, and this payment is suggested before a newer one of the same amount.
      const tenant = { merchantId: MerchantId.make(merchantId), env: moneyNetwork.env }
      const waiting = { status: "open" as const, limit: 10, startingAfter: undefined }
      const likely = await runIn(
        Effect.gen(function* () {
          const transferRepo = yield* TransferRepo
          for (;;) {
            const found = yield* transferRepo.listTransfers(tenant, waiting)
            const transfer = found.find(({ amount }) => amount === 12_340_000n)
            if (transfer !== undefined) return yield* transferRepo.likelyPayments(transfer)
            yield* Effect.sleep("100 millis")
          }
        }).pipe(Effect.timeout("60 seconds"))
      )
      expect(likely.map(({ payment: one }) => String(one.id))).toEqual([id, newer])
      expect(likely[0]?.reasons).toContain("address")
      await press(page, "Back")
      await page.getByRole("heading", { name: "Pay with your phone or a wallet" }).waitFor()
      // From now on the page cannot say that nothing was sent.
      await press(page, "Cancel")
      const kept = page.locator("[part=message]", { hasText: "If you already sent the transfer" })
      await kept.waitFor()
      await page.reload()
      await page.getByRole("heading", { name: "Pay with your phone or a wallet" }).waitFor()
      await press(page, "Cancel")
      await kept.waitFor()
      await Promise.all([browser.close(), second.context().close()])
    }
  )
})
