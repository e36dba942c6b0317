// Refunds with the real USDC on anvil, by the client library: found after a stop of the service, removed by a
// reorganisation and returned, and of an unexplained transfer.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import type { PrivateKeyAccount } from "viem/accounts"
import { Address } from "../../../src/domain/Chain.ts"
import { formatUsd } from "../../../src/domain/Money.ts"
import { Quittance } from "../../../src/packages/client/Quittance.ts"
import type { Refund } from "../../../src/packages/client/resources.ts"
import { eachFewSeconds } from "../../support/eachFewSeconds.ts"
import { moneyNetwork } from "../../support/moneyNetwork.ts"
import { moneyWorld, transferCall } from "../moneyWorld.ts"

setDefaultTimeout(150_000)

const world = await moneyWorld()
const client = new Quittance({ key: world.merchant.keys[moneyNetwork.env].secret, baseUrl: world.baseUrl })
await Effect.runPromise(world.chain.rpc("anvil_impersonateAccount", [world.merchant.receiver]))
await Effect.runPromise(world.chain.setEth(world.merchant.receiver, 10n ** 18n))

const paid = async (amount: string, atomic: bigint) => {
  const buyer = await world.buyer()
  const payment = await world.open(amount)
  const answer = await world.report(buyer, payment.id, await world.transfer(buyer, atomic), atomic)
  expect(answer.status).toBe(200)
  return { buyer, payment: answer.body.payment }
}

/** From the merchant's receiving address. */
const sendBack = async (to: PrivateKeyAccount, atomic: bigint): Promise<string> => {
  const data = transferCall(Address.make(to.address), atomic)
  const hash = await Effect.runPromise(
    world.chain.rpc("eth_sendTransaction", [
      { from: world.merchant.receiver, to: moneyNetwork.usdc.address, data }
    ])
  )
  await world.mine(2)
  return String(hash)
}

const until = (id: string, holds: (refund: Refund) => boolean) =>
  world.until(() => client.refunds.retrieve(id), holds)

describe("refunds on anvil", () => {
  test("the money is back with the buyer, the receipt shows it, and only the merchant has sent it", async () => {
    const { buyer, payment } = await paid("7.50", 7_500_000n)
    const before = await world.balanceOf(buyer.address)
    const transactionId = await sendBack(buyer, 7_500_000n)
    const refund = await client.refunds.create({ paymentId: payment.id, transactionId })
    expect(refund).toMatchObject({ status: "proven", amount: "7.50", sender: world.merchant.receiver })
    expect(await world.balanceOf(buyer.address)).toBe(before + 7_500_000n)
    const receipt = await world.call(
      "POST",
      `/payments/${payment.id}/receipt`,
      world.merchant.keys[moneyNetwork.env].publishable
    )
    expect(receipt.body.refunded).toMatchObject([{ amount: "7.50", transactionId }])
    const { refunds } = await client.refunds.list({ paymentId: payment.id })
    expect(refunds.map(({ id }) => id)).toEqual([refund.id])
  })

  test("a refund sent while the service was down is found after its start", async () => {
    const { buyer, payment } = await paid("2.25", 2_250_000n)
    const { id } = await client.refunds.create({ paymentId: payment.id })
    await world.stop()
    const transactionId = await sendBack(buyer, 2_250_000n)
    await world.start()
    expect(await until(id, ({ status }) => status === "proven")).toMatchObject({
      status: "proven",
      transactionId
    })
  })

  test("a reorganisation removes a refund, and it is recognised in its new block", async () => {
    const { buyer, payment } = await paid("3.75", 3_750_000n)
    const transactionId = await sendBack(buyer, 3_750_000n)
    const { id } = await client.refunds.create({ paymentId: payment.id, transactionId })
    const looks = eachFewSeconds(() => world.sql`UPDATE refunds SET next_look_at = now() WHERE id = ${id}`)
    const block = (await world.sql`SELECT block_number FROM refunds WHERE id = ${id}`)[0].block_number
    const head = await world.chain.publicClient.getBlockNumber({ cacheTime: 0 })
    await Effect.runPromise(world.chain.rpc("anvil_reorg", [Number(head - BigInt(block)) + 1, []]))
    await Effect.runPromise(world.chain.rpc("anvil_dropAllTransactions", []))
    await world.mine(3)
    const looked = async () => {
      await looks()
      return client.refunds.retrieve(id)
    }
    expect((await world.until(looked, ({ droppedAt }) => droppedAt !== undefined)).status).toBe("proven")
    // Raised once the drop is recorded.
    const alerts = await world.until(
      (): Promise<ReadonlyArray<{ kind: string }>> =>
        world.sql`SELECT kind FROM alerts WHERE subject = ${id} AND acknowledged_at IS NULL`,
      (rows) => rows.length > 0
    )
    expect(alerts.map(({ kind }) => kind)).toEqual(["refund_unproven"])
    // If it is gone for good, it can be cancelled and sent again.
    expect((await client.refunds.cancel(id)).status).toBe("cancelled")
    const again = await client.refunds.create({ paymentId: payment.id })
    await sendBack(buyer, 3_750_000n)
    expect((await until(again.id, ({ status }) => status === "proven")).status).toBe("proven")
  })

  test("a transfer that pays nothing can be refunded, which explains it", async () => {
    const buyer = await world.buyer()
    const hash = await world.transfer(buyer, 1_110_000n)
    await world.mine(2)
    const [transfer] = await world.until(
      (): Promise<ReadonlyArray<{ id: string }>> =>
        world.sql`SELECT id FROM incoming_transfers WHERE transaction_id = ${Buffer.from(hash.slice(2), "hex")}`,
      (rows) => rows.length > 0
    )
    const incomingTransferId = transfer?.id ?? ""
    const refund = await client.refunds.create({ incomingTransferId, reason: "No order" })
    expect(refund).toMatchObject({ status: "pending", amount: "1.11", recipient: buyer.address })
    await sendBack(buyer, 1_110_000n)
    await until(refund.id, ({ status }) => status === "proven")
    const [row] =
      await world.sql`SELECT handled_by, note FROM incoming_transfers WHERE id = ${incomingTransferId}`
    expect(row).toEqual({ handled_by: "API", note: "No order" })
  })

  test("the books after all this balance with the chain", async () => {
    const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
    const period = { from: day(-1), to: day(1) }
    const read = await world.until(
      () => client.books.statement(period),
      ({ statement }) => statement.refunds.count === 4
    )
    const held = await world.balanceOf(world.merchant.receiver)
    expect(read.balances).toMatchObject({
      opening: "0.00",
      closing: formatUsd(held),
      change: read.statement.change,
      difference: "0.00"
    })
    const rows = JSON.parse(
      await new Response(await client.books.export("refunds", { ...period, format: "json" })).text()
    ).refunds
    expect(rows.map(({ amount }: { amount: string }) => amount)).toEqual(["7.50", "2.25", "3.75", "1.11"])
  })
})
