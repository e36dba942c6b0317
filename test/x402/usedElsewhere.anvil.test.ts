// An authorization that had ended here, and that somebody else submits to the chain: handed in again, it pays its
// payment.
import { expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { Address } from "../../src/domain/Chain.ts"
import { headerOf, openPayment, payPath, relayElsewhere, rowsOf, transfer, until } from "./payloads.ts"
import { x402World } from "./x402World.ts"

setDefaultTimeout(150_000)
const world = await x402World()

const price = 10_000_000n

test("an authorization that ended unsent and was used elsewhere is not counted as a separate transfer", async () => {
  const id = await openPayment(world, "10")
  const [agent, other] = [await world.payer(price), await world.payer(price)]
  const validBefore = BigInt(Math.floor(Date.now() / 1000)) + 800n
  const [signed, others] = [
    await world.authorize(agent, price, { validBefore }),
    await world.authorize(other, price, { validBefore })
  ]
  const send = (payload: typeof signed) =>
    world.call("GET", payPath(world, id), undefined, undefined, headerOf(payload))
  const settlements = () =>
    rowsOf(
      world,
      `SELECT status, told_reason, error_reason FROM x402_settlements WHERE payment_id = '${id}' ORDER BY created_at`
    )

  // The relayer wallet is empty, so nothing is sent, and the payment is left to others.
  const { body } = await world.call("GET", "/x402/supported", world.keys[world.env].secret)
  const relayer = Address.make(body.signers["eip155:*"]?.[0] ?? "")
  await Effect.runPromise(world.chain.setEth(relayer, 0n))
  expect((await send(signed)).status).toBe(402)
  await Effect.runPromise(world.chain.setEth(relayer, 10n ** 20n))
  // Another payer's authorization is on its way: the first one ends.
  const raws: Array<unknown> = []
  world.node.behave((method, [raw]) => {
    if (method !== "eth_sendRawTransaction") return undefined
    raws.push(raw)
    return { raw: new Response("", { status: 503 }) }
  })
  const waiting = send(others)
  await until(async () => raws.length > 0)
  const refused = await send(signed)
  expect<unknown>([refused.status, refused.body.error]).toEqual([402, "payment_already_taken"])
  expect(await settlements()).toMatchObject([
    { status: "failed", error_reason: "payment_already_taken" },
    { status: "pending" }
  ])
  // The other one fails too.
  await transfer(world, other, price, agent.address)
  world.node.behave(() => undefined)
  expect((await waiting).status).toBe(402)
  await until(async () => (await settlements())[1]?.["told_reason"] !== null)

  await relayElsewhere(world, signed)
  await Effect.runPromise(world.chain.mine(1))
  // The reader of the chain finds no payment for it.
  await until(async () => {
    const [found] = await rowsOf(world, "SELECT kind FROM incoming_transfers WHERE payment_id IS NULL")
    return found !== undefined && found["kind"] !== null
  })
  const again = await send(signed)
  expect<unknown>([again.status, again.body.payment?.status, again.body.payment?.payerAddress]).toEqual([
    200,
    "settled",
    agent.address
  ])
  expect(await world.balanceOf(agent.address)).toBe(price)
})
