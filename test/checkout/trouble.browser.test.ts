// Trouble after the money was sent, or before the checkout can start: each case has its state and a way on.
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import type { BrowserContext, Page, Route } from "playwright-core"
import { type Hex, toHex } from "viem"
import { encodeTransfer } from "../../src/checkout/component/erc20.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { checkoutSuite } from "./browserWorld.ts"
import { deepEnough, press, receiver, toReview, untilState } from "./checkoutWorld.ts"
import { decline, type TestWallet } from "./testWallet.ts"

const { browserTest, world } = await checkoutSuite()
const {
  automine,
  baseUrl,
  chain,
  context,
  createIntent,
  fundRelayer,
  keys,
  mine,
  node,
  open,
  pages,
  payment,
  shopUrl,
  tokenEndingIn,
  transfers,
  untilRead,
  visit,
  wallet
} = world
const { chainId, env, name: networkName, usdc } = moneyNetwork

/** A wallet's "speed up" and "cancel": the same nonce at a higher price. */
const replace = async (wallet: TestWallet, to: Hex, data: Hex, nonce: number) => {
  const signed = await wallet.account.signTransaction({
    chainId,
    to,
    data,
    nonce,
    gas: 120_000n,
    maxFeePerGas: 9_000_000_000n,
    maxPriorityFeePerGas: 3_000_000_000n,
    type: "eip1559"
  })
  return wallet.rpc("eth_sendRawTransaction", [signed])
}

/** Waits for three checks, because two would decide. */
const staysConfirming = async (page: Page, wallet: TestWallet) => {
  const asked = wallet.count("eth_getLogs")
  while (wallet.count("eth_getLogs") < asked + 3) await Bun.sleep(100)
  await untilState(page, "confirming")
}

describe("A transaction", () => {
  browserTest("that the wallet speeds up settles under its new hash", async () => {
    const buyer = await wallet()
    const { token, id } = await createIntent()
    let first: unknown
    buyer.behave("eth_sendTransaction", async (_params, next) => {
      first = await next()
      return first
    })
    const browser = await context([buyer])
    const page = await open(browser, token)
    await toReview(page)
    await automine(false)
    await press(page, "Pay $10.00")
    await untilState(page, "confirming")
    const hash = await replace(buyer, usdc.address, encodeTransfer(receiver, 10_000_000n) as Hex, 0)
    await mine()
    await untilState(page, "settled", 40_000)
    const settled = await payment(id)
    expect(settled.reportedTransactionId).toBe(String(hash))
    expect(settled.reportedTransactionId).not.toBe(String(first))
    expect(await transfers(buyer)).toBe(1)
  })

  browserTest("that the wallet cancels leads back to the review, and the payment is paid then", async () => {
    const { buyer, page } = await visit()
    await toReview(page)
    await automine(false)
    await press(page, "Pay $10.00")
    await untilState(page, "confirming")
    await replace(buyer, buyer.account.address, "0x", 0)
    await mine(2)
    await untilState(page, "cancelled", 40_000)
    await page.getByRole("heading", { name: "Payment not completed" }).waitFor()
    await page.getByText("Another transaction replaced your payment.").last().waitFor()
    await press(page, "Start again")
    // A reorganisation may still include it.
    await page.getByText(`Checking on ${networkName} whether it was sent.`).last().waitFor()
    await mine(deepEnough)
    await automine(true)
    await untilState(page, "review")
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    expect(await transfers(buyer)).toBe(1)
  })

  browserTest(
    "whose report is refused for another reason is not called wrong, nor is it said that no money was sent",
    async () => {
      const { browser, buyer, page } = await visit()
      await toReview(page)
      const refuse = (calls: RegExp, code: string, retryable: boolean, status: number) =>
        browser.route(/\/api\/v1\/payments/, (route) =>
          calls.test(`${route.request().method()} ${route.request().url()}`)
            ? route.fulfill({ status, json: { error: { code, message: "x", retryable } } })
            : route.continue()
        )
      await refuse(/PATCH/, "RATE_LIMITED", true, 429)
      await press(page, "Pay $10.00")
      await page.getByText("The payment service is not responding.").first().waitFor()
      await refuse(/PATCH|\/payments$/, "INVALID_API_KEY", false, 401)
      await untilState(page, "failed")
      await page.getByText("This page can no longer follow your payment.").last().waitFor()
      await page.reload()
      await untilState(page, "failed")
      await page.getByText("This page can no longer follow your payment.").last().waitFor()
      expect(await transfers(buyer)).toBe(1)
    }
  )

  browserTest("under a nonce that the wallet chose itself is followed by that nonce", async () => {
    const buyer = await wallet()
    buyer.ignoresNonce = true
    buyer.behave("eth_getTransactionCount", async (params, next) =>
      params[1] === "pending" ? "0x0" : next()
    )
    const browser = await context([buyer])
    const page = await open(browser, (await createIntent()).token)
    await toReview(page)
    await automine(false)
    // Another transaction of the buyer is pending, which the wallet's node does not show.
    await replace(buyer, buyer.account.address, "0x", 0)
    await press(page, "Pay $10.00")
    await untilState(page, "confirming")
    await Bun.sleep(3_000)
    await untilState(page, "confirming")
    await mine()
    await untilState(page, "settled", 40_000)
    expect(await transfers(buyer)).toBe(1)
  })

  browserTest(
    "that the wallet's node does not show is not given up because of the requested nonce",
    async () => {
      const buyer = await wallet()
      buyer.ignoresNonce = true
      // The node's own count: by then the requested nonce is used, and the transaction unknown.
      buyer.behave("eth_getTransactionByHash", async () => null)
      buyer.behave("eth_getTransactionCount", async (params, next) => {
        if (params[1] === "pending") return "0x0"
        return buyer.count("eth_sendTransaction") > 0 ? "0x1" : next()
      })
      const browser = await context([buyer])
      const page = await open(browser, (await createIntent()).token)
      await toReview(page)
      await automine(false)
      await replace(buyer, buyer.account.address, "0x", 0)
      await press(page, "Pay $10.00")
      await untilState(page, "confirming")
      await staysConfirming(page, buyer)
      await mine()
      await untilState(page, "settled", 40_000)
      expect(await transfers(buyer)).toBe(1)
    }
  )

  browserTest(
    "that is cancelled and that the wallet's node never showed is given up after ten minutes",
    async () => {
      const buyer = await wallet()
      buyer.behave("eth_getTransactionByHash", async () => null)
      const browser = await context([buyer])
      const { id, token } = await createIntent()
      const page = await open(browser, token)
      await toReview(page)
      await automine(false)
      await press(page, "Pay $10.00")
      await untilState(page, "confirming")
      await replace(buyer, buyer.account.address, "0x", 0)
      await mine(deepEnough)
      await staysConfirming(page, buyer)
      await page.evaluate((key) => {
        const attempt = JSON.parse(localStorage.getItem(key) ?? "{}")
        localStorage.setItem(key, JSON.stringify({ ...attempt, startedAt: Date.now() - 600_000 }))
      }, `quittance-checkout:${id}`)
      await untilState(page, "cancelled", 40_000)
      await automine(true)
    }
  )

  browserTest("that reverts charges no payment and can be tried again", async () => {
    const { buyer, page } = await visit()
    await toReview(page)
    await automine(false)
    await press(page, "Pay $10.00")
    await untilState(page, "confirming")
    const blocked = (selector: string, price: bigint) =>
      Effect.runPromise(
        chain.rpc("eth_sendTransaction", [
          {
            from: chain.account(0).address,
            to: usdc.address,
            data: `${selector}${buyer.account.address.slice(2).toLowerCase().padStart(64, "0")}`,
            gas: "0x1e8480",
            gasPrice: toHex(price)
          }
        ])
      )
    // Circle blocks the buyer earlier in the same block.
    await blocked("0xf9f92be4", 90_000_000_000n)
    await mine(deepEnough)
    await untilState(page, "cancelled", 40_000)
    await page.getByText("The transaction failed on the network, and no USDC moved.").last().waitFor()
    expect(await transfers(buyer)).toBe(0)
    await automine(true)
    await blocked("0x1a895266", 90_000_000_000n)
    await untilRead()
    // The list of all attempts is older than the list of the account's own, in which the attempt ends.
    const listed = Promise.withResolvers<void>()
    await page.route(/\/attempts\?$/, async (route) => {
      const response = await route.fetch()
      listed.resolve()
      await route.fulfill({ response })
    })
    await page.route(/\/attempts\?payer/, async (route) => {
      await listed.promise
      await route.continue()
    })
    const answered = page.waitForResponse(/\/attempts\?payer/)
    await press(page, "Start again")
    await untilState(page, "review")
    await answered
    await Bun.sleep(100)
    expect(await page.getByText("started this payment at").count()).toBe(0)
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
  })

  browserTest(
    "from an account other than the one that signed is claimed by a signature of that account",
    async () => {
      const [buyer, other] = [await wallet(), await wallet()]
      buyer.behave("eth_sendTransaction", async (params) => {
        const { to, data } = params[0] as { to: Hex; data: Hex }
        return replace(other, to, data, 0)
      })
      const browser = await context([buyer])
      const page = await open(browser, (await createIntent()).token)
      await toReview(page)
      await press(page, "Pay $10.00")
      await page.getByRole("heading", { name: "Confirm it was you" }).waitFor()
      await page.getByText(`The transfer came from ${other.account.address}`).last().waitFor()
      buyer.behave("personal_sign", async (params) =>
        other.account.signMessage({ message: { raw: params[0] as Hex } })
      )
      buyer.behave("eth_accounts", async () => [other.account.address])
      await buyer.emit(page, "accountsChanged", [other.account.address])
      await press(page, "Sign the message")
      await untilState(page, "settled")
    }
  )
})

describe("When the network is down", () => {
  browserTest(
    "the service's node: the balance is unknown; the report is stored and settles later",
    async () => {
      const { buyer, page } = await visit()
      await toReview(page)
      node.behave(() => ({ raw: new Response("down", { status: 502 }) }))
      await press(page, "Pay $10.00")
      await page.getByText("The network is not responding.").last().waitFor()
      node.behave(() => undefined)
      await untilState(page, "settled", 40_000)
      expect(buyer.count("eth_sendTransaction")).toBe(1)
    }
  )

  browserTest("the wallet's node: nothing is sent, and trying again works", async () => {
    const { buyer, page } = await visit()
    await toReview(page)
    buyer.behave("eth_getTransactionCount", async () => {
      throw { code: -32603, message: "fetch failed" }
    })
    await press(page, "Pay $10.00")
    await page.getByText("Your wallet cannot reach the network.").last().waitFor()
    await untilState(page, "review")
    expect(buyer.count("eth_sendTransaction")).toBe(0)
    buyer.behave("eth_getTransactionCount", undefined)
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
  })

  browserTest(
    "the wallet's node after an unclear answer: no second request until the node answers",
    async () => {
      const buyer = await wallet()
      buyer.behave("eth_sendTransaction", async (_params, next) => {
        await next()
        buyer.behave("eth_getLogs", async () => {
          throw { code: -32603, message: "fetch failed" }
        })
        throw { code: -32603, message: "timeout" }
      })
      const browser = await context([buyer])
      const page = await open(browser, (await createIntent()).token)
      await toReview(page)
      await press(page, "Pay $10.00")
      await page.getByText("The network is not responding.").last().waitFor()
      expect(await page.getByRole("button", { name: "Send again" }).count()).toBe(0)
      buyer.behave("eth_getLogs", undefined)
      await untilState(page, "settled", 40_000)
      expect(await transfers(buyer)).toBe(1)
    }
  )

  browserTest("the buyer's connection while confirming: the page continues when it is back", async () => {
    const { browser, page } = await visit()
    await toReview(page)
    await automine(false)
    await press(page, "Pay $10.00")
    await untilState(page, "confirming")
    await browser.setOffline(true)
    await page.getByText("No connection.").last().waitFor()
    await mine()
    await browser.setOffline(false)
    await untilState(page, "settled", 40_000)
  })

  browserTest("the service at the start: the page retries, then offers to try again", async () => {
    const browser = await context([await wallet()])
    let down = true
    await browser.route(`${baseUrl}/api/**`, (route) => (down ? route.abort() : route.fallback()))
    const page = await open(browser, (await createIntent()).token)
    await page.getByText("The payment service is not responding.").last().waitFor()
    await untilState(page, "failed")
    down = false
    await press(page, "Try again")
    await untilState(page, "connect")
  })
})

describe("A proxy that passes only GET and POST", () => {
  /** As with a firewall in front of the service; `refuse` answers the request without the service. */
  const behind = (browser: BrowserContext, refuse: (route: Route) => Promise<void>) =>
    browser.route("**/api/v1/**", (route) =>
      ["GET", "POST", "OPTIONS"].includes(route.request().method()) ? route.fallback() : refuse(route)
    )

  for (const [name, refuse] of [
    ["and answers 403", (route: Route) => route.fulfill({ status: 403, body: "<h1>Forbidden</h1>" })],
    ["and answers 405", (route: Route) => route.fulfill({ status: 405 })],
    ["and resets others", (route: Route) => route.abort("connectionreset")]
  ] as const) {
    browserTest(`${name}: a buyer declines, then pays, and sees it settle`, async () => {
      const { browser, buyer, page } = await visit()
      await behind(browser, refuse)
      await toReview(page)
      buyer.behave("eth_sendTransaction", decline)
      await press(page, "Pay $10.00")
      await page.getByText("You declined the request in your wallet.").last().waitFor()
      buyer.behave("eth_sendTransaction", undefined)
      await press(page, "Pay $10.00")
      await untilState(page, "settled")
      expect(await transfers(buyer)).toBe(1)
    })
  }

  browserTest("and drops every report: the page shows the payment's outcome", async () => {
    const { browser, buyer, page } = await visit()
    await behind(browser, (route) => route.fulfill({ status: 403 }))
    await browser.route("**/report", (route) => route.fulfill({ status: 403 }))
    await toReview(page)
    await automine(false)
    await press(page, "Pay $10.00")
    await untilState(page, "confirming")
    expect(await page.getByText("No connection.").count()).toBe(0)
    await mine()
    await untilState(page, "settled")
    expect(await transfers(buyer)).toBe(1)
  })
})

/** The changes that Prototype.js 1.5 and 1.6, MooTools 1.3, Datejs, zone.js 0.8 and similar libraries make to a page. */
const oldLibraries = `
  Array.prototype.toJSON = function () { return "[" + this.join(", ") + "]" }
  String.prototype.toJSON = function () { return '"' + this + '"' }
  Number.prototype.toJSON = function () { return String(this) }
  Object.prototype.toJSON = function () { return "{}" }
  Object.prototype.extend = function () { return this }
  Array.from = function (items) { return [].slice.call(items) }
  Array.prototype.reduce = function () { return this.length > 1 ? this : this[0] }
  Array.prototype.entries = function () { return this.slice() }
  Object.keys = function (of) { var keys = []; for (var key in of) keys.push(key); return keys }
  Object.values = function (of) { var values = []; for (var key in of) values.push(of[key]); return values }
  window.Event = function (event) { this.isKey = event.type.indexOf("key") !== -1 }
  Date.parse = function () { return null }
  delete Promise.prototype.finally`

describe("A page whose libraries changed the prototypes", () => {
  for (const relayed of [false, true]) {
    browserTest(`sends a ${relayed ? "signature that pays" : "transfer"}, and its buyer token`, async () => {
      const buyer = await wallet({ gas: !relayed })
      if (relayed) await fundRelayer()
      const browser = await context([buyer])
      const { token, id } = await createIntent()
      pages.set("/old", {
        headers: { "content-type": "text/html" },
        body: `<!doctype html><script>${oldLibraries}</script><script defer src="${baseUrl}/checkout.js"></script>
          <quittance-checkout intent-token="${token}" publishable-key="${keys[env].publishable}"></quittance-checkout>`
      })
      const page = await browser.newPage()
      await page.goto(`${shopUrl}/old`)
      await toReview(page)
      await press(page, "Pay $10.00")
      await untilState(page, "settled")
      expect((await payment(id)).status).toBe("settled")
      expect(await transfers(buyer)).toBe(1)
    })
  }
})

describe("A checkout that cannot start", () => {
  browserTest(
    "resumes a payment that was opened earlier, and it is paid, after its token expired",
    async () => {
      const browser = await context([await wallet()])
      const token = await tokenEndingIn(12)
      const end = Date.now() + 12_100
      const page = await open(browser, token)
      await toReview(page)
      await Bun.sleep(Math.max(0, end - Date.now()))
      await page.reload()
      await untilState(page, "review")
      await press(page, "Pay $10.00")
      await untilState(page, "settled")
    }
  )
})

describe("A frame without an origin", () => {
  browserTest("has neither storage nor locks: it says so, and links to the hosted page", async () => {
    const browser = await context([])
    const { token } = await createIntent()
    const inner = `${shopUrl}/?token=${token}&key=${keys[env].publishable}`
    pages.set("/sandboxed", {
      headers: { "content-type": "text/html" },
      body: `<iframe width="360" height="600" sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox" src="${inner}"></iframe>`
    })
    const page = await browser.newPage()
    const errors: Array<string> = []
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()))
    await page.goto(`${shopUrl}/sandboxed`)
    const frame = page.frameLocator("iframe")
    await frame.getByText("Code STORAGE_BLOCKED").last().waitFor()
    await frame.getByText("This browser stores no data for this page").last().waitFor()
    expect(errors.join()).toContain("STORAGE_BLOCKED: localStorage is blocked here. In a sandboxed frame add")
    const opened = browser.waitForEvent("page")
    await frame.getByRole("link", { name: "Open the payment page" }).click()
    await untilState(await opened, "connect")
    // Where the hosted page stores nothing either, a link to it would lead nowhere.
    const blocked = await browser.newPage()
    await blocked.addInitScript(() => {
      Object.defineProperty(window, "localStorage", {
        get: () => {
          throw new DOMException("denied", "SecurityError")
        }
      })
    })
    await blocked.goto(`${baseUrl}/pay#token=${token}&key=${keys[env].publishable}`)
    await blocked.getByText("Allow cookies and site data for this page").last().waitFor()
    expect(await blocked.getByRole("link", { name: "Open the payment page" }).count()).toBe(0)
    world.complaints.splice(0)
  })
})
