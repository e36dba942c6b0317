// An agent's authorization that is on the chain but unknown to the service, as after a restore from before the
// settlement.
import { expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { authorizationNonceOf } from "../../src/domain/authorizationNonce.ts"
import { Address, TransactionHash } from "../../src/domain/Chain.ts"
import {
  broadcasts,
  cancel,
  headerOf,
  openPayment,
  payPath,
  relayElsewhere,
  requiredBy,
  rowsOf,
  until
} from "./payloads.ts"
import { x402World } from "./x402World.ts"

setDefaultTimeout(150_000)
const world = await x402World()

const price = 10_000_000n
const nonceOf = (id: string, cancelled = 0) => TransactionHash.make(authorizationNonceOf(id, cancelled))
const validBefore = () => BigInt(Math.floor(Date.now() / 1000)) + 800n
const send = (id: string, payload: Parameters<typeof headerOf>[0]) =>
  world.call("GET", payPath(world, id), undefined, undefined, headerOf(payload))
/** The reader of the chain has found no payment for it. */
const unexplained = (transactionId: string) =>
  until(async () => {
    const [found] = await rowsOf(
      world,
      `SELECT kind FROM incoming_transfers WHERE transaction_id = '\\x${transactionId.slice(2)}'`
    )
    return found !== undefined && found["kind"] !== null
  })

test("an agent's used authorization pays its payment when it is handed in again, and nothing is sent", async () => {
  const id = await openPayment(world, "10")
  const agent = await world.payer(price)
  const signed = await world.authorize(agent, price, { validBefore: validBefore(), nonce: nonceOf(id) })
  const used = await relayElsewhere(world, signed)
  await Effect.runPromise(world.chain.mine(1))
  await unexplained(used)
  const sent = broadcasts(world)
  // Signed again, like an agent whose own reservation was lost as well.
  const again = await world.authorize(agent, price, { validBefore: validBefore() + 5n, nonce: nonceOf(id) })
  const answer = await send(id, again)
  expect<unknown>([answer.status, answer.body.payment?.status, answer.body.payment?.payerType]).toEqual([
    200,
    "settled",
    "agent"
  ])
  expect(answer.body.payment?.reportedTransactionId).toBe(used)
  expect(broadcasts(world)).toBe(sent)
})

test.each(["before", "after"])(
  "an agent's new authorization pays after a cancelled one, which pays nothing, %s the reader found it",
  async (moment) => {
    const id = await openPayment(world, "10")
    const agent = await world.payer(price)
    const first = await world.authorize(agent, price, { validBefore: validBefore(), nonce: nonceOf(id) })
    await cancel(world, agent, first)
    const second = await world.authorize(agent, price, { validBefore: validBefore(), nonce: nonceOf(id, 1) })
    const used = await relayElsewhere(world, second)
    await Effect.runPromise(world.chain.mine(1))
    if (moment === "after") await unexplained(used)
    const refused = await send(id, first)
    expect<unknown>([refused.status, refused.body.error]).toEqual([
      402,
      "invalid_exact_evm_nonce_already_used"
    ])
    const answer = await send(id, second)
    expect<unknown>([answer.status, answer.body.payment?.reportedTransactionId]).toEqual([200, used])
  }
)

test("an authorization with another nonce pays nothing: anybody could read it on the chain and hand it in", async () => {
  const agent = await world.payer(price)
  const [paid, id] = [await openPayment(world, "10"), await openPayment(world, "10")]
  for (const nonce of [undefined, nonceOf(paid)]) {
    await Effect.runPromise(world.chain.mint(Address.make(agent.address), price))
    const signed = await world.authorize(agent, price, {
      validBefore: validBefore(),
      ...(nonce === undefined ? {} : { nonce })
    })
    await relayElsewhere(world, signed)
    await Effect.runPromise(world.chain.mine(1))
    const refused = await send(id, signed)
    expect<unknown>([refused.status, refused.body.error]).toEqual([
      402,
      "invalid_exact_evm_nonce_already_used"
    ])
  }
})

test("a used authorization that an agent of the service has reserved pays its payment without a hand-in", async () => {
  const id = await openPayment(world, "10")
  const { key } = await world.newAgent({ perPayment: price, perDay: price })
  const required = await world.call("GET", payPath(world, id), undefined)
  const signed = await world.call("POST", "/agent/x402/payments", key, {
    requestId: "restored",
    resource: `${world.baseUrl}/api/v1${payPath(world, id)}`,
    paymentRequired: requiredBy(required)
  })
  const { payload } = JSON.parse(Buffer.from(signed.body.header.value, "base64").toString())
  const used = await relayElsewhere(world, payload)
  await Effect.runPromise(world.chain.mine(1))
  const payment = async () =>
    (await world.call("GET", `/payments/${id}`, world.keys[world.env].secret)).body.payment
  await until(async () => (await payment()).status === "settled")
  expect(await payment()).toMatchObject({ payerType: "agent", reportedTransactionId: used })
})
