// Test funds on the whole service: buyer tokens that only the chain can verify cost the nodes a bounded number of
// calls, whoever sends them.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { createDidToken } from "../../src/payments/buyers/createDidToken.ts"
import { forFile } from "../support/forFile.ts"
import { makeCheckoutWorld } from "./checkoutWorld.ts"

setDefaultTimeout(60_000)

const world = await forFile(makeCheckoutWorld({}, {}))

describe("Test funds", () => {
  test("of 120 tokens in the names of contract wallets the nodes verify at most 40", async () => {
    const wallet = privateKeyToAccount(generatePrivateKey()).address
    const now = Math.floor(Date.now() / 1000)
    const tokens = await Promise.all(
      Array.from({ length: 120 }, () =>
        createDidToken(
          { address: wallet, signMessage: privateKeyToAccount(generatePrivateKey()).signMessage },
          { audience: world.baseUrl, lifetimeSeconds: 900, now }
        )
      )
    )
    const judged = () => world.node.calls.filter((method) => method === "eth_call").length
    const before = judged()
    const statuses = await Promise.all(
      tokens.map(async (buyerDidToken) => {
        const response = await fetch(`${world.baseUrl}/api/v1/checkout/test-funds`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${world.keys.test.publishable}`,
            "content-type": "application/json"
          },
          body: JSON.stringify({ buyerDidToken })
        })
        return response.status
      })
    )
    expect(judged() - before).toBeGreaterThan(0)
    expect(judged() - before).toBeLessThanOrEqual(40)
    expect(new Set(statuses)).toEqual(new Set([401, 429]))
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(80)
  }, 180_000)
})
