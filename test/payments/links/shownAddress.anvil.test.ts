// A link that is paid once does not ask again after its buyer has seen the address.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { rowsOf, transfer, until } from "../../x402/payloads.ts"
import { x402World } from "../../x402/x402World.ts"

setDefaultTimeout(60_000)

const world = await x402World()

describe("a link that is paid once", () => {
  test("does not ask for its money again if its payment failed after its buyer had seen the address", async () => {
    const made = await world.call("POST", "/payment-links", world.keys[world.env].secret, {
      description: "Chess lesson",
      amount: "1.00",
      once: true
    })
    const open = () => world.call("POST", `/links/${made.body.link.id}`, undefined, {})
    const { intentToken } = (await open()).body
    const id = (await world.call("POST", "/payments", world.keys[world.env].publishable, { intentToken }))
      .body.payment.id
    // "Pay from an exchange or another app."
    expect(
      (await world.call("POST", `/payments/${id}/address`, world.keys[world.env].publishable, {})).status
    ).toBe(200)
    const exchange = await world.payer(5_000_000n)
    await transfer(world, exchange, 1_000_000n)
    await Effect.runPromise(world.chain.mine(2))
    await until(async () => {
      const [row] = await rowsOf(world, "SELECT kind, match_at FROM incoming_transfers")
      return row !== undefined && row["match_at"] === null
    })
    // The shop has not attached it within PAYMENT_EXPIRY, so the payment fails.
    await rowsOf(
      world,
      `UPDATE payments SET status = 'failed', failed_at = now(), failure_reason = 'expired' WHERE id = '${id}'`
    )
    const again = await open()
    const state = (await world.call("GET", `/links/${made.body.link.id}`, undefined)).body.link.state
    expect([again.status, state]).toEqual([409, "expired"])
  })
})
