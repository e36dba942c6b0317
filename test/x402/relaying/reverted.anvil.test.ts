// The buyer's error if a signature was sent and reverted, and if the relayer wallet is empty.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { Address } from "../../../src/domain/Chain.ts"
import { carries, openPayment, transfer } from "../payloads.ts"
import { x402World } from "../x402World.ts"
import { payBySignature, signTerms } from "./signed.ts"

setDefaultTimeout(150_000)

const amount = 10_000_000n

const world = await x402World()

describe("a signature that moved nothing", () => {
  test("sent, and reverted on the chain: refused as reverting, not as an empty relayer wallet", async () => {
    const id = await openPayment(world, "10")
    const buyer = await world.payer(amount)
    const signed = await signTerms(world, id, buyer)
    let raced = false
    world.node.behave(async (method, params) => {
      if (!carries(method, params, signed.payload) || raced) return undefined
      raced = true
      await transfer(world, buyer, amount, "0x000000000000000000000000000000000000dEaD")
      return undefined
    })
    const { body, status } = await payBySignature(world, id, signed)
    expect([status, body.error.code, body.error.reason]).toEqual([422, "AUTHORIZATION_REFUSED", "reverts"])
  })

  test("not sent, because the relayer wallet is empty: another payment gets that error, and a transfer pays", async () => {
    const id = await openPayment(world, "10")
    const signed = await signTerms(world, id, await world.payer())
    const { body: supported } = await world.call("GET", "/x402/supported", world.keys[world.env].secret)
    const relayer = Address.make(supported.signers["eip155:*"]?.[0] ?? "")
    await Effect.runPromise(world.chain.setEth(relayer, 0n))
    const { body, status } = await payBySignature(world, id, signed)
    await Effect.runPromise(world.chain.setEth(relayer, 10n ** 20n))
    expect([status, body.error.code, body.error.reason]).toEqual([503, "RELAY_UNAVAILABLE", "empty"])
    expect((await payBySignature(world, id, signed)).status).toBe(200)
  })
})
