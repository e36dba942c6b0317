// A settlement whose transaction is behind nonces that no block will reach: it ends when its authorization expires, and
// the payment is free for others again.
import { expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { headerOf, openPayment, payPath, rowsOf, until } from "./payloads.ts"
import { x402World } from "./x402World.ts"

setDefaultTimeout(150_000)
const world = await x402World()

const price = 10_000_000n

test("an expired authorization does not hold a payment, even if its transaction is in no block yet", async () => {
  const id = await openPayment(world, "10")
  const [stuck, other] = [await world.payer(price), await world.payer(price)]
  const now = BigInt(Math.floor(Date.now() / 1000))
  const pay = async (account: typeof stuck, validBefore: bigint) =>
    world.call(
      "GET",
      payPath(world, id),
      undefined,
      undefined,
      headerOf(await world.authorize(account, price, { validBefore }))
    )
  world.node.behave((method, [, block]) =>
    method === "eth_getTransactionCount" && block === "pending" ? { result: "0x3e8" } : undefined
  )
  const first = await pay(stuck, now + 60n)
  expect<unknown>([first.status, first.body.error]).toEqual([402, "settlement_pending"])
  world.node.behave(() => undefined)
  const taken = await pay(other, now + 800n)
  expect<unknown>([taken.status, taken.body.error]).toEqual([402, "payment_already_taken"])
  await Effect.runPromise(world.chain.rpc("evm_increaseTime", [120]))
  await Effect.runPromise(world.chain.mine(2))
  const settlement = async () =>
    (await rowsOf(world, `SELECT status, error_reason FROM x402_settlements WHERE payment_id = '${id}'`))[0]
  await until(async () => (await settlement())?.["status"] === "failed")
  expect(await settlement()).toMatchObject({
    error_reason: "invalid_exact_evm_payload_authorization_valid_before"
  })
  const paid = await pay(other, now + 800n)
  expect<unknown>([paid.status, paid.body.payment?.payerAddress]).toEqual([200, other.address])
  expect(await world.balanceOf(stuck.address)).toBe(price)
})
