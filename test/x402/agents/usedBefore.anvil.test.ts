// An authorization that was used hours before it was reserved, as after a restore from before its reservation: its
// nonce is derived from the payment, and reserved again.
import { expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { openPayment, payPath, requiredBy, rowsOf, until } from "../payloads.ts"
import { x402World } from "../x402World.ts"

setDefaultTimeout(150_000)
const world = await x402World()

test("a reservation ends by a use that is hours older, and counts against the cap no longer than its day", async () => {
  const id = await openPayment(world, "1")
  const { key } = await world.newAgent()
  const reservation = async () => (await world.call("GET", "/agent", key)).body.agent?.payments[0]
  const required = await world.call("GET", payPath(world, id), undefined)
  const signed = await world.call("POST", "/agent/x402/payments", key, {
    requestId: "before",
    resource: `${world.baseUrl}/api/v1${payPath(world, id)}`,
    paymentRequired: requiredBy(required)
  })
  const { name, value } = signed.body.header
  const paid = await world.call("GET", payPath(world, id), undefined, undefined, { [name]: value })
  expect(paid.status).toBe(200)
  await until(async () => (await reservation())?.status === "used")
  // The node searches one block at a time, and the use is several blocks below.
  await Effect.runPromise(world.chain.mine(5))
  world.node.behave((method, [asked]) => {
    if (method !== "eth_getLogs") return undefined
    const { fromBlock, toBlock } = Object(asked)
    return BigInt(toBlock) - BigInt(fromBlock) > 1n
      ? { error: { code: -32_005, message: "query exceeds max block range" } }
      : undefined
  })
  await rowsOf(
    world,
    `UPDATE agent_payments SET status = 'reserved', finished_at = NULL, transaction_id = NULL, next_look_at = now(),
       created_at = created_at + interval '2 hours' RETURNING id`
  )
  await until(async () => (await reservation())?.status === "used")
})
