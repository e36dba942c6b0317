// A wallet whose reported transaction is still in the nodes' pools is not asked to pay again.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import type { Hex } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { moneyWorld, transferCall } from "./moneyWorld.ts"

setDefaultTimeout(150_000)
const { chainId, usdc } = moneyNetwork

const world = await moneyWorld()

describe("a reported transaction that waits in the pool", () => {
  const mineAndRead = async (blocks: number) => {
    await world.mine(blocks)
    const head = await world.chain.publicClient.getBlockNumber({ cacheTime: 0 })
    await world.until(
      async () => Number((await world.sql`SELECT block_number FROM chain_cursors`)[0]?.block_number ?? 0),
      (height) => BigInt(height) >= head - 1n
    )
  }
  const waits = (on: boolean) => Effect.runPromise(world.chain.rpc("evm_setAutomine", [on]))
  const sendPayment = async (account: PrivateKeyAccount, nonce: number, atomic: bigint): Promise<Hex> =>
    world.chain.publicClient.request({
      method: "eth_sendRawTransaction",
      params: [
        await account.signTransaction({
          ...{ type: "eip1559", chainId, nonce, to: usdc.address, gas: 150_000n },
          data: transferCall(world.merchant.receiver, atomic),
          maxFeePerGas: 10n ** 10n,
          maxPriorityFeePerGas: 1n
        })
      ]
    })
  const passed = (paymentId: string, minutes: number) =>
    world.sql`UPDATE payment_attempts SET announced_at = announced_at - make_interval(mins => ${minutes})
      WHERE payment_id = ${paymentId}`

  for (const [name, unannounced] of [
    ["announced", false],
    ["never announced", true]
  ] as const)
    test(`keeps its wallet, which was ${name}, from being asked again`, async () => {
      const buyer = await world.buyer()
      const payment = await world.open("3")
      if (!unannounced) {
        const announced = await world.announce(buyer, payment.id)
        expect([announced.status, announced.body.attempt.nonce]).toEqual([201, 0])
      }
      // The wallet chooses its own nonce, because another transaction of its owner has the first.
      await world.transfer(buyer, 1n, (await world.newMerchant()).receiver)
      await mineAndRead(8)
      await waits(false)
      const sent = await sendPayment(buyer, 1, 3_000_000n)
      expect((await world.report(buyer, payment.id, sent, 3_000_000n)).status).toBe(202)
      // Eleven minutes later the transaction still waits, because its fee is low. The page reports it as it polls.
      await passed(payment.id, 11)
      expect((await world.report(buyer, payment.id, sent, 3_000_000n)).status).toBe(202)
      // The buyer opens the payment on another device.
      expect((await world.attempts(payment.id, buyer.address)).body.attempts).toHaveLength(1)
      expect((await world.announce(buyer, payment.id)).status).toBe(409)
      await waits(true)
      await world.mine(3)
      await world.settled(payment.id)
      const charged = 1_000_000_000n - 1n - (await world.balanceOf(buyer.address))
      expect(charged).toBe(3_000_000n)
    })

  test("keeps its wallet from being asked again after half an hour, and one that was never announced too", async () => {
    const buyer = await world.buyer()
    const payment = await world.open("3")
    // Announced while the nodes were silent: its nonce is unknown.
    world.node.behave((method) =>
      method === "eth_getTransactionCount" ? { error: { code: -32000, message: "silent" } } : undefined
    )
    const announced = await world.announce(buyer, payment.id)
    expect([announced.status, announced.body.attempt.nonce]).toEqual([201, undefined])
    world.node.behave(() => undefined)
    await mineAndRead(2)
    await waits(false)
    const sent = await sendPayment(buyer, 0, 3_000_000n)
    await passed(payment.id, 31)
    expect((await world.report(buyer, payment.id, sent, 3_000_000n)).status).toBe(202)
    expect((await world.announce(buyer, payment.id)).status).toBe(409)
    await waits(true)
    await world.mine(3)
    await world.settled(payment.id)
    const charged = 1_000_000_000n - (await world.balanceOf(buyer.address))
    expect(charged).toBe(3_000_000n)
  })
})
