// A buyer's payment is found whatever happens in between: an outage past every deadline, twelve thousand false reports,
// a reorganisation that moves a log, a clock that was ahead. Over real HTTP, on Postgres and anvil with the real USDC.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { encodeFunctionData, type Hex } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import { usdcAbi } from "../../src/app/dev/LocalUsdc.ts"
import { Address } from "../../src/domain/Chain.ts"
import { assemble } from "../support/assembler.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { moneyWorld, transferCall } from "./moneyWorld.ts"

setDefaultTimeout(120_000)

const price = 3_000_000n
const { chainId, usdc } = moneyNetwork

const world = await moneyWorld()

describe("proven late", () => {
  const database = () => world.sql
  const rpc = (method: string, params: ReadonlyArray<unknown>) =>
    Effect.runPromise(world.chain.rpc(method, [...params]))

  /** Signs and sends without mining. */
  const send = async (account: PrivateKeyAccount, to: Address, data: Hex) => {
    const nonce = await world.chain.publicClient.getTransactionCount({
      address: account.address,
      blockTag: "pending"
    })
    const raw = await account.signTransaction({
      type: "eip1559",
      chainId,
      nonce,
      to,
      data,
      gas: 300_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 1n
    })
    return { raw, hash: String(await rpc("eth_sendRawTransaction", [raw])) }
  }

  test("reported before a day's outage, or announced before it: both settle once the service is back", async () => {
    const [buyer, other] = [await world.buyer(), await world.buyer()]
    const [reported, announced, unpaid] = [
      await world.open("3"),
      await world.open("3"),
      await world.open("3")
    ]
    await rpc("evm_setAutomine", [false])
    const first = await send(buyer, usdc.address, transferCall(world.merchant.receiver, price))
    expect((await world.report(buyer, reported.id, first.hash, price)).status).toBe(202)
    expect((await world.announce(other, announced.id)).status).toBe(201)
    await world.stop()
    const second = await send(other, usdc.address, transferCall(world.merchant.receiver, price))
    await rpc("evm_setAutomine", [true])
    await world.mine(3)
    await database()`UPDATE payments SET created_at = created_at - interval '25 hours'
      WHERE id IN (${reported.id}, ${announced.id}, ${unpaid.id})`
    await database()`UPDATE payment_reports SET reported_at = reported_at - interval '25 hours'`
    await world.start()
    expect(await world.settled(reported.id)).toMatchObject({ reportedTransactionId: first.hash })
    expect(await world.settled(announced.id)).toMatchObject({ reportedTransactionId: second.hash })
    // An unpaid payment also stays pending for a while, because the service has only just started.
    expect((await world.payment(unpaid.id)).status).toBe("pending")
  })

  test("a failed payment whose transfer is reported late settles; other evidence is 409", async () => {
    const buyer = await world.buyer()
    const payment = await world.open("3")
    const wrong = await world.transfer(buyer, price - 1n)
    const hash = await world.transfer(buyer, price)
    await database()`UPDATE payments SET status = 'failed', failed_at = now(), failure_reason = 'expired'
      WHERE id = ${payment.id}`
    const refused = await world.report(buyer, payment.id, wrong, price)
    expect([refused.status, refused.body.error.code]).toEqual([409, "PAYMENT_FAILED"])
    const answer = await world.report(buyer, payment.id, hash, price)
    expect(answer.status).toBe(200)
    expect(answer.body.payment).toMatchObject({ status: "settled", failureReason: null })
  })

  test("12,000 stored false reports and a slow node: an honest buyer's closed tab settles within seconds", async () => {
    const buyer = await world.buyer()
    await database().unsafe(`
      WITH opened AS (
        INSERT INTO payments (id, merchant_id, env, status, amount, ref_code, intent_url, receiver, payer_type, created_at)
        SELECT gen_random_uuid(), '${world.merchant.id}', '${moneyNetwork.env}', 'pending', 1,
          'PAY-' || upper(lpad(to_hex(n), 8, '0')), 'https://shop.example.com/', decode('${world.merchant.receiver.slice(2)}', 'hex'),
          'human', now()
        FROM generate_series(1, 1500) n RETURNING id
      )
      INSERT INTO payment_reports (payment_id, evidence, payer_address, transaction_id, token_changes, reported_at, next_check_at)
      SELECT id, sha256(convert_to(id::text || n, 'UTF8')), substring(sha256(convert_to('p' || n || id, 'UTF8')) for 20),
        sha256(convert_to('t' || n || id, 'UTF8')), '[]', now(), now()
      FROM opened, generate_series(1, 8) n`)
    world.node.behave(async () => {
      await Bun.sleep(150)
      return undefined
    })
    const payment = await world.open("3")
    await rpc("evm_setAutomine", [false])
    const { hash } = await send(buyer, usdc.address, transferCall(world.merchant.receiver, price))
    // Reported before it is mined; then the tab is closed.
    expect((await world.report(buyer, payment.id, hash, price)).status).toBe(202)
    await rpc("evm_setAutomine", [true])
    await world.mine(2)
    const mined = performance.now()
    const settled = await world.settled(payment.id, 30_000)
    const seconds = (performance.now() - mined) / 1_000
    world.node.behave(() => undefined)
    await database()`UPDATE payment_reports SET next_check_at = NULL WHERE token_changes = '[]'`
    expect(settled.status).toBe("settled")
    console.log(`settled ${seconds.toFixed(1)} s after it was mined`)
    // On Mainnet two nodes are queried for two more tags.
    expect(seconds).toBeLessThan(moneyNetwork.isTest ? 15 : 20)
  })

  test("a transaction whose log moves within it after a reorganisation settles one payment", async () => {
    const buyer = await world.buyer()
    // Emits a log of its own before the transfer if the block's number is odd.
    const forwarder = Address.make(`0x${"7".repeat(40)}`)
    await rpc("anvil_setCode", [
      forwarder,
      assemble(`
        NUMBER 0x01 AND ISZERO =even JUMPI 0x00 0x00 LOG0
        @even CALLDATASIZE 0x00 0x00 CALLDATACOPY
        0x00 0x00 CALLDATASIZE 0x00 0x00 0x${usdc.address.slice(2).toLowerCase()} GAS CALL STOP`)
    ])
    const approve = encodeFunctionData({
      abi: usdcAbi,
      functionName: "approve",
      args: [forwarder, 10n * price]
    })
    await send(buyer, usdc.address, approve)
    await world.mine(1)
    const [one, two] = [await world.open("3"), await world.open("3")]
    const data = encodeFunctionData({
      abi: usdcAbi,
      functionName: "transferFrom",
      args: [buyer.address, world.merchant.receiver, price]
    })
    const { hash, raw } = await send(buyer, forwarder, data)
    await world.mine(1)
    expect((await world.report(buyer, one.id, hash, price)).status).toBe(200)
    const position = async () => {
      const receipt = await world.chain.publicClient.getTransactionReceipt({ hash: `0x${hash.slice(2)}` })
      return receipt.logs.findIndex(({ address }) => address.toLowerCase() === usdc.address.toLowerCase())
    }
    const before = await position()
    // Included again one block earlier: its number has the other parity.
    await rpc("anvil_reorg", [3, [[raw, 0]]])
    await world.mine(3)
    expect(await position()).not.toBe(before)
    // The nodes' answers are cached for 300 ms.
    await Bun.sleep(400)
    const second = await world.report(buyer, two.id, hash, price)
    // The claim still has the replaced block, so it is unknown whether an equal transfer is free.
    expect(second.status).toBe(202)
    await Bun.sleep(2_000)
    expect((await world.payment(two.id)).status).toBe("pending")
    const claims = await database()`
      SELECT ordinal FROM claimed_transfers WHERE transaction_id = decode(${hash.slice(2)}, 'hex')`
    expect([...claims].map(({ ordinal }) => ordinal)).toEqual([0])
  })

  test("a clock that was ahead when the payment opened causes no refusal of a later transfer", async () => {
    const buyer = await world.buyer()
    const payment = await world.open("3")
    // As a service whose clock is ten minutes ahead would have written it.
    await database()`UPDATE payments SET created_at = created_at + interval '10 minutes' WHERE id = ${payment.id}`
    const hash = await world.transfer(buyer, price)
    expect((await world.report(buyer, payment.id, hash, price)).status).toBe(200)
  })

  test("a settlement that is sent again after a restore has the id that the merchant has handled", async () => {
    const buyer = await world.buyer()
    const payment = await world.open("3")
    const hash = await world.transfer(buyer, price)
    await world.report(buyer, payment.id, hash, price)
    const told = () =>
      world.until(
        async () => world.delivered.filter(({ transactionId }) => transactionId === hash),
        (all) => all.length > 0
      )
    const [first] = await told()
    // In the restored database the payment is pending, and its settlement has not happened.
    await database().begin(async (sql) => {
      await sql`SET LOCAL session_replication_role = replica`
      await sql`DELETE FROM webhook_deliveries WHERE payment_id = ${payment.id}`
      await sql`UPDATE incoming_transfers SET payment_id = NULL WHERE payment_id = ${payment.id}`
      await sql`DELETE FROM claimed_transfers WHERE payment_id = ${payment.id}`
      await sql`
        UPDATE payments SET status = 'pending', settled_at = NULL, reported_at = NULL, transaction_id = NULL,
          payer_address = NULL, token_changes = NULL WHERE id = ${payment.id}`
    })
    world.delivered.length = 0
    expect((await world.report(buyer, payment.id, hash, price)).status).toBe(200)
    const [again] = await told()
    expect(again).toEqual(first)
  })
})
