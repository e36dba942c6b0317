// Paying by one signature in real Chromium: no ETH, no other chain, one prompt.
import { beforeAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import type { Page, Request } from "playwright-core"
import { getAddress } from "viem"
import { Address } from "../../src/domain/Chain.ts"
import { hasChromium, screenshot } from "../support/browser.ts"
import { create2Factory } from "../support/contracts.ts"
import { installMulticall } from "../support/installMulticall.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { checkoutSuite } from "./browserWorld.ts"
import { press, toReview, untilState } from "./checkoutWorld.ts"
import { type Behaviour, decline, type TestWallet } from "./testWallet.ts"

const { browserTest, world } = await checkoutSuite({}, { X402_FACTORIES: create2Factory })
const { automine, chain, context, createIntent, fundRelayer, mine, open, payment, transfers, visit, wallet } =
  world

/** The prompts that the wallet's user has to confirm. */
const promptsOf = (wallet: TestWallet) =>
  [
    "eth_signTypedData_v4",
    "personal_sign",
    "eth_sendTransaction",
    "wallet_sendCalls",
    "wallet_switchEthereumChain"
  ].reduce((sum, method) => sum + wallet.count(method), 0)

/** From the press of Pay to settled: time and traffic, for docs/checkout-in-detail.md. */
const measured = async (page: Page, buyer: TestWallet, name: string): Promise<number> => {
  const exchanges: Array<Promise<number>> = []
  const count = (request: Request) => {
    exchanges.push(
      request
        .sizes()
        .then(
          (one) =>
            one.requestBodySize + one.requestHeadersSize + one.responseBodySize + one.responseHeadersSize
        )
    )
  }
  page.on("requestfinished", count)
  const began = performance.now()
  await press(page, "Pay $10.00")
  await untilState(page, "settled")
  const took = performance.now() - began
  // Requests that end from here on may end because the page closes.
  page.off("requestfinished", count)
  const sizes = await Promise.all(exchanges)
  const bytes = sizes.reduce((sum, one) => sum + one, 0)
  console.log(
    `${name}: ${promptsOf(buyer)} prompts, ${sizes.length} requests, ${bytes} bytes, ${took.toFixed(0)} ms`
  )
  return took
}

const feeRow = (page: Page, text: string) => page.getByText(text).waitFor()
const none = "None: paid for you"

describe("Paying by a signature", () => {
  beforeAll(async () => {
    if (!hasChromium) return
    await world.fundRelayer()
    await Effect.runPromise(installMulticall(world.chain))
  }, 120_000)

  browserTest("a wallet with no wei, on another chain, pays with one prompt", async () => {
    const buyer = await wallet({ gas: false })
    buyer.chainId = 1
    const { token, id } = await createIntent("10.00")
    const browser = await context([buyer])
    const page = await open(browser, token)
    await toReview(page)
    await feeRow(page, none)
    expect(await measured(page, buyer, "by signature")).toBeLessThan(20_000)
    expect(promptsOf(buyer)).toBe(1)
    expect(await payment(id)).toMatchObject({ status: "settled", payerType: "human" })
    expect(await transfers(buyer)).toBe(1)
  })

  browserTest("a wallet that signs only for its own chain is asked to switch, once", async () => {
    const buyer = await wallet({ gas: false })
    buyer.chainId = 1
    buyer.known.add(moneyNetwork.chainId)
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
  })

  browserTest("a buyer can choose a transfer, and the page says who pays the fee", async () => {
    const { buyer, page } = await visit()
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
  })

  browserTest("a wallet that cannot sign typed data sends a transfer", async () => {
    const buyer = await wallet()
    buyer.behave("eth_signTypedData_v4", async () => {
      throw { code: -32601, message: "The method does not exist" }
    })
    const browser = await context([buyer])
    const page = await open(browser, (await createIntent()).token)
    await toReview(page)
    await press(page, "Pay $10.00")
    await page.getByText("This wallet cannot pay by signature here.").last().waitFor()
    await page.getByRole("button", { name: /^Pay \$/ }).waitFor()
    await press(page, "Pay $10.00")
    await untilState(page, "settled")
    expect(await transfers(buyer)).toBe(1)
  })

  browserTest("a wallet that ignores nonces pays once from two browsers", async () => {
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

  browserTest("a page that would send a transfer follows the signature of another browser", async () => {
    const buyer = await wallet()
    const { token } = await createIntent()
    const browsers = [await context([buyer]), await context([buyer])]
    const [sending, signing] = await Promise.all(browsers.map((one) => open(one, token)))
    if (sending === undefined || signing === undefined) throw new Error("two pages")
    await Promise.all([toReview(sending), toReview(signing)])
    await press(sending, "Pay the network fee yourself")
    await feeRow(sending, "You pay it, in ETH")
    await automine(false)
    await press(signing, "Pay $10.00")
    await untilState(signing, "submitted")
    await Bun.sleep(1_000)
    await press(sending, "Pay $10.00")
    await sending.getByText("Payment in progress").first().waitFor()
    await Bun.sleep(3_000)
    expect(await sending.getByText("Payment in progress").first().isVisible()).toBeTrue()
    await automine(true)
    await mine()
    await Promise.all([untilState(sending, "settled"), untilState(signing, "settled")])
    expect(buyer.count("eth_sendTransaction")).toBe(0)
    expect(await transfers(buyer)).toBe(1)
    await Promise.all(browsers.map((one) => one.close()))
  })

  browserTest(
    "a buyer whose payment another wallet has paid sends nothing, and sees which wallet paid",
    async () => {
      const buyers = [await wallet({ gas: false }), await wallet({ gas: false })] as const
      const { token } = await createIntent()
      const browsers = [await context([buyers[0]]), await context([buyers[1]])] as const
      const paying = await open(browsers[0], token)
      const late = await open(browsers[1], token)
      await toReview(paying)
      await toReview(late)
      await press(paying, "Pay $10.00")
      await untilState(paying, "settled")
      await paying.getByText("You paid $10.00 to Demo Books.").first().waitFor()
      await press(late, "Pay $10.00")
      await untilState(late, "settled")
      const { address } = buyers[0]
      const short = `${address.slice(0, 6)}…${address.slice(-4)}`
      await late.getByText(`Paid by the wallet ${short}: $10.00 to Demo Books.`).first().waitFor()
      expect(await late.getByText("Sent from your wallet").count()).toBe(0)
      expect([promptsOf(buyers[1]), await transfers(buyers[1])]).toEqual([0, 0])
      await screenshot(late, "settled-other")
      await Promise.all(browsers.map((one) => one.close()))
    }
  )

  browserTest("without a relayer, a wallet with USDC and no wei is told to get ETH", async () => {
    await fundRelayer(0n)
    const { browser, buyer, page } = await visit({ gas: false })
    await press(page, "Test Wallet")
    await untilState(page, "needs-funds")
    await page.getByText(new RegExp(`^Add ETH on ${moneyNetwork.name} to this address`)).waitFor()
    expect(await page.getByText(/USDC/).count()).toBe(0)
    await screenshot(page, "needs-gas")
    if (moneyNetwork.faucet) await press(page, "Get test ETH")
    else {
      await Effect.runPromise(chain.setEth(Address.make(buyer.address), 10n ** 18n))
      await press(page, "Check balance again")
    }
    await untilState(page, "review")
    await browser.close()
    await fundRelayer()
  })

  browserTest("a page that is reloaded after the signature submits it again", async () => {
    const { browser, buyer, page } = await visit({ gas: false })
    await toReview(page)
    let lost = 0
    await browser.route("**/authorization", (route) => {
      lost += 1
      return route.abort()
    })
    await press(page, "Pay $10.00")
    while (lost === 0) await Bun.sleep(20)
    await browser.unroute("**/authorization")
    await page.reload()
    await untilState(page, "settled")
    expect(buyer.count("eth_signTypedData_v4")).toBe(1)
    expect(await transfers(buyer)).toBe(1)
  })
})

describe("A contract wallet", () => {
  const mute: Behaviour = async (_params, next) => {
    await next()
    return new Promise(() => {})
  }
  /** A contract wallet with 50 USDC, whose owner has gas. */
  const contractWallet = async (deployed: boolean) => {
    const buyer = await wallet({ usdc: 0n })
    const contract = await buyer.becomeContract(deployed)
    await Effect.runPromise(chain.mint(Address.make(buyer.address), 50_000_000n))
    return { buyer, contract }
  }
  const relayed = (on: boolean) => world.fundRelayer(on ? 10n ** 20n : 0n)

  for (const [deployed, name] of [
    [true, "that is deployed (ERC-1271)"],
    [false, "that is deployed with its payment (ERC-6492)"]
  ] as const) {
    browserTest(`${name} pays by one signature`, async () => {
      await relayed(true)
      const { buyer } = await contractWallet(deployed)
      const { token, id } = await createIntent()
      const browser = await context([buyer])
      const page = await open(browser, token)
      await toReview(page)
      await press(page, "Pay $10.00")
      await untilState(page, "settled")
      expect(promptsOf(buyer)).toBe(1)
      expect(await transfers(buyer)).toBe(1)
      expect(await payment(id)).toMatchObject({ payerAddress: getAddress(buyer.address) })
    })
  }

  browserTest(
    "sends calls if there is no relayer: two prompts from another network, no ETH of its own",
    async () => {
      await relayed(false)
      const { buyer } = await contractWallet(false)
      buyer.chainId = 1
      const { token, id } = await createIntent()
      const browser = await context([buyer])
      const page = await open(browser, token)
      await toReview(page)
      await feeRow(page, "Shown by your wallet")
      await screenshot(page, "review-calls-360")
      await measured(page, buyer, "by calls")
      expect(promptsOf(buyer)).toBe(2)
      expect([buyer.count("wallet_sendCalls"), buyer.count("eth_sendTransaction")]).toEqual([1, 0])
      expect(await transfers(buyer)).toBe(1)
      expect(await payment(id)).toMatchObject({ status: "settled", payerAddress: getAddress(buyer.address) })
    }
  )

  browserTest("that has accepted the calls is polled for their outcome, also after a reload", async () => {
    await relayed(false)
    const { buyer, contract } = await contractWallet(true)
    contract.holds = true
    const browser = await context([buyer])
    const page = await open(browser, (await createIntent()).token)
    await toReview(page)
    await press(page, "Pay $10.00")
    await page.getByRole("heading", { name: "Payment sent" }).waitFor()
    await screenshot(page, "submitted-calls-360")
    await page.reload()
    await page.getByRole("heading", { name: "Payment sent" }).waitFor()
    await contract.sendHeld()
    await untilState(page, "settled")
    expect(buyer.count("wallet_sendCalls")).toBe(1)
    expect(buyer.count("personal_sign")).toBe(1)
    expect(await transfers(buyer)).toBe(1)
  })

  browserTest(
    "that never answers is found by the id that the page chose, and refuses a second use of it",
    async () => {
      await relayed(false)
      const { buyer, contract } = await contractWallet(true)
      let asked = 0
      buyer.behave("wallet_sendCalls", async (params, next) => {
        asked += 1
        return asked === 1 ? new Promise(() => {}) : asked === 2 ? mute(params, next) : next()
      })
      const browser = await context([buyer])
      const page = await open(browser, (await createIntent()).token)
      await toReview(page)
      await press(page, "Pay $10.00")
      await page.getByRole("heading", { name: "Approve the payment" }).waitFor()
      while (asked < 1) await Bun.sleep(20)
      await page.reload()
      await page.getByRole("heading", { name: "Did you approve the payment?" }).waitFor()
      contract.holds = true
      await press(page, "Send again")
      while (asked < 2) await Bun.sleep(20)
      const ids = buyer.requests
        .filter(({ method }) => method === "wallet_sendCalls")
        .map(({ params }) => JSON.stringify(params[0]).match(/"id":"([^"]+)"/)?.[1])
      expect(new Set(ids).size).toBe(1)
      await page.reload()
      await page.getByRole("heading", { name: "Looking for your payment" }).waitFor()
      await contract.sendHeld()
      await untilState(page, "settled")
      expect(await transfers(buyer)).toBe(1)
    }
  )

  browserTest(
    "that declines the calls has sent nothing; a wallet without calls sends a transaction",
    async () => {
      await relayed(false)
      const { buyer } = await contractWallet(true)
      buyer.behave("wallet_sendCalls", decline)
      const browser = await context([buyer])
      const page = await open(browser, (await createIntent()).token)
      await toReview(page)
      await press(page, "Pay $10.00")
      await page.getByText("You declined the request in your wallet. No money was sent.").last().waitFor()
      buyer.behave("wallet_sendCalls", async () => {
        throw { code: -32601, message: "The method does not exist" }
      })
      buyer.behave("eth_sendTransaction", decline)
      await press(page, "Pay $10.00")
      await page.getByText("Your wallet rejected the request.").last().waitFor()
      await press(page, "Pay $10.00")
      await page.getByText("You declined the request in your wallet. No money was sent.").last().waitFor()
      expect([buyer.count("wallet_sendCalls"), buyer.count("eth_sendTransaction")]).toEqual([2, 1])
      expect(await transfers(buyer)).toBe(0)
    }
  )
})
