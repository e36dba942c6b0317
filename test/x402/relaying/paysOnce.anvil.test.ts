// A wallet that has sent its money is not asked to pay again, even if the chain's time is behind the service's.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { openPayment, rowsOf, transfer, until } from "../payloads.ts"
import { x402World } from "../x402World.ts"
import { payBySignature, signTerms } from "./signed.ts"

setDefaultTimeout(150_000)

const world = await x402World()

describe("a wallet that has sent its money, and signs", () => {
  for (const minutes of [0, 2])
    test(`pays once, on a chain whose time is ${minutes} minutes behind`, async () => {
      await world.payer(1n)
      let id = ""
      // A payment that is opened once the service has read a height of the chain.
      await until(async () => {
        id = await openPayment(world, "10")
        const [row] = await rowsOf(world, `SELECT opened_block FROM payments WHERE id = '${id}'`)
        return row?.["opened_block"] !== null
      })
      await rowsOf(
        world,
        `UPDATE payments SET created_at = created_at + interval '${minutes} minutes' WHERE id = '${id}'`
      )
      const buyer = await world.payer()
      await transfer(world, buyer, 10_000_000n)
      const payer = `'\\x${buyer.address.slice(2)}'`
      await until(
        async () =>
          (
            await rowsOf(
              world,
              `SELECT 1 FROM incoming_transfers WHERE payer = ${payer} AND match_at IS NULL`
            )
          ).length > 0
      )
      const answer = await payBySignature(world, id, await signTerms(world, id, buyer))
      expect([answer.status, answer.body.error.code]).toEqual([409, "PAYMENT_ATTEMPT_OPEN"])
      await Bun.sleep(2_000)
      expect(await world.balanceOf(buyer.address)).toBe(1_000_000_000n - 10_000_000n)
    })

  test("pays by its signature if it has sent nothing", async () => {
    const id = await openPayment(world, "10")
    const buyer = await world.payer()
    expect((await payBySignature(world, id, await signTerms(world, id, buyer))).status).toBeLessThan(300)
    await until(async () => (await world.balanceOf(buyer.address)) === 1_000_000_000n - 10_000_000n)
  })
})
