// One payment, one payer: what the service knows of an attempt keeps the same wallet from
// paying again in another browser, and settles a transfer that no browser reports.
import { describe, expect } from "bun:test"
import type { BrowserContext, Page } from "playwright-core"
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

/** The card of the wallet that pays in another browser already. */
const beingPaid = (page: Page) => page.getByRole("heading", { name: "Payment in progress" }).waitFor()

describe("The same link in a second browser", () => {
  for (const ignoresNonce of [false, true]) {
    browserTest(
      `sends nothing while the first one's transfer is unmined or unreported${ignoresNonce ? ", the wallet ignoring nonces" : ""}`,
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

  browserTest("that was in the review already is refused when it announces", async () => {
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

  browserTest("may pay once the first one was declined", async () => {
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

describe("An announcement", () => {
  browserTest("that gets no answer leaves the wallet alone; trying again pays once", async () => {
    const buyer = await wallet()
    const { token } = await createIntent()
    const browser = await context([buyer])
    // Heard by the service, and the answer lost.
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

  browserTest("answered late, when the buyer has sent again, is not taken back", async () => {
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

  browserTest("whose end the service may not have heard of is ended before the next one", async () => {
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
    await page.getByText("You declined in your wallet.").last().waitFor()
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
