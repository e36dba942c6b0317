// The service as it runs, on a real socket, an embedded Postgres, anvil and the real USDC, with a shop on another
// origin whose page embeds the checkout under a strict CSP.

import { Context, Effect, Layer, Option, Redacted } from "effect"
import { decodeJwt, SignJWT } from "jose"
import type { BrowserContext, Page } from "playwright-core"
import * as App from "../../src/app/App.ts"
import { freePort } from "../../src/app/dev/freePort.ts"
import { LocalChain } from "../../src/app/dev/LocalChain.ts"
import { Address, type Env } from "../../src/domain/Chain.ts"
import { blocksIn, byEnv, envs, networks } from "../../src/domain/networks.ts"
import { type FirstKeys, KeyAuth, type NewMerchant } from "../../src/merchants/keys/KeyAuth.ts"
import { TransferRepo } from "../../src/payments/TransferRepo.ts"
import { AppConfig, type Environment } from "../../src/platform/AppConfig.ts"
import { newContext, type PageOptions } from "../support/browser.ts"
import { listening } from "../support/listening.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { temporaryDirectory } from "../support/process.ts"
import { type RpcProxy, rpcProxy } from "../support/rpcProxy.ts"
import { makeTestWallet, type TestWallet } from "./testWallet.ts"

export const receiver = Address.make("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")

const intentSecret = "0123456789abcdef0123456789abcdef"

export interface Delivery {
  readonly type: string
  readonly transactionId: string
}

export interface CheckoutWorld {
  readonly baseUrl: string
  readonly shopUrl: string
  readonly chain: LocalChain["Service"]
  /** A proxy between the service and its node. */
  readonly node: RpcProxy
  readonly keys: FirstKeys
  readonly merchantId: string
  /** Runs on the service's own database and services. */
  readonly runIn: <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof App.layer>>) => Promise<A>
  /** The `payment.settled` deliveries that the shop received. */
  readonly delivered: Array<Delivery>
  /** Further pages of the shop, by path. */
  readonly pages: Map<string, { readonly body: string; readonly headers: Readonly<Record<string, string>> }>
  /** Requests of browsers to origins other than service and shop, and CSP violations. */
  readonly complaints: Array<string>
  readonly createIntent: (amount?: string, env?: Env) => Promise<{ token: string; id: string }>
  /** A token of an intent that expires after this many seconds; negative: it has expired. */
  readonly tokenEndingIn: (seconds: number) => Promise<string>
  /** A wallet, with USDC and gas if requested. */
  readonly wallet: (funds?: { readonly usdc?: bigint; readonly gas?: boolean }) => Promise<TestWallet>
  readonly context: (wallets: ReadonlyArray<TestWallet>, options?: PageOptions) => Promise<BrowserContext>
  /** The shop's page with the checkout for a token. */
  readonly open: (context: BrowserContext, token: string, query?: string) => Promise<Page>
  /** A buyer with a wallet, and the shop's page with the checkout for a new payment. */
  readonly visit: (
    funds?: Parameters<CheckoutWorld["wallet"]>[0]
  ) => Promise<{ readonly buyer: TestWallet; readonly browser: BrowserContext; readonly page: Page }>
  /** USDC transfers from a wallet to the merchant. */
  readonly transfers: (wallet: TestWallet) => Promise<number>
  /** A block with each transaction, or only on request. */
  readonly automine: (on: boolean) => Promise<void>
  /** Gives the relayer wallet this much gas; from then on buyers may pay by a signature. */
  readonly fundRelayer: (wei?: bigint) => Promise<void>
  readonly mine: (blocks?: number) => Promise<void>
  /** Waits until the service has read the chain up to its head. */
  readonly untilRead: () => Promise<void>
  readonly payment: (
    id: string
  ) => Promise<{ status: string; payerAddress?: string; reportedTransactionId?: string }>
}

const shopPage = (origin: string, query: URLSearchParams) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Shop</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="/shop.css">
<script src="/events.js"></script>
<script ${query.get("as") === "module" ? 'type="module"' : "defer"} src="${origin}/checkout.js"></script>
</head>
<body><main><h1>Shop</h1>
<quittance-checkout intent-token="${query.get("token") ?? ""}" publishable-key="${query.get("key") ?? ""}"
 lang="${query.get("lang") ?? ""}" theme="${query.get("theme") ?? "auto"}"></quittance-checkout>
</main></body></html>`

const shopCss = `:root { color-scheme: light dark } body { margin: 0; padding: 16px 0; background: light-dark(#eef0f5, #0c0d10); color: light-dark(#1a1c24, #eceef4); font-family: system-ui }
h1 { font-size: 18px; margin: 0 0 16px } main { padding: 0 8px; max-width: 440px; margin: 0 auto }`

const eventsScript = `window.checkoutEvents = []
window.violations = []
document.addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective + " " + event.blockedURI))
for (const name of ["ready", "opened", "statechange", "settled", "failed", "closed"])
  document.addEventListener(name, (event) => {
    if (event.target.localName === "quittance-checkout")
      checkoutEvents.push({ name, paymentId: event.detail.paymentId, state: event.detail.state })
  })`

/** The service's wallets on a network for which it does not create wallets itself. */
const walletMnemonic = "legal winner thank year wave sausage worth useful legal winner thank yellow"

/** A transfer counts from its own block on. */
const configOf = (environment: Environment) =>
  Layer.effect(
    AppConfig,
    Effect.map(AppConfig, (config) => ({ ...config, confirmations: byEnv(() => 0) }))
  ).pipe(Layer.provide(AppConfig.layer(environment)))

/** Starts everything, with these properties of the merchant. */
export const makeCheckoutWorld = Effect.fnUntraced(function* (
  merchant: Partial<NewMerchant>,
  environment: Environment
) {
  const network = moneyNetwork
  const { chainId, env, usdc } = network
  const chain = Context.get(
    yield* Layer.build(LocalChain.layer({ blockTimeSeconds: 0, network })),
    LocalChain
  )
  const node = yield* rpcProxy(chain.rpcUrl)
  const secondNode = network.execution === "open" ? undefined : yield* rpcProxy(chain.rpcUrl)
  const dataDir = yield* temporaryDirectory
  const port = yield* freePort(0)
  const baseUrl = `http://127.0.0.1:${port}`
  const delivered: Array<Delivery> = []
  const complaints: Array<string> = []
  const pages: CheckoutWorld["pages"] = new Map()

  const csp = [
    "default-src 'none'",
    `script-src 'self' ${baseUrl}`,
    "style-src 'self'",
    `connect-src ${baseUrl}`,
    "img-src data:",
    "require-trusted-types-for 'script'"
  ].join("; ")
  const shop = yield* listening(async (request) => {
    const { pathname, searchParams } = new URL(request.url)
    const found = pages.get(pathname)
    if (found !== undefined) return new Response(found.body, { headers: found.headers })
    const typed = (type: string) => ({ headers: { "content-type": type } })
    switch (pathname) {
      case "/webhooks":
        delivered.push((await request.json()) as Delivery)
        return new Response(null, { status: 204 })
      case "/shop.css":
        return new Response(shopCss, typed("text/css"))
      case "/events.js":
        return new Response(eventsScript, typed("text/javascript"))
      case "/":
        return new Response(shopPage(baseUrl, searchParams), {
          headers: { "content-type": "text/html", "content-security-policy": csp }
        })
      default:
        return new Response("Thank you", { status: 200, headers: { "content-type": "text/html" } })
    }
  })
  const shopUrl = `http://127.0.0.1:${shop.port}`
  const context = yield* Layer.build(
    App.layer.pipe(
      Layer.provideMerge(
        configOf({
          PORT: String(port),
          HOST: "127.0.0.1",
          BASE_URL: baseUrl,
          DATA_DIR: dataDir,
          INTENT_TOKEN_SECRETS: `test:${intentSecret}`,
          // Nothing listens at this address: a world has one network.
          ...Object.fromEntries(envs.map((each) => [networks[each].nodes.setting, "http://127.0.0.1:9"])),
          [network.nodes.setting]: [node, ...(secondNode === undefined ? [] : [secondNode])]
            .map(({ url }) => url)
            .join(","),
          ...(network.execution === "open" ? {} : { [network.execution]: "open" }),
          ...(network.faucet
            ? {
                FAUCET_PRIVATE_KEY: Redacted.value(chain.faucetPrivateKey),
                FAUCET_GAS_WEI: "2000000000000000"
              }
            : { [network.wallets.setting]: walletMnemonic }),
          // Gas on a local chain is more expensive than on the network itself.
          ...Object.fromEntries(
            Object.values(network.relayWei).map(({ setting }) => [setting, String(10n ** 18n)])
          ),
          WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${shop.port}`,
          ...environment
        })
      )
    )
  )
  const auth = Context.get(context, KeyAuth)
  const { keys, merchant: made } = yield* auth.createMerchant({
    name: "Demo Books",
    receivers: { test: receiver, live: receiver },
    ...merchant
  })
  const api = async (path: string, body?: unknown, key = keys[env].secret) => {
    const response = await fetch(`${baseUrl}/api/v1${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return response.json()
  }
  yield* Effect.promise(() => api("/webhook-endpoint", { url: `${shopUrl}/webhooks` }))
  const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runPromise(effect)

  const world: CheckoutWorld = {
    baseUrl,
    shopUrl,
    chain,
    node,
    keys,
    merchantId: made.id,
    runIn: (effect) => run(Effect.provideContext(effect, context)),
    delivered,
    complaints,
    pages,
    createIntent: async (amount = "10.00", env = moneyNetwork.env) => {
      const { intentToken } = await api(
        "/payment-intents",
        { amount, intentUrl: `${shopUrl.replace("127.0.0.1", "localhost")}/thanks` },
        keys[env].secret
      )
      const claims = JSON.parse(Buffer.from(intentToken.split(".")[1], "base64url").toString())
      return { token: intentToken, id: claims.jti }
    },
    tokenEndingIn: async (seconds) => {
      const { token } = await world.createIntent()
      const now = Math.floor(Date.now() / 1000)
      return new SignJWT({ ...decodeJwt(token), iat: now + seconds - 300, exp: now + seconds })
        .setProtectedHeader({ alg: "HS256", typ: "intent+jwt", kid: "test" })
        .sign(new TextEncoder().encode(intentSecret))
    },
    wallet: async ({ usdc = 50_000_000n, gas = true } = {}) => {
      const wallet = makeTestWallet(chain.rpcUrl, chainId)
      const address = Address.make(wallet.account.address)
      if (gas) await run(chain.setEth(address, 10n ** 18n))
      if (usdc > 0n) await run(chain.mint(address, usdc))
      return wallet
    },
    context: async (wallets, options = {}) => {
      const made = await newContext({ width: 360, height: 780, ...options })
      for (const [index, wallet] of wallets.entries())
        await wallet.install(made, { name: index === 0 ? "Test Wallet" : `Other Wallet ${index}` })
      made.on("request", (request) => {
        const url = request.url()
        // Outside Testnet a balance is read from the wallet's node, which is WalletConnect's own.
        const known = [baseUrl, shopUrl, "data:", ...(network.isTest ? [] : [node.url])]
        if (!known.some((one) => url.startsWith(one))) complaints.push(`third party: ${url}`)
      })
      made.on("page", (page) => {
        page.on("pageerror", (error) => complaints.push(`page error: ${error.message}`))
        page.on("console", (message) => {
          if (/Content Security Policy|Trusted/i.test(message.text())) complaints.push(message.text())
        })
      })
      return made
    },
    open: async (opened, token, query = "") => {
      const page = await opened.newPage()
      await page.goto(`${shopUrl}/?token=${token}&key=${keys[env].publishable}${query}`)
      return page
    },
    visit: async (funds) => {
      const buyer = await world.wallet(funds)
      const browser = await world.context([buyer])
      const { token } = await world.createIntent()
      return { buyer, browser, page: await world.open(browser, token) }
    },
    transfers: async (wallet) => {
      const logs = await chain.publicClient.getLogs({
        address: usdc.address,
        fromBlock: 0n,
        event: {
          type: "event",
          name: "Transfer",
          inputs: [
            { type: "address", indexed: true, name: "from" },
            { type: "address", indexed: true, name: "to" },
            { type: "uint256", name: "value" }
          ]
        },
        args: { from: wallet.address, to: receiver }
      })
      return logs.length
    },
    automine: async (on) => {
      await run(chain.rpc("evm_setAutomine", [on]))
    },
    fundRelayer: async (wei = 10n ** 20n) => {
      const { signers } = await api("/x402/supported")
      const relayer = Address.make(signers["eip155:*"][0])
      const held = await chain.publicClient.getBalance({ address: relayer })
      // The fees that it has paid for buyers do not make it another balance.
      if (held <= wei && held >= wei / 2n) return
      await run(chain.setEth(relayer, wei))
      // The service caches the wallet's balance for two seconds.
      await Bun.sleep(2_100)
    },
    mine: (blocks = 1) => run(chain.mine(blocks)),
    untilRead: async () => {
      const head = await chain.publicClient.getBlockNumber({ cacheTime: 0 })
      const read = Effect.flatMap(TransferRepo, (repo) => repo.cursor(env))
      const height = async () => Option.getOrUndefined(await world.runIn(read))?.blockNumber ?? -1n
      while ((await height()) < head) await Bun.sleep(50)
    },
    payment: async (id) => (await api(`/payments/${id}`)).payment
  }
  return world
})

/** Blocks after which the service trusts that a nonce is used. */
export const deepEnough = Number(blocksIn(moneyNetwork.env, 10_000)) + 2

/** Waits until the checkout on the page shows this state. */
export const untilState = async (page: Page, state: string, timeout = 40_000): Promise<void> => {
  await page.locator(`quittance-checkout [data-state="${state}"]`).waitFor({ timeout })
}

export const press = async (page: Page, name: string | RegExp): Promise<void> => {
  await page.getByRole("button", { name }).click()
}

export const eventsOf = async (
  page: Page
): Promise<ReadonlyArray<{ name: string; paymentId: string; state: string }>> =>
  page.evaluate("window.checkoutEvents")

/** Connects the first wallet and waits for the review. */
export const toReview = async (page: Page): Promise<void> => {
  await press(page, "Test Wallet")
  await untilState(page, "review")
  await page.getByRole("button", { name: /^Pay \$/ }).waitFor()
}
