// The demo's agent: with a wallet and a cap, it buys from an API that requests payment over x402.

import { HTTPFacilitatorClient } from "@x402/core/server"
import { ExactEvmScheme } from "@x402/evm/exact/server"
import { paymentMiddleware, x402ResourceServer } from "@x402/hono"
import { Effect, Redacted, Schema, type Scope } from "effect"
import { Hono } from "hono"
import type { Address } from "../../domain/Chain.ts"
import { MerchantId } from "../../domain/Merchant.ts"
import { AtomicUsdc, formatUsd } from "../../domain/Money.ts"
import { makePayingFetch, outcomeHeaders } from "../../packages/agent-proxy/PayingFetch.ts"
import { startProxy } from "../../packages/agent-proxy/Proxy.ts"
import { Agents } from "../../x402/agents/Agents.ts"
import type { LocalChain } from "./LocalChain.ts"
import { fail, makeApi } from "./merchantApi.ts"

const price = "0.05"
const capPerPayment = AtomicUsdc.make(1_000_000n)
const capPerDay = AtomicUsdc.make(5_000_000n)

export interface DemoMerchant {
  readonly baseUrl: string
  readonly merchantId: string
  readonly secret: string
  readonly receiver: Address
}

const Supported = Schema.Struct({ signers: Schema.Record(Schema.String, Schema.Array(Schema.String)) })
const Funded = Schema.Struct({ grant: Schema.Struct({ usdcAtomic: Schema.String }) })

/** A paid API of the merchant, with the service as its facilitator. */
const paidApi = ({ baseUrl, secret, receiver }: DemoMerchant) => {
  const headers = { authorization: `Bearer ${secret}` }
  const facilitator = new HTTPFacilitatorClient({
    url: `${baseUrl}/api/v1/x402`,
    createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: headers })
  })
  const server = new x402ResourceServer(facilitator).register("eip155:84532", new ExactEvmScheme())
  const app = new Hono()
  app.use(
    paymentMiddleware(
      {
        "GET /forecast": {
          accepts: { scheme: "exact", price: `$${price}`, network: "eip155:84532", payTo: receiver },
          description: "Tomorrow's weather"
        }
      },
      server
    )
  )
  app.get("/forecast", (context) => context.json({ tomorrow: "sunny" }))
  return Effect.acquireRelease(
    Effect.sync(() => Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: app.fetch })),
    (running) => Effect.promise(() => running.stop(true))
  )
}

/** Gives gas to the wallets that relay x402 payments. */
export const fundRelayer = Effect.fnUntraced(function* (
  chain: LocalChain["Service"],
  merchant: Pick<DemoMerchant, "baseUrl" | "secret">
) {
  const api = makeApi(merchant.baseUrl)
  const { body } = yield* api("GET", "/api/v1/x402/supported", merchant.secret, undefined, Supported, [200])
  for (const signer of body.signers["eip155:*"] ?? []) {
    if (signer.startsWith("0x")) yield* chain.rpc("anvil_setBalance", [signer, "0x56bc75e2d63100000"])
  }
})

/** Creates an agent and funds its wallet from the faucet. */
export const makeAgent = Effect.fnUntraced(function* (merchant: DemoMerchant) {
  const { agent, key } = yield* (yield* Agents).provision({
    merchantId: MerchantId.make(merchant.merchantId),
    env: "test",
    name: "Weather watcher",
    capPerPayment,
    capPerDay,
    allowedHosts: null,
    allowedPayees: null
  })
  const api = makeApi(merchant.baseUrl)
  const { body } = yield* api("POST", "/api/v1/agent/test-funds", key, undefined, Funded, [201])
  return { agent, key, funds: formatUsd(BigInt(body.grant.usdcAtomic)), cap: formatUsd(capPerPayment) }
})

/** The agent requests a resource, gets 402, pays within its cap and receives the resource; its proxy stays up. */
export const buyForecast = Effect.fnUntraced(function* (
  merchant: DemoMerchant,
  agentKey: string
): Effect.fn.Return<
  { readonly paid: string; readonly answer: string; readonly command: string },
  ReturnType<typeof fail>,
  Scope.Scope
> {
  const api = yield* paidApi(merchant)
  const url = `http://127.0.0.1:${api.port}/forecast`
  const paying = makePayingFetch({
    serviceUrl: merchant.baseUrl,
    agentKey: Redacted.make(agentKey),
    log: () => {}
  })
  const response = yield* Effect.tryPromise({
    try: () =>
      paying.fetch({ url, method: "GET", headers: new Headers(), body: undefined }, ({ pay }) =>
        pay(crypto.randomUUID())
      ),
    catch: (error) =>
      fail(`The paid API did not answer: ${error instanceof Error ? error.message : "unknown"}`)
  })
  const answer = yield* Effect.promise(() => response.text())
  if (response.status !== 200) {
    return yield* Effect.fail(
      fail(`The agent could not buy: ${response.headers.get(outcomeHeaders.message) ?? answer}`)
    )
  }
  const proxy = yield* Effect.acquireRelease(
    Effect.promise(() => startProxy(paying, 0)),
    (running) => Effect.promise(() => running.stop())
  )
  return {
    paid: response.headers.get(outcomeHeaders.amount) ?? "0",
    answer,
    command: `curl http://127.0.0.1:${proxy.port}/${url}`
  }
})
