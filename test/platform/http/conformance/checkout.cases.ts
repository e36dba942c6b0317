// Checkout context and the test rail (docs/contract.md 1 and 4.3).
import { expect } from "bun:test"
import { Effect } from "effect"
import { networks } from "../../../../src/domain/networks.ts"
import { receiver } from "../../../support/service.ts"
import { badBodies } from "../inputs.ts"
import { buyer, stranger } from "../shop.ts"
import { payments, refused, table } from "./table.ts"

const { cases, add } = table()

for (const env of ["test", "live"] as const) {
  add("4.3", `the checkout context of ${env}`, async ({ shop }) => {
    const key = env === "test" ? shop.keys.publishable : shop.keys.livePublishable
    const { body, status } = await shop.call({ method: "GET", path: "/api/v1/checkout-context", key })
    expect(status).toBe(200)
    const { chainId, name, explorerUrl, usdc } = networks[env]
    expect(body).toMatchObject({
      merchant: { name: "Shop" },
      env,
      livemode: env === "live",
      now: expect.stringMatching(/^\d{4}-.*Z$/),
      paymentExpirySeconds: expect.any(Number),
      tokenLifetimeSeconds: 86_400,
      audience: "http://localhost:8787",
      chain: { id: chainId, name, explorerUrl },
      token: { address: usdc.address, chainId, symbol: "USDC", decimals: 6 },
      receiver,
      faucet: { enabled: env === "test" },
      playgroundAmounts: ["0.50", "1.00", "2.00", "5.00"]
    })
  })
}
add("1", "a live agent is returned without its balance: no call to Mainnet", async ({ shop }) => {
  const read = (key: string) => shop.call({ method: "GET", path: "/api/v1/agent", key })
  const live = await read(shop.keys.liveAgent)
  expect<unknown>([live.status, live.body.agent.livemode, live.body.agent.balance]).toEqual([
    200,
    true,
    undefined
  ])
  expect((await read(shop.keys.agent)).body.agent.balance).toEqual({
    usdcAtomic: expect.any(String),
    gasWei: expect.any(String)
  })
})
add("4.3", "reads real balances of an address in any letter case", async ({ shop, service }) => {
  await Effect.runPromise(service.chain.fund(stranger, { usdcAtomic: 77n, gasWei: 5n }))
  const balance = await Effect.runPromise(service.chain.balance(stranger))
  for (const address of [stranger, stranger.toLowerCase(), `0x${stranger.slice(2).toUpperCase()}`]) {
    const { body } = await shop.call({
      method: "GET",
      path: `/api/v1/checkout/test-balance?address=${address}`,
      key: shop.keys.publishable
    })
    expect<unknown>(body).toEqual({
      balance: { usdcAtomic: balance.usdcAtomic.toString(), gasWei: balance.gasWei.toString() }
    })
  }
})
for (const query of [
  "",
  "?address=",
  "?address=0x12",
  "?address=x",
  `?address=${buyer}&address=${buyer}`,
  `?address=${buyer}&x=1`,
  `?address=${buyer}00`
]) {
  add("4.3", `test-balance refuses ${query || "no address"}`, async ({ shop }) => {
    refused(
      await shop.call({
        method: "GET",
        path: `/api/v1/checkout/test-balance${query}`,
        key: shop.keys.publishable
      }),
      400,
      "INVALID_REQUEST"
    )
  })
}
add("4.3", "the faucet grants to the verified buyer: 201", async ({ shop }) => {
  const answer = await shop.call({
    method: "POST",
    path: "/api/v1/checkout/test-funds",
    key: shop.keys.publishable,
    body: { buyerDidToken: `buyer:${buyer}` }
  })
  expect(answer.status).toBe(201)
  expect(answer.body.grant).toMatchObject({ address: buyer, usdcAtomic: "10000000" })
  expect(Object.keys(answer.body).sort()).toEqual(["balance", "grant"])
})
add("4.3", "the faucet refuses an identity token that does not verify", async ({ shop }) => {
  refused(
    await shop.call({
      method: "POST",
      path: "/api/v1/checkout/test-funds",
      key: shop.keys.publishable,
      body: { buyerDidToken: "x" }
    }),
    401,
    "INVALID_BUYER_TOKEN"
  )
})
for (const [name, body, code] of badBodies({ buyerDidToken: `buyer:${buyer}` })) {
  add("4.3", `test-funds refuses ${name}`, async ({ shop }) => {
    const answer = await shop.call({
      method: "POST",
      path: "/api/v1/checkout/test-funds",
      key: shop.keys.publishable,
      body
    })
    refused(answer, code === "PAYLOAD_TOO_LARGE" ? 413 : 400, code)
  })
}
add(
  "1",
  "test-rail endpoints refuse live keys before they check the rest of the request",
  async ({ shop }) => {
    const key = shop.keys.livePublishable
    refused(
      await shop.call({ method: "GET", path: `/api/v1/checkout/test-balance?address=${buyer}`, key }),
      403,
      "LIVE_MODE_NO_TEST_FUNDS"
    )
    refused(
      await shop.call({ method: "GET", path: "/api/v1/checkout/test-balance", key }),
      403,
      "LIVE_MODE_NO_TEST_FUNDS"
    )
    refused(
      await shop.call({
        method: "POST",
        path: "/api/v1/checkout/test-funds",
        key,
        body: { buyerDidToken: `buyer:${buyer}` }
      }),
      403,
      "LIVE_MODE_NO_TEST_FUNDS"
    )
    refused(
      await shop.call({ method: "POST", path: "/api/v1/checkout/test-funds", key, body: {} }),
      403,
      "LIVE_MODE_NO_TEST_FUNDS"
    )
  }
)
add("1", "a test key reads no live payment and a live key no test payment", async ({ shop }) => {
  const test = await shop.open()
  const live = await shop.open("1", "live")
  refused(
    await shop.call({ method: "GET", path: `${payments}/${live.body.payment.id}`, key: shop.keys.full }),
    404,
    "PAYMENT_NOT_FOUND"
  )
  refused(
    await shop.call({ method: "GET", path: `${payments}/${test.body.payment.id}`, key: shop.keys.liveFull }),
    404,
    "PAYMENT_NOT_FOUND"
  )
})

export const checkoutCases = cases
