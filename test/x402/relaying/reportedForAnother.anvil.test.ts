// A transfer signed for one payment and reported for an equal one pays the first.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { TransactionHash } from "../../../src/domain/Chain.ts"
import { createDidToken } from "../../../src/payments/buyers/createDidToken.ts"
import { openPayment, relayElsewhere, report, rowsOf, transfer, until } from "../payloads.ts"
import { x402World } from "../x402World.ts"
import { payBySignature, signTerms } from "./signed.ts"

setDefaultTimeout(150_000)
const price = 1_000_000n

const world = await x402World({ TESTNET_CONFIRMATIONS: "1" })

describe("a transfer by a signature for one payment", () => {
  const statusOf = async (id: string) =>
    (await world.call("GET", `/payments/${id}`, world.keys[world.env].secret)).body.payment.status
  test("submitted by others and reported for an equal payment does not settle that one", async () => {
    const [signedFor, other] = [await openPayment(world, "1"), await openPayment(world, "1")]
    const buyer = await world.payer(10n * price)
    const { payload } = await signTerms(world, signedFor, buyer)
    const hash = await relayElsewhere(world, payload)
    await Effect.runPromise(world.chain.mine(1))
    expect((await report(world, other, buyer, price, hash)).status).toBe(422)
    await until(async () => (await statusOf(signedFor)) === "settled")
    expect([await statusOf(signedFor), await statusOf(other)]).toEqual(["settled", "pending"])
  })

  test("sent by the service and found by another order's page: each order is paid by its own", async () => {
    const [signedFor, other] = [await openPayment(world, "1"), await openPayment(world, "1")]
    const buyer = await world.payer(10n * price)
    const signed = await signTerms(world, signedFor, buyer)
    // The service sends it and waits for a confirmation.
    const first = await payBySignature(world, signedFor, signed)
    expect(first.status).toBe(202)
    // The instance that has the settlement is killed: its lease lasts for up to 30 seconds.
    await rowsOf(
      world,
      `UPDATE x402_settlements SET next_look_at = now() + interval '15 seconds' WHERE payment_id = '${signedFor}'`
    )
    const [sent] = await rowsOf(
      world,
      `SELECT '0x' || encode(transaction_id, 'hex') AS id FROM x402_settlements WHERE payment_id = '${signedFor}'`
    )
    const hash = TransactionHash.make(String(sent?.["id"]))
    // The other order's page has announced its transfer and asked the wallet, as usual.
    const announced = await world.call(
      "POST",
      `/payments/${other}/attempts`,
      world.keys[world.env].publishable,
      {
        buyerDidToken: await createDidToken(buyer, {
          audience: world.baseUrl,
          lifetimeSeconds: 900,
          now: Math.floor(Date.now() / 1000),
          id: other
        }),
        method: "transfer"
      }
    )
    expect(announced.status).toBe(201)
    // That page has lost its hash, finds an equal transfer of the account, and reports it.
    expect((await report(world, other, buyer, price, hash)).status).toBe(202)
    await Effect.runPromise(world.chain.mine(1))
    await Bun.sleep(700)
    expect((await report(world, other, buyer, price, hash)).status).not.toBe(200)
    // The wallet of the other order sends the requested transfer.
    await transfer(world, buyer, price)
    await Effect.runPromise(world.chain.mine(2))
    await until(async () => (await statusOf(signedFor)) === "settled", 40_000)
    await until(async () => (await statusOf(other)) === "settled", 40_000)
    expect(10n * price - (await world.balanceOf(buyer.address))).toBe(2n * price)
  })
})
