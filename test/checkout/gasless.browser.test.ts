// Paying by one signature in real Chromium: no ETH, no other chain, one prompt.
import { beforeAll, describe, expect } from "bun:test"
import type { Page } from "playwright-core"
import { hasChromium } from "../support/browser.ts"
import { checkoutSuite } from "./browserWorld.ts"
import { press, toReview, untilState } from "./checkoutWorld.ts"
import { decline, type TestWallet } from "./testWallet.ts"

const { browserTest, world } = checkoutSuite()

/** What a person has to confirm in the wallet. */
const promptsOf = (wallet: TestWallet) =>
  ["eth_signTypedData_v4", "personal_sign", "eth_sendTransaction", "wallet_switchEthereumChain"].reduce(
    (sum, method) => sum + wallet.count(method),
    0
  )

/** From the press of Pay to settled: what it took, for docs/shop.md. */
const measured = async (page: Page, buyer: TestWallet, name: string): Promise<number> => {
  const exchanges: Array<Promise<number>> = []
  page.on("requestfinished", (request) => {
    exchanges.push(
      request
        .sizes()
        .then(
          (one) =>
            one.requestBodySize + one.requestHeadersSize + one.responseBodySize + one.responseHeadersSize
        )
    )
  })
  const began = performance.now()
  await press(page, "Pay $10.00")
  await untilState(page, "settled")
  const took = performance.now() - began
  const sizes = await Promise.all(exchanges)
  const bytes = sizes.reduce((sum, one) => sum + one, 0)
  console.log(
    `${name}: ${promptsOf(buyer)} prompts, ${sizes.length} requests, ${bytes} bytes, ${took.toFixed(0)} ms`
  )
  return took
}

const feeRow = (page: Page, text: string) => page.getByText(text).waitFor()
const none = "None for you: it is paid by the service"

describe("Paying by a signature", () => {
  beforeAll(async () => {
    if (hasChromium) await world().fundRelayer()
  }, 30_000)

  browserTest("a wallet with no wei, on another chain, pays with one prompt", async () => {
    const { context, createIntent, open, payment, transfers, wallet } = world()
    const buyer = await wallet({ gas: false })
    buyer.chainId = 1
    const { token, id } = await createIntent("10.00")
    const browser = await context([buyer])
    const page = await open(browser, token)
    await toReview(page)
    await feeRow(page, none)
    expect(await measured(page, buyer, "by signature")).toBeLessThan(3_000)
    expect(promptsOf(buyer)).toBe(1)
    expect(await payment(id)).toMatchObject({ status: "settled", payerType: "human" })
    expect(await transfers(buyer)).toBe(1)
    await browser.close()
  })

  browserTest("a wallet that signs for its own chain alone is asked to switch, once", async () => {
    const { context, createIntent, open, transfers, wallet } = world()
    const buyer = await wallet({ gas: false })
    buyer.chainId = 1
    buyer.known.add(84532)
    buyer.signsForItsChainAlone = true
    const browser = await context([buyer])
    const page = await open(browser, (await createIntent()).token)
    await toReview(page)
    await press(page, "Pay $10.00")
    await untilState(page, "wrong-network")
    await press(page, "Switch network")
    await untilState(page, "review")
    await page.getByRole("button", { name: /^Pay \$/ }).waitFor()
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    expect(await transfers(buyer)).toBe(1)
    await browser.close()
  })

  browserTest("declined: nothing was charged, and the next signature pays", async () => {
    const { context, createIntent, open, transfers, wallet } = world()
    const buyer = await wallet({ gas: false })
    const browser = await context([buyer])
    const page = await open(browser, (await createIntent()).token)
    await toReview(page)
    buyer.behave("eth_signTypedData_v4", decline)
    await press(page, "Pay $10.00")
    await page.getByText("You declined in your wallet. Nothing was charged.").last().waitFor()
    await untilState(page, "review")
    buyer.behave("eth_signTypedData_v4", undefined)
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    expect(await transfers(buyer)).toBe(1)
    await browser.close()
  })

  browserTest("the buyer prefers a transfer, and says who pays the fee", async () => {
    const { context, createIntent, open, transfers, wallet } = world()
    const buyer = await wallet()
    const browser = await context([buyer])
    const page = await open(browser, (await createIntent()).token)
    await toReview(page)
    await press(page, "Pay the network fee yourself")
    await feeRow(page, "You pay it, in ETH")
    await press(page, "Pay without a network fee")
    await feeRow(page, none)
    await press(page, "Pay the network fee yourself")
    await feeRow(page, "You pay it, in ETH")
    await measured(page, buyer, "by transfer")
    expect(buyer.count("eth_signTypedData_v4")).toBe(0)
    expect(await transfers(buyer)).toBe(1)
    await browser.close()
  })

  browserTest("a wallet that cannot sign typed data sends a transfer", async () => {
    const { context, createIntent, open, transfers, wallet } = world()
    const buyer = await wallet()
    buyer.behave("eth_signTypedData_v4", async () => {
      throw { code: -32601, message: "The method does not exist" }
    })
    const browser = await context([buyer])
    const page = await open(browser, (await createIntent()).token)
    await toReview(page)
    await press(page, "Pay $10.00")
    await page.getByText("This wallet cannot pay by a signature here.").last().waitFor()
    await page.getByRole("button", { name: /^Pay \$/ }).waitFor()
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    expect(await transfers(buyer)).toBe(1)
    await browser.close()
  })

  browserTest("a wallet that ignores nonces pays once from two browsers", async () => {
    const { context, createIntent, open, transfers, wallet } = world()
    const buyer = await wallet({ gas: false })
    buyer.ignoresNonce = true
    const { token } = await createIntent()
    const browsers = [await context([buyer]), await context([buyer])]
    const pages = await Promise.all(browsers.map((one) => open(one, token)))
    await Promise.all(pages.map(toReview))
    await Promise.all(pages.map((page) => press(page, "Pay $10.00")))
    await Promise.all(pages.map((page) => untilState(page, "settled")))
    expect(buyer.count("eth_signTypedData_v4")).toBe(2)
    expect(await transfers(buyer)).toBe(1)
    await Promise.all(browsers.map((one) => one.close()))
  })

  browserTest("a page that is reloaded after the signature hands it in again", async () => {
    const { context, createIntent, open, transfers, wallet } = world()
    const buyer = await wallet({ gas: false })
    const browser = await context([buyer])
    const page = await open(browser, (await createIntent()).token)
    await toReview(page)
    await browser.route("**/authorization", (route) => route.abort())
    await press(page, "Pay $10.00")
    await page.getByText("No connection. We keep trying; your payment is safe.").last().waitFor()
    await browser.unroute("**/authorization")
    await page.reload()
    await untilState(page, "settled")
    expect(buyer.count("eth_signTypedData_v4")).toBe(1)
    expect(await transfers(buyer)).toBe(1)
    await browser.close()
  })
})
