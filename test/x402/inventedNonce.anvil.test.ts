// A wallet is not asked to use a nonce that one of three nodes invents.
import { expect, setDefaultTimeout, test } from "bun:test"
import { createDidToken } from "../../src/payments/buyers/createDidToken.ts"
import { openPayment } from "./payloads.ts"
import { x402World } from "./x402World.ts"

setDefaultTimeout(150_000)
const world = await x402World({}, 3)

for (const tag of ["pending", "latest"])
  test(`a wallet is not asked to use a ${tag} nonce that one node of three invents`, async () => {
    const account = await world.payer()
    const id = await openPayment(world, "1")
    world.node.behave((method, params) =>
      method === "eth_getTransactionCount" && params[1] === tag ? { result: "0x3e8" } : undefined
    )
    const { body } = await world.call("POST", `/payments/${id}/attempts`, world.keys[world.env].publishable, {
      buyerDidToken: await createDidToken(account, {
        audience: world.baseUrl,
        lifetimeSeconds: 900,
        now: Math.floor(Date.now() / 1000),
        id
      }),
      method: "transfer",
      // The wallet's own nonce, as the checkout announces it.
      nonce: 0
    })
    world.node.behave(() => undefined)
    expect(body.attempt.nonce).toBe(0)
  })
