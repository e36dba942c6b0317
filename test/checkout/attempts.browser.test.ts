// One payment, one payer: what the service knows of an attempt keeps the same wallet from
// paying again in another browser, and settles a transfer that no browser reports.
import { describe, expect } from "bun:test"
import type { BrowserContext, Page } from "playwright-core"
import { checkoutSuite } from "./browserWorld.ts"
import { press, toReview, untilState } from "./checkoutWorld.ts"
import { type Behaviour, decline } from "./testWallet.ts"

const { browserTest, world } = await checkoutSuite()
const { automine, baseUrl, context, createIntent, delivered, keys, mine, open, payment, transfers, wallet } =
  world

const never: Behaviour = () => new Promise(() => {})

const abortReports = (browser: BrowserContext) =>
  browser.route("**/api/v1/payments/*", (route) =>
    route.request().method() === "PATCH" ? route.abort() : route.continue()
  )

const sent = async (count: () => Promise<number>) => {
  while ((await count()) === 0) await Bun.sleep(20)
}

const untilSettled = async (id: string, timeout: number) => {
  const end = Date.now() + timeout
  while (Date.now() < end) {
    if ((await world.payment(id)).status === "settled") return true
    await Bun.sleep(100)
  }
  return false
}

/** The card of the wallet that pays in another browser already. */
const beingPaid = (page: Page) => page.getByRole("heading", { name: "This payment is being made" }).waitFor()

describe("A payment without the browser", () => {
  browserTest("settles within 15 s of its block, report blocked and tab closed", async () => {
    const buyer = await wallet()
    const { token, id } = await createIntent()
    const browser = await context([buyer])
    await abortReports(browser)
    const page = await open(browser, token)
    await toReview(page)
    const before = delivered.length
    await press(page, "Pay $10.00")
    await sent(() => transfers(buyer))
    await page.close()
    await browser.close()
    expect(await untilSettled(id, 15_000)).toBe(true)
    expect((await payment(id)).payerAddress).toBe(buyer.account.address)
    while (delivered.length === before) await Bun.sleep(50)
    await Bun.sleep(500)
    expect(delivered.length).toBe(before + 1)
  })
})

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
        expect(await there.getByText(/has been paying since \d/).count()).toBeGreaterThan(0)
        expect(await there.getByRole("button", { name: /^Pay|Start again|Send again/ }).count()).toBe(0)
        await there.reload()
        await beingPaid(there)
        await mine()
        await untilState(there, "settled")
        expect(await untilSettled(id, 1_000)).toBe(true)
        expect(buyer.count("eth_sendTransaction")).toBe(1)
        expect(await transfers(buyer)).toBe(1)
        await second.close()
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
    await phone.close()
    await laptop.close()
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
    await phone.close()
    await laptop.close()
  })

  browserTest("may pay with another wallet, which is warned and not stopped", async () => {
    const [buyer, other] = [await wallet(), await wallet()]
    buyer.behave("eth_sendTransaction", never)
    const { token } = await createIntent()
    const [phone, laptop] = [await context([buyer]), await context([buyer, other])]
    const [here, there] = [await open(phone, token), await open(laptop, token)]
    await toReview(here)
    await press(here, "Pay $10.00")
    while (buyer.count("eth_sendTransaction") === 0) await Bun.sleep(20)
    await press(there, "Test Wallet")
    await beingPaid(there)
    await press(there, "Use another wallet")
    await press(there, "Other Wallet 1")
    await untilState(there, "review")
    const short = `${buyer.account.address.slice(0, 6)}…${buyer.account.address.slice(-4)}`
    await there.getByText(`Another wallet, ${short}, has been paying this`).last().waitFor()
    await press(there, "Pay $10.00")
    await Promise.all([untilState(there, "settled")])
    expect([await transfers(buyer), await transfers(other)]).toEqual([0, 1])
    await phone.close()
    await laptop.close()
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
    await page.getByText("The payment service does not answer.").last().waitFor()
    await untilState(page, "review")
    expect(buyer.count("eth_sendTransaction")).toBe(0)
    await page.reload()
    await untilState(page, "review")
    await browser.unroute("**/api/v1/payments/*/attempts")
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    expect(await transfers(buyer)).toBe(1)
    await browser.close()
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
    await browser.close()
  })

  browserTest("whose end the service may not have heard of is ended before the next one", async () => {
    const buyer = await wallet()
    buyer.behave("eth_sendTransaction", decline)
    const { token } = await createIntent()
    const browser = await context([buyer])
    const asked: Array<string> = []
    let cut = true
    await browser.route("**/api/v1/payments/*/attempts/*", (route) => {
      asked.push(`DELETE ${route.request().url().split("/").at(-1)}`)
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
    expect(asked).toEqual([`POST ${first}`, `DELETE ${first}`, `DELETE ${first}`, `POST ${second}`])
    expect(second).not.toBe(first)
    expect(await transfers(buyer)).toBe(1)
    await browser.close()
  })

  browserTest("is bound to its payment: the token names it, and no other payment takes it", async () => {
    const buyer = await wallet()
    const { token, id } = await createIntent()
    const browser = await context([buyer])
    const page = await open(browser, token)
    const announced = page.waitForRequest(
      (request) => request.url().endsWith("/attempts") && request.method() === "POST"
    )
    await toReview(page)
    await press(page, "Pay $10.00")
    const { buyerDidToken } = (await announced).postDataJSON()
    const [, claim] = JSON.parse(Buffer.from(buyerDidToken, "base64").toString())
    const { aud, ext, iat, tid } = JSON.parse(claim)
    expect({ aud, life: ext - iat, tid }).toEqual({ aud: baseUrl, life: 7200, tid: id })
    await untilState(page, "settled")
    const other = await createIntent()
    const call = async (method: string, path: string, body: unknown) =>
      fetch(`${baseUrl}/api/v1/payments${path}`, {
        method,
        headers: { authorization: `Bearer ${keys.test.publishable}`, "content-type": "application/json" },
        body: JSON.stringify(body)
      })
    await call("POST", "", { intentToken: other.token })
    const refused = await call("POST", `/${other.id}/attempts`, { buyerDidToken, method: "transfer" })
    expect([refused.status, (await refused.json()).error.reason]).toEqual([401, "payment"])
    expect((await payment(other.id)).status).toBe("pending")
    await browser.close()
  })
})
