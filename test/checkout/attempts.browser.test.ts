// One payment, one payer: the attempts that the service records stop the same wallet from paying again in another
// browser, and settle a transfer that no browser reports.
import { describe, expect } from "bun:test"
import type { BrowserContext, Page } from "playwright-core"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { checkoutSuite } from "./browserWorld.ts"
import { press, toReview, untilState } from "./checkoutWorld.ts"
import { type Behaviour, decline } from "./testWallet.ts"

const { browserTest, world } = await checkoutSuite()
const { automine, context, createIntent, mine, open, transfers, wallet } = world

const never: Behaviour = () => new Promise(() => {})

const abortReports = (browser: BrowserContext) =>
  browser.route(/\/api\/v1\/payments\/[^/]+(\/report)?$/, (route) => route.abort())

const untilSettled = async (id: string, timeout: number) => {
  const end = Date.now() + timeout
  while (Date.now() < end) {
    if ((await world.payment(id)).status === "settled") return true
    await Bun.sleep(100)
  }
  return false
}

/** The heading in a browser while the wallet pays in another one. */
const beingPaid = (page: Page) => page.getByRole("heading", { name: "Payment in progress" }).waitFor()

describe("The same link in a second browser", () => {
  for (const ignoresNonce of [false, true]) {
    browserTest(
      `sends nothing while the first browser's transfer is unmined or unreported${ignoresNonce ? ", nonces ignored" : ""}`,
      async () => {
        const buyer = await wallet()
        buyer.ignoresNonce = ignoresNonce
        const { token, id } = await createIntent()
        const first = await context([buyer])
        await abortReports(first)
        const page = await open(first, token)
        await toReview(page)
        await automine(false)
        await press(page, "Pay $10.00")
        while ((await buyer.rpc("eth_getTransactionCount", [buyer.account.address, "pending"])) !== "0x1")
          await Bun.sleep(20)
        await first.close()

        buyer.connected = false
        const second = await context([buyer])
        const there = await open(second, token)
        await press(there, "Test Wallet")
        await beingPaid(there)
        expect(await there.getByText(/started this payment at \d/).count()).toBeGreaterThan(0)
        expect(await there.getByRole("button", { name: /^Pay|Start again|Send again/ }).count()).toBe(0)
        await there.reload()
        await beingPaid(there)
        await mine()
        await untilState(there, "settled")
        expect(await untilSettled(id, 1_000)).toBe(true)
        expect(buyer.count("eth_sendTransaction")).toBe(1)
        expect(await transfers(buyer)).toBe(1)
      }
    )
  }

  browserTest("that had already reached the review is refused when it announces an attempt", async () => {
    const buyer = await wallet()
    let approve = () => {}
    const approved = new Promise<void>((resolve) => {
      approve = resolve
    })
    buyer.behave("eth_sendTransaction", async (_params, next) => {
      await approved
      return next()
    })
    const { token } = await createIntent()
    const [phone, laptop] = [await context([buyer]), await context([buyer])]
    const [here, there] = [await open(phone, token), await open(laptop, token)]
    await toReview(here)
    await toReview(there)
    await press(here, "Pay $10.00")
    while (buyer.count("eth_sendTransaction") === 0) await Bun.sleep(20)
    await press(there, "Pay $10.00")
    await beingPaid(there)
    approve()
    await Promise.all([untilState(here, "settled"), untilState(there, "settled")])
    expect(buyer.count("eth_sendTransaction")).toBe(1)
    expect(await transfers(buyer)).toBe(1)
  })

  browserTest("may pay after the first browser declined", async () => {
    const buyer = await wallet()
    let refuse = () => {}
    const refused = new Promise<void>((resolve) => {
      refuse = resolve
    })
    buyer.behave("eth_sendTransaction", async (params, next) => {
      await refused
      return decline(params, next)
    })
    const { token } = await createIntent()
    const [phone, laptop] = [await context([buyer]), await context([buyer])]
    const [here, there] = [await open(phone, token), await open(laptop, token)]
    await toReview(here)
    await press(here, "Pay $10.00")
    while (buyer.count("eth_sendTransaction") === 0) await Bun.sleep(20)
    await press(there, "Test Wallet")
    await beingPaid(there)
    refuse()
    await untilState(here, "review")
    buyer.behave("eth_sendTransaction", undefined)
    await untilState(there, "review")
    await press(there, "Pay $10.00")
    await untilState(there, "settled")
    expect(await transfers(buyer)).toBe(1)
  })
})

// On Testnet every amount settles at once.
if (!moneyNetwork.isTest)
  describe("A payment whose transfer is being confirmed", () => {
    browserTest("waits on every page, and no page offers to pay again", async () => {
      const rich = { usdc: 500_000_000n }
      const { token } = await createIntent("150.00")
      // A desktop without a wallet, a desktop that lists its wallets, and a page that is about to pay.
      const bare = await open(await context([]), token)
      const listing = await open(await context([await wallet()]), token)
      const reviewing = await open(await context([await wallet(rich)]), token)
      await Promise.all([bare, listing].map((page) => untilState(page, "connect")))
      await toReview(reviewing)
      const paying = await open(await context([await wallet(rich)]), token)
      await toReview(paying)
      await press(paying, "Pay $150.00")
      await untilState(paying, "confirming")
      const fresh = await open(await context([]), token)
      for (const page of [bare, listing, reviewing, fresh]) {
        await untilState(page, "confirming")
        await page.getByText("confirms this amount in about 10 minutes").first().waitFor()
        expect(await page.locator("quittance-checkout .stages").count()).toBe(1)
        expect(await page.locator("quittance-checkout :is(button, svg.qr)").count()).toBe(0)
        expect(await page.getByText("started this payment").count()).toBe(0)
      }
      await mine(40)
      for (const page of [paying, bare, listing, reviewing, fresh]) await untilState(page, "settled")
    })

    browserTest("makes other pages wait even if nobody reports it", async () => {
      const buyer = await wallet({ usdc: 500_000_000n })
      const { token } = await createIntent("150.00")
      const bare = await open(await context([]), token)
      const browser = await context([buyer])
      await abortReports(browser)
      const paying = await open(browser, token)
      await toReview(paying)
      await press(paying, "Pay $150.00")
      await untilState(bare, "confirming")
      await browser.close()
      await mine(40)
      await untilState(bare, "settled")
    })
  })

describe("An announcement", () => {
  browserTest("that gets no answer does not reach the wallet; trying again pays once", async () => {
    const buyer = await wallet()
    const { token } = await createIntent()
    const browser = await context([buyer])
    // The service receives it, and the answer is lost.
    await browser.route("**/api/v1/payments/*/attempts", async (route) => {
      if (route.request().method() !== "POST") return route.continue()
      await route.fetch()
      await route.abort()
    })
    const page = await open(browser, token)
    await toReview(page)
    await press(page, "Pay $10.00")
    await page.getByText("The payment service is not responding.").last().waitFor()
    await untilState(page, "review")
    expect(buyer.count("eth_sendTransaction")).toBe(0)
    await page.reload()
    await untilState(page, "review")
    await browser.unroute("**/api/v1/payments/*/attempts")
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    expect(await transfers(buyer)).toBe(1)
  })

  browserTest("answered late, after the buyer has sent again, is not withdrawn", async () => {
    const buyer = await wallet()
    buyer.behave("eth_sendTransaction", never)
    const { token } = await createIntent()
    const browser = await context([buyer])
    const asked: Array<string> = []
    let answer = () => {}
    const late = new Promise<void>((resolve) => {
      answer = resolve
    })
    await browser.route("**/api/v1/payments/*/attempts*/**", (route) => {
      asked.push(route.request().method())
      return route.continue()
    })
    await browser.route("**/api/v1/payments/*/attempts", async (route) => {
      if (route.request().method() !== "POST") return route.continue()
      asked.push("POST")
      const response = await route.fetch()
      if (asked.length === 1) await late
      return route.fulfill({ response })
    })
    const page = await open(browser, token)
    await toReview(page)
    await press(page, "Pay $10.00")
    while (asked.length === 0) await Bun.sleep(20)
    await press(page, "Stop waiting")
    await press(page, "Send again")
    while (buyer.count("eth_sendTransaction") === 0) await Bun.sleep(20)
    answer()
    await Bun.sleep(1_000)
    expect(asked).toEqual(["POST", "POST"])
  })

  browserTest("whose end may not have reached the service is ended before the next one", async () => {
    const buyer = await wallet()
    buyer.behave("eth_sendTransaction", decline)
    const { token } = await createIntent()
    const browser = await context([buyer])
    const asked: Array<string> = []
    let cut = true
    await browser.route("**/api/v1/payments/*/attempts/*/decline", (route) => {
      asked.push(`decline ${route.request().url().split("/").at(-2)}`)
      return cut ? route.abort() : route.continue()
    })
    await browser.route("**/api/v1/payments/*/attempts", (route) => {
      if (route.request().method() === "POST") asked.push(`POST ${route.request().postDataJSON().attemptId}`)
      return route.continue()
    })
    const page = await open(browser, token)
    await toReview(page)
    await press(page, "Pay $10.00")
    await page.getByText("You declined the request in your wallet.").last().waitFor()
    await page.reload()
    await untilState(page, "review")
    cut = false
    buyer.behave("eth_sendTransaction", undefined)
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    const [first = "", , , second = ""] = asked.map((one) => one.split(" ")[1])
    expect(asked).toEqual([`POST ${first}`, `decline ${first}`, `decline ${first}`, `POST ${second}`])
    expect(second).not.toBe(first)
    expect(await transfers(buyer)).toBe(1)
  })
})
