// The facilitator against anvil and the real USDC.
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { receiver, requirementsV2, startX402World, type X402World } from "./x402World.ts"

describe("x402 facilitator", () => {
  let world: X402World
  beforeAll(async () => {
    world = await startX402World()
  })
  afterAll(() => world.close())

  const settle = (body: unknown) => world.call("POST", "/x402/settle", world.keys.test.secret, body)
  const verify = (body: unknown) => world.call("POST", "/x402/verify", world.keys.test.secret, body)

  test("settles a payment of version 2, tells the merchant, and answers the same again", async () => {
    const account = await world.payer()
    const before = await world.balanceOf(receiver)
    const accepted = requirementsV2(1_500_000n)
    const body = {
      x402Version: 2,
      paymentPayload: {
        x402Version: 2,
        resource: { url: "https://api.example.com/weather" },
        accepted,
        payload: await world.authorize(account, 1_500_000n)
      },
      paymentRequirements: accepted
    }
    expect((await verify(body)).body).toEqual({ isValid: true, payer: account.address })
    const first = await settle(body)
    expect(first.body).toMatchObject({ success: true, payer: account.address, network: "eip155:84532" })
    expect(await world.balanceOf(receiver)).toBe(before + 1_500_000n)
    expect((await settle(body)).body).toEqual(first.body)
    expect((await verify(body)).body.invalidReason).toBe("invalid_exact_evm_nonce_already_used")
    const { body: list } = await world.call("GET", "/payments?limit=1", world.keys.test.secret)
    expect(list.payments[0]).toMatchObject({
      status: "settled",
      payerType: "agent",
      amount: "1.50",
      payerAddress: account.address,
      intentUrl: "https://api.example.com/weather",
      reportedTransactionId: first.body.transaction
    })
  })
})
