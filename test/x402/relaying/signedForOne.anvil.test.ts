// A wallet's signature for one payment pays that payment, whatever else the wallet is about to pay.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import type { PrivateKeyAccount } from "viem/accounts"
import { createDidToken } from "../../../src/payments/buyers/createDidToken.ts"
import { openPayment, relayElsewhere, rowsOf, transfer, until } from "../payloads.ts"
import { x402World } from "../x402World.ts"
import { payBySignature, signTerms } from "./signed.ts"

setDefaultTimeout(150_000)

const world = await x402World()

describe("a wallet's signature for one payment", () => {
  const statusesOf = (...ids: ReadonlyArray<string>) =>
    Promise.all(
      ids.map(
        async (id) =>
          (await world.call("GET", `/payments/${id}`, world.keys[world.env].secret)).body.payment.status
      )
    )
  const announce = async (id: string, account: PrivateKeyAccount) =>
    world.call("POST", `/payments/${id}/attempts`, world.keys[world.env].publishable, {
      method: "transfer",
      buyerDidToken: await createDidToken(account, {
        audience: world.baseUrl,
        lifetimeSeconds: 900,
        now: Math.floor(Date.now() / 1000),
        id
      })
    })

  for (const [number, name] of [
    [0, "announced before somebody submits the signature to the chain"],
    [1, "announced just after"]
  ] as const)
    test(`pays that one and no other payment of its wallet, ${name}`, async () => {
      const usd = String(10 + number)
      const [signedFor, other] = [await openPayment(world, usd), await openPayment(world, usd)]
      const buyer = await world.payer()
      const signed = await signTerms(world, signedFor, buyer)
      if (number === 0) expect((await announce(other, buyer)).status).toBe(201)
      await relayElsewhere(world, signed.payload)
      if (number === 1) await announce(other, buyer)
      await until(async () => (await statusesOf(signedFor, other)).includes("settled"))
      expect(await statusesOf(signedFor, other)).toEqual(["settled", "pending"])
      expect((await payBySignature(world, signedFor, signed)).status).toBe(200)
    })

  test("pays no other payment, even if its own has settled by a transfer of the wallet", async () => {
    const [signedFor, other] = [await openPayment(world, "12"), await openPayment(world, "12")]
    const buyer = await world.payer()
    const signed = await signTerms(world, signedFor, buyer)
    expect((await announce(signedFor, buyer)).status).toBe(201)
    await transfer(world, buyer, 12_000_000n)
    await until(async () => (await statusesOf(signedFor))[0] === "settled")
    expect((await announce(other, buyer)).status).toBe(201)
    await relayElsewhere(world, signed.payload)
    const payer = `'\\x${buyer.address.slice(2)}'`
    await until(
      async () =>
        (
          await rowsOf(
            world,
            `SELECT 1 FROM incoming_transfers WHERE payer = ${payer} AND payment_id IS NULL AND kind = 'second'`
          )
        ).length === 1
    )
    expect(await statusesOf(signedFor, other)).toEqual(["settled", "pending"])
  })
})
