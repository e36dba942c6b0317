// The reader of the chain, on anvil with the real USDC: every transfer to a receiver is a payment's or waits for a
// person, through outages, restarts and reorganisations.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { Address } from "../../src/domain/Chain.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { type Merchant, moneyWorld } from "./moneyWorld.ts"

setDefaultTimeout(150_000)

const price = 3_000_000n
const { usdc } = moneyNetwork

const world = await moneyWorld({ PAYMENT_EXPIRY: "20s" })

describe("incoming transfers", () => {
  const database = () => world.sql

  interface Row {
    readonly kind: string | null
    readonly amount: string
    readonly payment_id: string | null
    readonly dropped: boolean
    readonly transaction_id: string
    readonly ordinal: number
  }
  const rows = async (merchant: Merchant): Promise<ReadonlyArray<Row>> => [
    ...(await database()`
      SELECT kind, amount::text AS amount, payment_id, dropped_at IS NOT NULL AS dropped, ordinal,
        '0x' || encode(transaction_id, 'hex') AS transaction_id
      FROM incoming_transfers WHERE merchant_id = ${merchant.id} ORDER BY block_number, ordinal`)
  ]
  /** All rows, once there are this many and all are decided. */
  const decided = (merchant: Merchant, count: number) =>
    world.until(
      () => rows(merchant),
      (all) => all.length >= count && all.every((one) => one.payment_id !== null || one.kind !== null)
    )
  const kinds = async (merchant: Merchant, count: number) =>
    (await decided(merchant, count)).map(
      ({ kind, payment_id }) => kind ?? (payment_id === null ? "?" : "paid")
    )

  test("an unread transfer to an address that has moved to another merchant since is read all the same", async () => {
    const [first, second] = [await world.newMerchant(), await world.newMerchant()]
    const [buyer, stranger] = [await world.buyer(), await world.buyer()]
    const payment = await world.open("3", first)
    expect((await world.announce(buyer, payment.id, {}, first)).status).toBe(201)
    world.node.behave(() => ({ error: { code: -32000, message: "down" } }))
    await world.transfer(buyer, price, first.receiver)
    await world.transfer(stranger, price + 1n, first.receiver)
    // As after a move by its owner's signature, long after the transfers.
    await database()`
      UPDATE merchant_receivers SET merchant_id = ${second.id}, since = now() + interval '70 minutes'
      WHERE env = ${moneyNetwork.env} AND address = decode(${first.receiver.slice(2)}, 'hex')`
    world.node.behave(() => undefined)
    await world.mine(2)
    const [unknown] = await decided(second, 1)
    expect([unknown?.kind, unknown?.amount]).toEqual(["unknown", String(price + 1n)])
    await world.until(
      () => world.payment(payment.id, first),
      ({ status }) => status === "settled"
    )
    expect(await kinds(first, 1)).toEqual(["paid"])
  })

  test("a failed payment that its announced payer pays late settles, with one webhook", async () => {
    const shop = await world.newMerchant()
    const buyer = await world.buyer()
    const payment = await world.open("3", shop)
    const other = await world.open("4", shop)
    await world.announce(buyer, payment.id, {}, shop)
    await database()`
      UPDATE payments SET created_at = created_at - interval '20 seconds'
      WHERE id IN (${payment.id}, ${other.id})`
    const failed = await world.until(
      async () => {
        await world.mine(1)
        return world.payment(payment.id, shop)
      },
      ({ status }) => status === "failed",
      80_000,
      1_000
    )
    expect(failed).toMatchObject({ status: "failed", failureReason: "expired" })
    const hash = await world.transfer(buyer, price, shop.receiver)
    const settled = await world.until(
      () => world.payment(payment.id, shop),
      ({ status }) => status === "settled"
    )
    expect(settled).toMatchObject({ status: "settled", failureReason: null, reportedTransactionId: hash })
    await Bun.sleep(500)
    expect(world.delivered.filter(({ transactionId }) => transactionId === hash)).toHaveLength(1)
    // A stranger's transfer of a failed payment's amount is late, and waits for a person.
    await world.until(
      async () => {
        await world.mine(1)
        return world.payment(other.id, shop)
      },
      ({ status }) => status === "failed",
      80_000,
      1_000
    )
    await world.transfer(await world.buyer(), 4_000_000n, shop.receiver)
    expect(await kinds(shop, 2)).toEqual(["paid", "late"])
  }, 200_000)

  test("transfers sent while the service was down are found when it is back", async () => {
    const shop = await world.newMerchant()
    const buyer = await world.buyer()
    const payment = await world.open("3", shop)
    await world.announce(buyer, payment.id, {}, shop)
    await world.stop()
    await world.transfer(buyer, price, shop.receiver)
    await world.transfer(await world.buyer(), 1_500_000n, shop.receiver)
    await world.mine(150)
    await world.start()
    expect(await kinds(shop, 2)).toEqual(["paid", "unknown"])
    expect((await world.payment(payment.id, shop)).status).toBe("settled")
  })

  test("a reorganisation drops a transfer from the list and finds it again in its new block", async () => {
    const shop = await world.newMerchant()
    const buyer = await world.buyer()
    const hash = await world.transfer(buyer, price, shop.receiver)
    await decided(shop, 1)
    const raw = await Effect.runPromise(world.chain.rpc("eth_getRawTransactionByHash", [hash]))
    await Effect.runPromise(world.chain.rpc("anvil_reorg", [2, []]))
    await Effect.runPromise(world.chain.setEth(Address.make(buyer.address), 10n ** 18n))
    await world.mine(4)
    const dropped = await world.until(
      () => rows(shop),
      ([one]) => one?.dropped === true
    )
    expect(dropped.map((one) => one.dropped)).toEqual([true])
    await Effect.runPromise(world.chain.rpc("eth_sendRawTransaction", [raw]))
    await world.mine(3)
    const back = await world.until(
      () => rows(shop),
      ([one]) => one?.dropped === false
    )
    expect(back).toMatchObject([{ dropped: false, transaction_id: hash }])
    expect(await world.balanceOf(shop.receiver)).toBe(price)
  })

  test("the calls for a block do not grow with merchants: one for the block, two for logs, one for each poll of the head", async () => {
    for (let index = 0; index < 20; index++) await world.newMerchant()
    const usual = new Set(["eth_getLogs", "eth_getBlockByNumber"])
    // Until the work of earlier tests is done.
    const end = Date.now() + 40_000
    do {
      world.node.calls.length = 0
      await Bun.sleep(1_500)
    } while (world.node.calls.some((method) => !usual.has(method)) && Date.now() < end)
    world.node.calls.length = 0
    for (let block = 0; block < 10; block++) await world.mine(1)
    await Bun.sleep(moneyNetwork.pollMillis.idle + 2_000)
    const of = (method: string) => world.node.calls.filter((one) => one === method).length
    // Ten blocks, read in ranges, are one call, or two if a poll falls between them.
    if (moneyNetwork.readsHeadByHash) expect(of("eth_getLogs")).toBe(20)
    else expect([2, 4]).toContain(of("eth_getLogs"))
    expect(of("eth_getBlockByNumber")).toBeLessThanOrEqual(10 + 8)
    // Settled transfers may be watched at the same time.
    const watching = new Set(["eth_getTransactionReceipt", "eth_blockNumber"])
    expect(new Set(world.node.calls).difference(watching)).toEqual(usual)
  })

  test("the books balance: everything that reached a receiver is settled or listed, to the atomic unit", async () => {
    const [sum] =
      (await database()`
      SELECT
        (SELECT coalesce(sum(amount), 0)::text FROM incoming_transfers WHERE dropped_at IS NULL) AS stored,
        (SELECT coalesce(sum(amount), 0)::text FROM payments WHERE status = 'settled') AS settled,
        (SELECT coalesce(sum(amount), 0)::text FROM incoming_transfers
          WHERE payment_id IS NULL AND dropped_at IS NULL) AS listed`) ?? []
    expect(BigInt(sum.settled) + BigInt(sum.listed)).toBe(BigInt(sum.stored))
    const receivers =
      (await database()`SELECT '0x' || encode(address, 'hex') AS address FROM merchant_receivers
      WHERE env = ${moneyNetwork.env}`) ?? []
    const balances = await Promise.all(
      [...receivers].map(({ address }) => world.balanceOf(Address.make(address)))
    )
    expect(balances.reduce((total, one) => total + one, 0n)).toBe(BigInt(sum.stored))
    expect(usdc.decimals).toBe(6)
  })
})
