// A payment's x402 address contains the key that it was created with, and a key may be rotated before a payer is done:
// a signature for the payment still pays it.
import { expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { Address } from "../../src/domain/Chain.ts"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { openPayment, payPath, requiredBy, rowsOf } from "./payloads.ts"
import { receiver, x402World } from "./x402World.ts"

setDefaultTimeout(150_000)
const world = await x402World()

const anotherKey = () =>
  Effect.runPromise(
    Effect.flatMap(KeyAuth, (keys) =>
      keys.createKey(world.merchantId, { kind: "publishable", env: world.env, permission: "read" })
    ).pipe(Effect.provideContext(world.context))
  )

test("a payment that an agent signed for one key can be paid with another of the merchant's keys", async () => {
  const id = await openPayment(world, "1")
  const { key } = await world.newAgent()
  const required = await world.call("GET", payPath(world, id), undefined)
  const sign = (path: string) =>
    world.call("POST", "/agent/x402/payments", key, {
      requestId: crypto.randomUUID(),
      resource: `${world.baseUrl}/api/v1${path}`,
      paymentRequired: requiredBy(required)
    })
  const hand = async (path: string) => {
    const { header } = (await sign(path)).body
    return world.call("GET", path, undefined, undefined, { [header.name]: header.value })
  }
  const { body: supported } = await world.call("GET", "/x402/supported", world.keys[world.env].secret)
  const relayer = Address.make(supported.signers["eip155:*"]?.[0] ?? "")
  await Effect.runPromise(world.chain.setEth(relayer, 0n))
  const first = await hand(payPath(world, id))
  expect<unknown>([first.status, first.body.error]).toEqual([402, "relay_wallet_empty"])
  await Effect.runPromise(world.chain.setEth(relayer, 10n ** 20n))

  const before = await world.balanceOf(receiver)
  const second = await hand(`/payments/${id}/x402?pk=${(await anotherKey()).key}`)
  expect<unknown>([second.status, second.body.payment?.status, second.body.error]).toEqual([
    200,
    "settled",
    undefined
  ])
  expect(await world.balanceOf(receiver)).toBe(before + 1_000_000n)
  expect(await rowsOf(world, `SELECT status FROM x402_settlements WHERE payment_id = '${id}'`)).toEqual([
    { status: "settled" }
  ])
})
