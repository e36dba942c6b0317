// The wei that relaying costs, through the service on anvil: a runaway price, an exhausted daily total, and books that
// match the wallet's balance.
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { formatEther, toHex } from "viem"
import { maxWeiOf } from "../../src/chain/wallets/HotWallet/costs.ts"
import { Address } from "../../src/domain/Chain.ts"
import { assemble } from "../support/assembler.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import {
  bodyV2,
  broadcasts,
  carries,
  openPayment,
  report,
  rowsOf,
  someRelayedWei,
  transfer,
  until
} from "./payloads.ts"
import { payBySignature, signTerms, termsOf } from "./relaying/signed.ts"
import { startX402World, type X402World } from "./x402World.ts"

setDefaultTimeout(180_000)

const amount = 10_000_000n
const gwei = 1_000_000_000n
const { l1FeeOracle, relayWei } = moneyNetwork
let world: Awaited<ReturnType<typeof startX402World>>
afterEach(() => world.close(), 120_000)

const rpc = (method: string, params: Array<unknown>) => Effect.runPromise(world.chain.rpc(method, params))
const setPrice = (price: bigint) => rpc("anvil_setNextBlockBaseFeePerGas", [toHex(price)])
/** The relayer wallet, and its balance; a world gives it 100 ETH. */
const relayer = async () => {
  const { body } = await world.call("GET", "/x402/supported", world.keys[world.env].secret)
  const address = Address.make(body.signers["eip155:*"]?.[0] ?? "")
  return { address, wei: await world.chain.publicClient.getBalance({ address }) }
}
const stopped = async () =>
  (
    await rowsOf(
      world,
      "SELECT message FROM alerts WHERE kind = 'relaying_stopped' AND acknowledged_at IS NULL"
    )
  ).map(({ message }) => String(message))
const statusOf = async (id: string) =>
  (await world.call("GET", `/payments/${id}`, world.keys[world.env].secret)).body.payment.status
const pay = async (world: X402World) => {
  const id = await openPayment(world, "10")
  return payBySignature(world, id, await signTerms(world, id, await world.payer()))
}
/** Every transaction has ended, with its cost; the sum is what the wallet has spent. */
const booksAddUp = async () => {
  await until(
    async () =>
      (await rowsOf(world, "SELECT 1 FROM wallet_transactions WHERE spent_wei IS NULL")).length === 0,
    60_000
  )
  const [sum] = await rowsOf(world, "SELECT sum(spent_wei)::text AS wei FROM wallet_transactions")
  expect(BigInt(String(sum?.["wei"]))).toBe(10n ** 20n - (await relayer()).wei)
}

test("a runaway price stops relaying, but not the payments; relaying resumes without an operator", async () => {
  world = await startX402World()
  expect((await pay(world)).status).toBe(200)

  // One is under way at the old price.
  const buyer = await world.payer()
  const sent = broadcasts(world)
  const openId = await openPayment(world, "10")
  const openSigned = await signTerms(world, openId, await world.payer())
  await rpc("evm_setAutomine", [false])
  const underWay = payBySignature(world, openId, openSigned)
  await until(async () => broadcasts(world) > sent)
  await setPrice(50n * gwei)
  await Bun.sleep(2_100)

  const id = await openPayment(world, "10")
  expect((await termsOf(world, id, buyer.address)).body).toMatchObject({ relayed: false, reason: "price" })
  await until(async () => (await stopped()).length > 0)
  const [message = ""] = await stopped()
  expect(message).toMatch(
    new RegExp(
      String.raw`^At the current gas price of \d+(\.\d+)? gwei, a payment by signature on ${moneyNetwork.name} may cost 0\.\d+ ETH, more than the 0\.01 ETH of ${relayWei.payer.setting}\.`
    )
  )
  expect(message).toContain(`raise ${relayWei.payer.setting} and restart`)
  const relayed = async () =>
    (await rowsOf(world, "SELECT count(*)::int AS count FROM wallet_transactions"))[0]
  const before = await relayed()
  const refused = await payBySignature(world, id, await signTerms(world, id, buyer))
  expect([refused.status, refused.body.error.code, refused.body.error.reason]).toEqual([
    503,
    "RELAY_UNAVAILABLE",
    "price"
  ])
  expect(await relayed()).toEqual(before)

  // The buyer pays the fee.
  await rpc("evm_setAutomine", [true])
  const hash = await transfer(world, buyer, amount)
  expect((await report(world, id, buyer, amount, hash)).status).toBe(200)

  // The pending transaction is replaced at the present price, whatever the budgets say.
  await underWay
  await until(async () => {
    await rowsOf(
      world,
      "UPDATE wallet_transactions SET signed_at = signed_at - interval '1 minute' WHERE ended_at IS NULL"
    )
    await setPrice(50n * gwei)
    await Effect.runPromise(world.chain.mine(1))
    await Bun.sleep(1_000)
    return (await statusOf(openId)) === "settled"
  }, 60_000)
  expect(await stopped()).toEqual([message])

  await setPrice(gwei)
  await Effect.runPromise(world.chain.mine(1))
  await until(async () => (await stopped()).length === 0, 60_000)
  expect((await pay(world)).status).toBe(200)

  // One reverts, because its payer has moved the money away in between.
  const thief = await world.payer(10_000n)
  const payload = await world.authorize(thief, 10_000n)
  let raced = false
  world.node.behave(async (method, params) => {
    if (!raced && carries(method, params, payload)) {
      raced = true
      await transfer(world, thief, 10_000n)
    }
    return undefined
  })
  const reverted = await world.call(
    "POST",
    "/x402/settle",
    world.keys[world.env].secret,
    bodyV2(payload, 10_000n)
  )
  expect(reverted.body.errorReason).toBe("invalid_exact_evm_transaction_failed")
  await booksAddUp()
  const outcomes = await rowsOf(
    world,
    "SELECT outcome, max(cardinality(versions))::int AS versions, count(*)::int AS count FROM wallet_transactions GROUP BY outcome ORDER BY outcome"
  )
  expect(outcomes).toEqual([
    { outcome: "moved", versions: expect.any(Number), count: 3 },
    { outcome: "reverted", versions: 1, count: 1 }
  ])
  expect(Number(outcomes[0]?.["versions"])).toBeGreaterThan(1)
})

test("an exhausted daily total stops relaying for everybody, with an alert, for a day", async () => {
  world = await startX402World({ [relayWei.total.setting]: String(someRelayedWei) })
  let answer = await pay(world)
  for (let count = 0; answer.status === 200 && count < 30; count++) answer = await pay(world)
  expect([answer.status, answer.body.error.reason]).toEqual([503, "total_budget"])
  await until(async () => (await stopped()).length > 0)
  expect(await stopped()).toEqual([
    expect.stringMatching(
      new RegExp(
        String.raw`^The relayer's wallet 0x\w{40} has used the ${formatEther(someRelayedWei)} ETH that ${relayWei.total.setting} allows in 24 hours\.`
      )
    )
  ])
  await rowsOf(world, "UPDATE wallet_transactions SET ended_at = ended_at - interval '1 day'")
  await until(async () => (await stopped()).length === 0, 60_000)
  expect((await pay(world)).status).toBe(200)
})

describe.if(l1FeeOracle !== undefined)("on a network that charges an L1 fee besides gas", () => {
  const startWith = async (code: string) => {
    world = await startX402World()
    await rpc("anvil_setCode", [l1FeeOracle, assemble(code)])
  }

  test("a transaction reserves its L1 fee too", async () => {
    await startWith("0xe8d4a51000 0x00 MSTORE 0x20 0x00 RETURN")
    expect((await pay(world)).status).toBe(200)
    const [row] = await rowsOf(
      world,
      "SELECT reserved_wei::text AS wei, '0x' || encode(versions[1], 'hex') AS raw FROM wallet_transactions"
    )
    expect(BigInt(String(row?.["wei"])) - maxWeiOf(`0x${String(row?.["raw"]).slice(2)}`)).toBe(
      2_000_000_000_000n
    )
  })

  test("nothing is relayed while its oracle cannot be read", async () => {
    await startWith("0x00 0x00 REVERT")
    const id = await openPayment(world, "10")
    const buyer = await world.payer()
    expect((await termsOf(world, id, buyer.address)).status).toBe(503)
    expect(broadcasts(world)).toBe(0)
    const hash = await transfer(world, buyer, amount)
    expect((await report(world, id, buyer, amount, hash)).status).toBe(200)
  })
})
