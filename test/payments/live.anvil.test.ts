// Real money, on a chain with Arbitrum One's id and USDC: closed, opened, and closed again by one setting. The amount
// decides how certain a block must be before it settles a payment; this chain calls a block safe after 32 others, final
// after 64.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { concat, createWalletClient, type Hex, http, pad, toHex } from "viem"
import { transferTopic } from "../../src/chain/ChainVerifier/TransferLog.ts"
import { networks } from "../../src/domain/networks.ts"
import { signUp } from "../dashboard/person.ts"
import { moneyWorld } from "./moneyWorld.ts"

setDefaultTimeout(120_000)

const usd = 1_000_000n
const world = await moneyWorld({ MAINNET: "closed" }, networks.live)
/** Emits `Transfer(address,address,uint256)` of its three words of input. */
const emitter = `0x6040356000526020356000357f${transferTopic.slice(2)}60206000a300`
const open = { MAINNET: "open" }

const paid = async (dollars: bigint) => {
  const buyer = await world.buyer(100_000n * usd)
  const payment = await world.open(String(dollars))
  const hash = await world.transfer(buyer, dollars * usd)
  return { buyer, payment, hash, report: () => world.report(buyer, payment.id, hash, dollars * usd) }
}

test("while it is closed no wallet can announce", async () => {
  const payment = await world.open("3")
  const answer = await world.announce(await world.buyer(), payment.id)
  expect([answer.status, answer.body.error.code]).toEqual([403, "LIVE_MODE_GATED"])
})

test("a payment reported while it is closed is recorded, then checked once it opens", async () => {
  const { payment, report } = await paid(3n)
  const answer = await report()
  expect([answer.status, answer.body.error.code]).toEqual([202, "LIVE_SETTLEMENT_GATED"])
  await world.mine(2)
  await Bun.sleep(2_000)
  expect((await world.payment(payment.id)).status).toBe("pending")
  await world.restart(open)
  expect((await world.settled(payment.id)).status).toBe("settled")
})

const readyz = async () => (await fetch(`${world.baseUrl}/readyz`)).json()

describe("open", () => {
  test("/readyz says that Mainnet is open", async () => {
    expect(await readyz()).toEqual({ status: "ready", mainnet: "open" })
  })

  test("a report settles as on Testnet, with the live codes and a live webhook", async () => {
    const buyer = await world.buyer()
    const payment = await world.open("5")
    const unknown = await world.report(buyer, payment.id, `0x${"12".repeat(32)}`, 5n * usd)
    expect([unknown.status, unknown.body.error.code]).toEqual([202, "SETTLEMENT_PENDING"])
    const wrong = await world.report(buyer, payment.id, await world.transfer(buyer, 4n * usd), 5n * usd)
    expect([wrong.status, wrong.body.error.code, wrong.body.error.reason]).toEqual([
      422,
      "SETTLEMENT_MISMATCH",
      "amount"
    ])
    const hash = await world.transfer(buyer, 5n * usd)
    await world.mine(1)
    const settled = await world.report(buyer, payment.id, hash, 5n * usd)
    expect([settled.status, settled.body.payment.status, settled.body.payment.env]).toEqual([
      200,
      "settled",
      "live"
    ])
    const told = await world.until(
      async () => world.delivered.filter(({ transactionId }) => transactionId === hash),
      (all) => all.length > 0
    )
    expect(told.map(({ type }) => type)).toEqual(["payment.settled"])
  })

  test("without a report the reader finds the transfer of an announced wallet", async () => {
    const buyer = await world.buyer()
    const payment = await world.open("7")
    expect((await world.announce(buyer, payment.id)).status).toBe(201)
    await world.transfer(buyer, 7n * usd)
    await world.mine(2)
    expect((await world.settled(payment.id)).status).toBe("settled")
  })

  test("$150 waits for a safe block, $20,000 for a final one; both settle without a request", async () => {
    const [middle, large] = [await paid(150n), await paid(20_000n)]
    await world.mine(5)
    for (const { report } of [middle, large]) {
      const answer = await report()
      expect([answer.status, answer.body.error.code]).toEqual([202, "SETTLEMENT_PENDING"])
    }
    // Every page of the payment learns that its money is there; a false report changes nothing.
    const confirming = async (id: string) => (await world.attempts(id)).body.confirmingTransactionId
    for (const { hash, payment } of [middle, large]) expect(await confirming(payment.id)).toBe(hash)
    const unpaid = await world.open("150")
    await world.report(await world.buyer(), unpaid.id, `0x${"34".repeat(32)}`, 150n * usd)
    expect(await confirming(unpaid.id)).toBeUndefined()
    await world.mine(32)
    expect((await world.settled(middle.payment.id)).status).toBe("settled")
    expect(await confirming(middle.payment.id)).toBeUndefined()
    expect((await world.payment(large.payment.id)).status).toBe("pending")
    await world.mine(32)
    expect((await world.settled(large.payment.id, 30_000)).status).toBe("settled")
  })

  test("a merchant's own limits: its $15 wait for a safe block, another merchant's do not", async () => {
    const change = (body: object, key = world.merchant.keys.live.secret) =>
      world.call("PATCH", "/settlement-levels", key, body)
    const tooMuch = await change({ included: "100.000001" })
    expect([tooMuch.status, tooMuch.body.error.details]).toEqual([
      400,
      [{ path: "body.included", message: "At most 100.00, the operator's limit." }]
    ])
    expect((await change({ safe: "5.00" }, world.merchant.keys.test.secret)).body.error.details).toEqual([
      { path: "body.safe", message: "Payments on Base Sepolia have no limit at this level." }
    ])
    expect((await change({ included: "10.00" })).body.levels).toEqual([
      { finality: "included", upTo: "10.00", operatorUpTo: "100.00", seconds: 2 },
      { finality: "safe", upTo: "10000.00", operatorUpTo: "10000.00", seconds: 600 },
      { finality: "finalized", seconds: 1_200 }
    ])
    const context = await world.call("GET", "/checkout-context", world.merchant.keys.live.publishable)
    expect(context.body.settlement[0]).toEqual({ upTo: "10000000", seconds: 2 })

    const { payment, report } = await paid(15n)
    const other = await world.newMerchant()
    const buyer = await world.buyer()
    const others = await world.open("15", other)
    const hash = await world.transfer(buyer, 15n * usd, other.receiver)
    await world.mine(5)
    expect((await world.report(buyer, others.id, hash, 15n * usd, other)).status).toBe(200)
    const answer = await report()
    expect([answer.status, answer.body.error.code]).toEqual([202, "SETTLEMENT_PENDING"])
    await world.mine(32)
    expect((await world.settled(payment.id)).status).toBe("settled")

    const [entry] = await world.sql`
      SELECT actor, summary FROM audit_entries
      WHERE action = 'settlement_limits.changed' AND merchant_id = ${world.merchant.id}`
    expect(entry).toEqual({
      actor: "API",
      summary:
        "changed the settlement limits from included 100.00, safe 10000.00 to included 10.00, safe 10000.00"
    })
    expect((await change({ included: null })).body.levels[0]?.upTo).toBe("100.00")
  })

  test("USDC.e is another token: it settles nothing, and its merchant is told the amount", async () => {
    const [bridged] = networks.live.otherTokens
    if (bridged === undefined) throw new Error("no other token")
    await Effect.runPromise(world.chain.rpc("anvil_setCode", [bridged.address, emitter]))
    const shop = await world.newMerchant()
    const buyer = await world.buyer()
    const payment = await world.open("3", shop)
    expect((await world.announce(buyer, payment.id, {}, shop)).status).toBe(201)
    const client = createWalletClient({ account: buyer, transport: http(world.chain.rpcUrl) })
    const send = async (atomic: bigint) => {
      const words = [buyer.address, shop.receiver, toHex(atomic)].map((one) => pad(one as Hex, { size: 32 }))
      const hash = await client.sendTransaction({ chain: null, to: bridged.address, data: concat(words) })
      await world.mine(3)
      return hash
    }
    await send(9_999n)
    const hash = await send(3n * usd)
    const alerts = await world.until(
      () => world.sql`SELECT message FROM alerts WHERE merchant_id = ${shop.id} AND kind = 'other_token'`,
      (rows) => rows.length > 0
    )
    expect(alerts).toEqual([
      {
        message: `3.00 USDC.e reached ${shop.receiver} from ${buyer.address}, in transaction ${hash}. USDC.e is not USDC and settles no payment. Return it from your wallet, and ask for USDC.`
      }
    ])
    const reported = await world.report(buyer, payment.id, hash, 3n * usd, shop)
    expect([reported.status, reported.body.error.reason]).toEqual([422, "token"])
    expect(await world.sql`SELECT 1 FROM incoming_transfers WHERE merchant_id = ${shop.id}`).toHaveLength(0)
    const own = await world.transfer(buyer, 3n * usd, shop.receiver)
    await world.mine(2)
    expect((await world.report(buyer, payment.id, own, 3n * usd, shop)).status).toBe(200)
  })

  test("a member attaches a stranger's $150 once its block is safe; until then the page says to wait", async () => {
    const person = await signUp(world.baseUrl)
    const shop = { ...world.merchant, id: person.merchantId, keys: person.keys, receiver: person.receiver }
    const payment = await world.open("150", shop)
    await world.transfer(await world.buyer(), 150n * usd, person.receiver)
    await world.mine(2)
    const [transfer] = await world.until(
      (): Promise<ReadonlyArray<{ id: string }>> =>
        world.sql`SELECT id FROM incoming_transfers WHERE merchant_id = ${person.merchantId} AND kind IS NOT NULL`,
      (rows) => rows.length > 0
    )
    const path = `/merchants/${person.merchantId}/live/incoming-transfers/${transfer?.id}/attach`
    const attach = () => person.call("POST", path, { paymentId: payment.id })
    const early = await attach()
    expect([early.status, early.body.error.code, early.body.error.reason]).toEqual([
      422,
      "TRANSFER_NOT_ATTACHABLE",
      "safe"
    ])
    await world.mine(32)
    const late = await world.until(attach, ({ status }) => status === 200)
    expect(late.body.payment.status).toBe("settled")
  })

  test("one of two nodes is silent: $3 wait for the other one's safe block", async () => {
    world.secondNode?.behave(() => ({ raw: new Response(null, { status: 502 }) }))
    const { payment, report } = await paid(3n)
    await world.mine(40)
    // One of two nodes is no majority, whatever it answers.
    expect((await report()).status).toBe(503)
    expect((await world.payment(payment.id)).status).toBe("pending")
    world.secondNode?.behave(() => undefined)
    expect((await world.settled(payment.id, 30_000)).status).toBe("settled")
  })
})

test("closed again: open payments settle, nothing new begins, and then it is closed as before", async () => {
  const made = await world.call("POST", "/payment-links", world.merchant.keys.live.secret, {
    amount: "2.00",
    description: "Lesson"
  })
  const openedLink = made.body.link.id
  expect((await world.call("POST", `/links/${openedLink}`, undefined, {})).status).toBe(201)
  const { buyer, hash, payment } = await paid(9n)
  await world.stop()
  await world.mine(2)
  await world.start({ MAINNET: "closed" })
  expect(await readyz()).toEqual({ status: "ready", mainnet: "closing" })
  const refused = await world.call("POST", "/payment-intents", world.merchant.keys.live.secret, {
    amount: "1.00",
    intentUrl: "https://shop.example.com/1"
  })
  expect([refused.status, refused.body.error.code]).toEqual([403, "LIVE_MODE_GATED"])
  const newLink = await world.call("POST", "/payment-links", world.merchant.keys.live.secret, {
    amount: "2.00",
    description: "Lesson"
  })
  expect([newLink.status, newLink.body.error.code]).toEqual([403, "LIVE_MODE_GATED"])
  const supported = await world.call("GET", "/x402/supported", world.merchant.keys.live.secret)
  expect(supported.body.kinds).toEqual([])
  const link = await world.call("POST", `/links/${openedLink}`, undefined, {})
  expect([link.status, link.body.error.reason, link.body.error.message]).toEqual([
    409,
    "closed",
    refused.body.error.message
  ])
  await world.report(buyer, payment.id, hash, 9n * usd)
  expect((await world.settled(payment.id)).status).toBe("settled")
  // Each settled transfer is watched until its block is final.
  await world.mine(70)
  await world.sql`UPDATE claimed_transfers SET watch_at = now() WHERE watch_at IS NOT NULL`
  await world.until(
    async () =>
      Number((await world.sql`SELECT count(*) FROM claimed_transfers WHERE watch_at IS NOT NULL`)[0].count),
    (watched) => watched === 0
  )
  await world.sql`UPDATE payments SET status = 'failed', failed_at = now(), failure_reason = 'expired' WHERE status = 'pending'`
  await world.restart({ MAINNET: "closed" })
  expect(await readyz()).toEqual({ status: "ready" })
  const closed = await paid(2n)
  const answer = await closed.report()
  expect([answer.status, answer.body.error.code]).toEqual([202, "LIVE_SETTLEMENT_GATED"])
  // A payment opened and reported while it was closed does not count as open at a later start.
  await world.restart({ MAINNET: "closed" })
  expect(await readyz()).toEqual({ status: "ready" })
  expect((await world.payment(closed.payment.id)).status).toBe("pending")
  await world.restart({ MAINNET: "open" })
  expect((await world.settled(closed.payment.id, 60_000)).status).toBe("settled")
})
