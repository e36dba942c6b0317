// The cost of each way of paying, for docs/checkout-in-detail.md: prompts of the wallet, taps, requests, bytes and seconds, in
// Chromium on anvil. `bun run test:long` prints the table; medians of five, on an otherwise idle machine.
import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import type { BrowserContext, Page } from "playwright-core"
import { Address } from "../../src/domain/Chain.ts"
import { checkoutSuite } from "./browserWorld.ts"
import { untilState } from "./checkoutWorld.ts"
import type { TestWallet } from "./testWallet.ts"
import { startWalletConnectRelay } from "./walletConnectRelay.ts"
import { makeWalletConnectWallet } from "./walletConnectWallet.ts"

const projectId = "0123456789abcdef0123456789abcdef"
const relay = startWalletConnectRelay()
afterAll(() => relay.stop())
const { browserTest, world } = await checkoutSuite(
  {},
  { WALLETCONNECT_PROJECT_ID: projectId, WALLETCONNECT_RELAY_URL: relay.url }
)
const { baseUrl, context, createIntent, fundRelayer, keys, wallet } = world
const rounds = 5
const phone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1"

const prompts = [
  "eth_signTypedData_v4",
  "personal_sign",
  "eth_sendTransaction",
  "wallet_sendCalls",
  "wallet_switchEthereumChain"
]
const promptsOf = (wallet: TestWallet) => prompts.reduce((sum, method) => sum + wallet.count(method), 0)

/** Requests and bytes that the browser exchanges, headers and bodies, from now on. */
const traffic = (browser: BrowserContext) => {
  const exchanges: Array<Promise<number>> = []
  browser.on("requestfinished", (request) => {
    const size = request.sizes().then(
      (one) => one.requestBodySize + one.requestHeadersSize + one.responseBodySize + one.responseHeadersSize,
      () => 0
    )
    exchanges.push(size)
  })
  return {
    take: async () => {
      const sizes = await Promise.all(exchanges.splice(0))
      return { requests: sizes.length, bytes: sizes.reduce((sum, one) => sum + one, 0) }
    }
  }
}

interface Way {
  readonly name: string
  readonly relayed: boolean
  /** Runs before the wallet connects to the page. */
  readonly prepare?: (buyer: TestWallet) => Promise<void>
  readonly userAgent?: string
  /** Opens the page that the buyer pays on. */
  readonly open: (browser: BrowserContext) => Promise<Page>
  /** Present if the wallet is not in the page's browser. */
  readonly connect?: (page: Page, buyer: TestWallet) => Promise<void>
  /** Requests that the wallet refuses without asking its owner. */
  readonly refused?: number
  /** The presses from the review on; returns their number. */
  readonly presses?: (page: Page) => Promise<number>
  /** Waits until the second screen shows it: the desktop next to a phone, the tablet of a counter. */
  readonly seen?: () => Promise<void>
}

const pay = async (page: Page) => {
  await page.getByRole("button", { name: /^Pay \$/ }).click()
  return 1
}

const chosen = (page: Page) => page.getByRole("button", { name: "Test Wallet" }).click()

const median = (values: ReadonlyArray<number>) =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0

const measured = async (way: Way): Promise<string> => {
  await fundRelayer(way.relayed ? 10n ** 20n : 0n)
  const runs: Array<{
    opened: number
    requests: number
    bytes: number
    millis: number
    prompts: number
    taps: number
  }> = []
  for (let round = 0; round < rounds; round++) {
    const buyer = await wallet({ gas: !way.relayed })
    await way.prepare?.(buyer)
    const browser = await context(
      way.connect === undefined ? [buyer] : [],
      way.userAgent === undefined ? {} : { userAgent: way.userAgent }
    )
    const counted = traffic(browser)
    const page = await way.open(browser)
    await (way.connect ?? chosen)(page, buyer)
    await page.getByRole("button", { name: /^Pay \$/ }).waitFor()
    const opened = await counted.take()
    const began = performance.now()
    const presses = await (way.presses ?? pay)(page)
    await untilState(page, "settled")
    await way.seen?.()
    const millis = performance.now() - began
    const { bytes, requests } = await counted.take()
    const asked = promptsOf(buyer) - (way.refused ?? 0)
    runs.push({ opened: opened.bytes, requests, bytes, millis, prompts: asked, taps: presses + asked })
    await browser.close()
  }
  const of = (read: (run: (typeof runs)[number]) => number) => median(runs.map(read))
  const kilo = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`
  return `| ${way.name} | ${of((run) => run.prompts)} | ${of((run) => run.taps)} | ${kilo(of((run) => run.opened))} | ${of((run) => run.requests)}, ${kilo(of((run) => run.bytes))} | ${(of((run) => run.millis) / 1000).toFixed(1)} s |`
}

const payPage = async (browser: BrowserContext) => {
  const { token } = await createIntent()
  const page = await browser.newPage()
  await page.goto(`${baseUrl}/pay#token=${token}&key=${keys.test.publishable}`)
  return page
}
const shopPage = async (browser: BrowserContext) => world.open(browser, (await world.createIntent()).token)

const newLink = async (body: object): Promise<string> => {
  const answer = await fetch(`${baseUrl}/api/v1/payment-links`, {
    method: "POST",
    headers: { authorization: `Bearer ${keys.test.secret}`, "content-type": "application/json" },
    body: JSON.stringify({ description: "Chess lesson", ...body })
  })
  return (await answer.json()).link.id
}

describe("Ways of paying", () => {
  let waiting: Page | undefined
  const forgetWaiting = async () => {
    await waiting?.context().close()
    waiting = undefined
  }

  const ways: ReadonlyArray<Way> = [
    { name: "signature", relayed: true, open: shopPage },
    {
      name: "signature, in a wallet that signs only for its own chain, on another",
      relayed: true,
      prepare: async (buyer) => {
        buyer.chainId = 1
        buyer.known.add(84532)
        buyer.signsForItsChainAlone = true
      },
      open: shopPage,
      refused: 1,
      presses: async (page) => {
        await pay(page)
        await page.getByRole("button", { name: "Switch network" }).click()
        await pay(page)
        return 3
      }
    },
    { name: "transfer", relayed: false, open: shopPage },
    {
      name: "calls of a contract wallet (EIP-5792), from another network",
      relayed: false,
      prepare: async (buyer) => {
        await buyer.becomeContract(true)
        await Effect.runPromise(world.chain.mint(Address.make(buyer.address), 50_000_000n))
        buyer.chainId = 1
      },
      open: shopPage
    },
    { name: "wallet link on a phone, by signature", relayed: true, userAgent: phone, open: payPage },
    {
      name: "code on a desktop, paid on a phone by signature; until the desktop shows it",
      relayed: true,
      userAgent: phone,
      open: async (browser) => {
        const { token } = await createIntent()
        waiting = await (await context([], { width: 1280 })).newPage()
        const address = `${baseUrl}/pay#token=${token}&key=${keys.test.publishable}`
        await waiting.goto(address)
        await waiting.getByRole("img", { name: "QR code that opens this payment on a phone" }).waitFor()
        const page = await browser.newPage()
        await page.goto(address)
        return page
      },
      seen: async () => {
        if (waiting !== undefined) await untilState(waiting, "settled")
        await forgetWaiting()
      }
    },
    {
      name: "WalletConnect, by signature; without what the relay carries",
      relayed: true,
      open: payPage,
      connect: async (page, buyer) => {
        await page.getByRole("button", { name: "WalletConnect" }).click()
        const uri = await page
          .getByRole("link", { name: "Open a wallet on this device" })
          .getAttribute("href", { timeout: 10_000 })
        const pocket = await makeWalletConnectWallet(relay.url, projectId, buyer)
        await pocket.pair(uri ?? "")
      }
    },
    {
      name: "payment link, by signature",
      relayed: true,
      open: async (browser) => {
        const page = await browser.newPage()
        await page.goto(`${world.baseUrl}/link/${await newLink({ amount: "10.00" })}`)
        return page
      }
    },
    {
      name: "counter, by signature; until the tablet shows its tick",
      relayed: true,
      userAgent: phone,
      open: async (browser) => {
        const link = await newLink({ minAmount: "1", maxAmount: "100" })
        waiting = await (await context([], { width: 820 })).newPage()
        await waiting.goto(`${baseUrl}/counter#link=${link}`)
        await waiting.getByLabel("Amount in USD").fill("10.00")
        await waiting.getByRole("button", { name: "Charge" }).click()
        await waiting.getByRole("heading", { name: "$10.00" }).waitFor()
        const sale: { readonly paymentId: string } = await waiting.evaluate(
          `JSON.parse(localStorage.getItem("quittance-counter-sale:${link}"))`
        )
        const page = await browser.newPage()
        await page.goto(`${baseUrl}/link/${link}#payment=${sale.paymentId}`)
        return page
      },
      seen: async () => {
        await waiting?.getByRole("heading", { name: "$10.00 paid" }).waitFor()
        await forgetWaiting()
      }
    }
  ]

  browserTest(
    "each is measured five times",
    async () => {
      const rows: Array<string> = []
      for (const way of ways) rows.push(await measured(way))
      console.log(
        `| way of paying | prompts | taps | bytes to the review | requests and bytes from Pay to settled | seconds from Pay to settled |\n|---|---|---|---|---|---|\n${rows.join("\n")}`
      )
      expect(rows).toHaveLength(ways.length)
    },
    240_000
  )
})
