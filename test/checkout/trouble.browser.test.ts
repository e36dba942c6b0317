// What goes wrong after the money was sent, or before the checkout can start: each has
// its state and a way on.
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { type Hex, toHex } from "viem"
import { encodeTransfer } from "../../src/checkout/component/erc20.ts"
import { networks } from "../../src/domain/networks.ts"
import { checkoutSuite } from "./browserWorld.ts"
import { deepEnough, press, receiver, toReview, untilState } from "./checkoutWorld.ts"
import type { TestWallet } from "./testWallet.ts"

const { browserTest, world } = await checkoutSuite()
const {
  automine,
  baseUrl,
  chain,
  context,
  createIntent,
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
const { usdc, chainId } = networks.test

/** What a wallet does on "speed up" and "cancel": the same nonce at a higher price. */
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

/** However often the page looks what has become of it: two looks would decide. */
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

  browserTest("that the wallet cancels leads back to the review, and is paid then", async () => {
    const { buyer, page } = await visit()
    await toReview(page)
    await automine(false)
    await press(page, "Pay $10.00")
    await untilState(page, "confirming")
    await replace(buyer, buyer.account.address, "0x", 0)
    await mine(2)
    await untilState(page, "cancelled", 40_000)
    await page.getByText("Another transaction took the place of your payment.").last().waitFor()
    await press(page, "Start again")
    // A reorganisation may still bring it.
    await page.getByText("Checking on Base Sepolia whether it went out.").last().waitFor()
    await mine(deepEnough)
    await automine(true)
    await untilState(page, "review")
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    expect(await transfers(buyer)).toBe(1)
  })

  browserTest(
    "whose report is refused for another reason is not said to be wrong, nor that nothing was charged",
    async () => {
      const { browser, buyer, page } = await visit()
      await toReview(page)
      const refuse = (code: string, retryable: boolean, status: number) =>
        browser.route(/\/api\/v1\/payments/, (route) =>
          route.request().method() === "PATCH" || route.request().url().endsWith("/payments")
            ? route.fulfill({ status, json: { error: { code, message: "x", retryable } } })
            : route.continue()
        )
      // A proxy before the service, with a face of its own.
      await browser.route("**/api/v1/payments/*", (route) =>
        route.request().method() === "PATCH"
          ? route.fulfill({ status: 403, json: { message: "blocked" } })
          : route.continue()
      )
      await press(page, "Pay $10.00")
      await page.getByText("No connection. We keep trying").first().waitFor()
      await refuse("RATE_LIMITED", true, 429)
      await page.getByText("The payment service does not answer.").first().waitFor()
      await refuse("INVALID_API_KEY", false, 401)
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
    // Another transaction of the buyer's waits, which the wallet's node does not tell of.
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
    "that the wallet's node does not show is not given up for the nonce that was asked for",
    async () => {
      const buyer = await wallet()
      buyer.ignoresNonce = true
      // The node's own count: the nonce that the page asks for is used by then, and the transaction unknown.
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
    "that is cancelled and that the wallet's node has never shown is given up after ten minutes",
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
    // Circle blocks the buyer in the same block, first.
    await blocked("0xf9f92be4", 90_000_000_000n)
    await mine(deepEnough)
    await untilState(page, "cancelled", 40_000)
    await page.getByText("The network rejected the transaction.").last().waitFor()
    expect(await transfers(buyer)).toBe(0)
    await automine(true)
    await blocked("0x1a895266", 90_000_000_000n)
    await untilRead()
    // The list of all attempts is older than the one of the account's own, with which its attempt ends.
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
    expect(await page.getByText("has been paying this").count()).toBe(0)
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
  })

  browserTest("from an account other than the signed one is claimed by signing with it", async () => {
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
  })
})

describe("When the network is down", () => {
  browserTest(
    "the service's node: the balance is unknown, the report is kept and settles later",
    async () => {
      const { buyer, page } = await visit()
      await toReview(page)
      node.behave(() => ({ raw: new Response("down", { status: 502 }) }))
      await press(page, "Pay $10.00")
      await page.getByText("The network does not answer.").last().waitFor()
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

  browserTest("the wallet's node after an unclear answer: no sending again until it answers", async () => {
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
    await page.getByText("The network does not answer.").last().waitFor()
    expect(await page.getByRole("button", { name: "Send again" }).count()).toBe(0)
    buyer.behave("eth_getLogs", undefined)
    await untilState(page, "settled", 40_000)
    expect(await transfers(buyer)).toBe(1)
  })

  browserTest("the buyer's connection while confirming: it goes on when it is back", async () => {
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

  browserTest("the service at the start: it tries, then offers to try again", async () => {
    const browser = await context([await wallet()])
    let down = true
    await browser.route(`${baseUrl}/api/**`, (route) => (down ? route.abort() : route.fallback()))
    const page = await open(browser, (await createIntent()).token)
    await page.getByText("The payment service does not answer.").last().waitFor()
    await untilState(page, "failed")
    down = false
    await press(page, "Try again")
    await untilState(page, "connect")
  })
})

describe("A checkout that cannot start", () => {
  browserTest("but a payment that was opened resumes, and is paid, after its token expired", async () => {
    const token = await tokenEndingIn(3)
    const browser = await context([await wallet()])
    const page = await open(browser, token)
    await toReview(page)
    await Bun.sleep(3_100)
    await page.reload()
    await untilState(page, "review")
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
  })
})

describe("A frame without an origin", () => {
  browserTest("has neither storage nor locks: the checkout does not start there", async () => {
    const browser = await context([])
    const inner = `${shopUrl}/?token=${(await createIntent()).token}&key=${keys.test.publishable}`
    pages.set("/sandboxed", {
      headers: { "content-type": "text/html" },
      body: `<iframe width="360" height="600" sandbox="allow-scripts" src="${inner}"></iframe>`
    })
    const page = await browser.newPage()
    await page.goto(`${shopUrl}/sandboxed`)
    await page.frameLocator("iframe").getByText("Code STORAGE_BLOCKED").last().waitFor()
    world.complaints.splice(0)
  })
})
