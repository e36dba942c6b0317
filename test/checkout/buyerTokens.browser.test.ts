// The buyer tokens that a merchant accepts: with its own audience, none for another merchant's checkout, and none that
// lives longer than it allows. Its own checkout follows both rules.
import { describe, expect } from "bun:test"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { createDidToken } from "../../src/payments/buyers/createDidToken.ts"
import { screenshot } from "../support/browser.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { checkoutSuite } from "./browserWorld.ts"
import { press, receiver, toReview, untilState } from "./checkoutWorld.ts"

const { browserTest, world } = await checkoutSuite({
  identityAudience: "https://acme.example",
  boundTokensOnly: true,
  tokenLifetimeSeconds: 600
})
const { baseUrl, context, createIntent, keys, open, transfers, visit, wallet } = world

describe("A merchant with rules for tokens", () => {
  browserTest("is paid through its own checkout", async () => {
    const { buyer, page } = await visit()
    await toReview(page)
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    expect(await transfers(buyer)).toBe(1)
  })

  browserTest("is paid although it has shortened the lifetime since the page opened", async () => {
    const buyer = await wallet()
    const browser = await context([buyer])
    // The shop's context when the page was opened.
    await browser.route(
      `${baseUrl}/api/v1/checkout-context`,
      async (route) => {
        const response = await route.fetch()
        await route.fulfill({ response, json: { ...(await response.json()), tokenLifetimeSeconds: 7_200 } })
      },
      { times: 1 }
    )
    const page = await open(browser, (await createIntent()).token)
    await toReview(page)
    await press(page, "Pay $10.00")
    await page.getByText("The shop did not accept this signature.").first().waitFor()
    await screenshot(page, "sign-anew-360")
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    expect(await transfers(buyer)).toBe(1)
  })

  browserTest("says what to do if its key has changed since the page opened", async () => {
    const { buyer, page } = await visit()
    await toReview(page)
    const error = { code: "INVALID_API_KEY", message: "The API key is missing.", retryable: false }
    await page.route(`${baseUrl}/api/v1/**`, (route) =>
      route.fulfill({
        status: 401,
        headers: { "access-control-allow-origin": "*" },
        contentType: "application/json",
        body: JSON.stringify({ error })
      })
    )
    await press(page, "Pay $10.00")
    await page.getByText("The shop changed its checkout after you opened this page.").first().waitFor()
    await screenshot(page, "key-changed-360")
    expect(await transfers(buyer)).toBe(0)
    // The key is accepted again, as after a reload with the new key.
    await page.unroute(`${baseUrl}/api/v1/**`)
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    expect(await transfers(buyer)).toBe(1)
  })

  browserTest(
    "refuses tokens of other shops and of other payments, unbound tokens and long-lived ones",
    async () => {
      const now = Math.floor(Date.now() / 1000)
      const account = privateKeyToAccount(generatePrivateKey())
      const call = (method: string, path: string, body: unknown) =>
        fetch(`${baseUrl}/api/v1${path}`, {
          method,
          headers: {
            authorization: `Bearer ${keys[moneyNetwork.env].publishable}`,
            "content-type": "application/json"
          },
          body: JSON.stringify(body)
        })
      const [payment, other] = [await createIntent(), await createIntent()]
      for (const { token } of [payment, other]) await call("POST", "/payments", { intentToken: token })
      const own = { audience: "https://acme.example", lifetimeSeconds: 600, now, id: payment.id }
      const reasonOf = async (
        method: string,
        path: string,
        options: Partial<typeof own>,
        more: object = {}
      ) => {
        const buyerDidToken = await createDidToken(account, { ...own, ...options })
        const response = await call(method, path, { buyerDidToken, ...more })
        const { error } = await response.json()
        return [response.status, error?.code, error?.reason].filter((part) => part !== undefined).join(" ")
      }
      const report = (options: Partial<typeof own>) =>
        reasonOf("PATCH", `/payments/${payment.id}`, options, {
          transactionId: `0x${"ab".repeat(32)}`,
          tokenChanges: [
            {
              amountAtomic: "10000000",
              chainId: moneyNetwork.chainId,
              receiver,
              tokenAddress: moneyNetwork.usdc.address
            }
          ]
        })
      const announce = (options: Partial<typeof own>) =>
        reasonOf("POST", `/payments/${payment.id}/attempts`, options, { method: "transfer" })
      const refused = (reason: string) => `401 INVALID_BUYER_TOKEN ${reason}`
      for (const ask of [report, announce]) {
        expect(await ask({ audience: baseUrl })).toBe(refused("audience"))
        expect(await ask({ lifetimeSeconds: 601 })).toBe(refused("lifetime"))
        expect(await ask({ id: other.id })).toBe(refused("payment"))
        expect(await ask({ id: "unbound" })).toBe(refused("payment"))
      }
      expect(await report({})).toBe(`202 ${moneyNetwork.reportCodes.pending}`)
      if (!moneyNetwork.faucet) return
      const fund = (options: Partial<typeof own>) => reasonOf("POST", "/checkout/test-funds", options)
      expect(await fund({ audience: baseUrl })).toBe(refused("audience"))
      expect(await fund({ lifetimeSeconds: 86_400 })).toBe(refused("lifetime"))
      expect(await fund({ id: "whatever" })).toBe("201")
    }
  )
})
