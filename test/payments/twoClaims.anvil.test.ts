// Two payments settled by two transfers of one transaction, of which a reorganisation leaves one.
import { expect, setDefaultTimeout, test } from "bun:test"
import { Effect, Schema } from "effect"
import { encodeFunctionData, type Hex } from "viem"
import { usdcAbi } from "../../src/app/dev/LocalUsdc.ts"
import { Address } from "../../src/domain/Chain.ts"
import { assemble } from "../support/assembler.ts"
import { eachFewSeconds } from "../support/eachFewSeconds.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { moneyWorld } from "./moneyWorld.ts"

setDefaultTimeout(150_000)

const price = 3_000_000n
const { chainId, usdc } = moneyNetwork
const decodeHex = Schema.decodeUnknownSync(Schema.TemplateLiteral(["0x", Schema.String]))

const world = await moneyWorld()

const rpc = (method: string, params: ReadonlyArray<unknown>) =>
  Effect.runPromise(world.chain.rpc(method, [...params]))
const head = () => world.chain.publicClient.getBlockNumber({ cacheTime: 0 })

test("two claims and one transfer: the second is dropped, and its merchant gets an alert", async () => {
  const buyer = await world.buyer()
  const send = async (nonce: number, to: Address, data: Hex) => {
    const raw = await buyer.signTransaction({
      ...{ type: "eip1559", chainId, nonce, to, data, gas: 400_000n },
      ...{ maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n }
    })
    return { raw, hash: decodeHex(await rpc("eth_sendRawTransaction", [raw])) }
  }
  // Passes its call data to USDC: twice in every other block, once in the others.
  const wallet = Address.make(`0x${"7".repeat(40)}`)
  const call = `CALLDATASIZE 0x00 0x00 CALLDATACOPY 0x00 0x00 CALLDATASIZE 0x00 0x00 0x${usdc.address.slice(2).toLowerCase()} GAS CALL`
  await send(
    0,
    usdc.address,
    encodeFunctionData({ abi: usdcAbi, functionName: "approve", args: [wallet, 2n * price] })
  )
  await world.mine(1)
  const isTwiceInOdd = (await head()) % 2n === 0n
  const once = `NUMBER 0x01 AND ${isTwiceInOdd ? "ISZERO" : ""} =one JUMPI ${call} @one ${call} STOP`
  await rpc("anvil_setCode", [wallet, assemble(once)])

  const [one, two] = [await world.open("3"), await world.open("3")]
  const { hash, raw } = await send(
    1,
    wallet,
    encodeFunctionData({
      abi: usdcAbi,
      functionName: "transferFrom",
      args: [buyer.address, world.merchant.receiver, price]
    })
  )
  await world.mine(2)
  for (const payment of [one, two])
    expect((await world.report(buyer, payment.id, hash, price)).status).toBe(200)
  expect(await world.balanceOf(world.merchant.receiver)).toBe(2n * price)

  const { blockNumber } = await world.chain.publicClient.getTransactionReceipt({ hash })
  await rpc("anvil_reorg", [Number((await head()) - blockNumber) + 1, [[raw, 1]]])
  await world.mine(3)
  expect(await world.balanceOf(world.merchant.receiver)).toBe(price)

  const claims = () =>
    world.sql`SELECT payment_id, dropped_at IS NOT NULL AS dropped FROM claimed_transfers ORDER BY ordinal`
  const looks = eachFewSeconds(() => world.sql`UPDATE claimed_transfers SET watch_at = now()`)
  const looked = async () => {
    await looks()
    return claims()
  }
  await world.until(looked, (all) => all.some((claim: { readonly dropped: boolean }) => claim.dropped))
  expect([...(await claims())]).toEqual([
    { payment_id: one.id, dropped: false },
    { payment_id: two.id, dropped: true }
  ])
  // Raised once the drop is recorded.
  const alerts = () => world.sql`SELECT kind, subject FROM alerts WHERE kind NOT LIKE 'rpc%'`
  await world.until(alerts, (all) => all.length > 0)
  expect([...(await alerts())]).toEqual([{ kind: "transfer_dropped", subject: two.id }])
})

test("a lost transfer is recorded before its alert: it cannot be refunded, and the alert follows at a later check", async () => {
  const buyer = await world.buyer()
  const payment = await world.open("3")
  const hash = await world.transfer(buyer, price)
  await world.mine(1)
  expect((await world.report(buyer, payment.id, hash, price)).status).toBe(200)
  const { blockNumber } = await world.chain.publicClient.getTransactionReceipt({ hash })
  await rpc("anvil_reorg", [Number((await head()) - blockNumber) + 1, []])
  await world.mine(3)

  // No alert can be raised, as if the instance died before it.
  await world.sql`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END'`
  await world.sql`CREATE TRIGGER untold BEFORE INSERT ON alerts EXECUTE FUNCTION refuse()`
  const look = () => world.sql`UPDATE claimed_transfers SET watch_at = now() WHERE payment_id = ${payment.id}`
  const looks = eachFewSeconds(look)
  const isGone = async () => {
    await looks()
    const [row] = await world.sql`
      SELECT dropped_at IS NOT NULL AS gone, watch_at > now() + interval '50 seconds' AS looked
      FROM claimed_transfers WHERE payment_id = ${payment.id}`
    return row?.gone === true && row.looked === true
  }
  const told = () => world.sql`SELECT kind FROM alerts WHERE subject = ${payment.id}`
  expect(await world.until(isGone, (gone) => gone)).toBe(true)
  const refund = await world.call("POST", "/refunds", world.merchant.keys[moneyNetwork.env].secret, {
    paymentId: payment.id,
    amount: "3"
  })
  expect(refund.status).toBe(409)
  expect(await told()).toHaveLength(0)

  await world.sql`DROP TRIGGER untold ON alerts`
  const toldAgain = async () => {
    await looks()
    return told()
  }
  const [alert] = await world.until(toldAgain, (all) => all.length > 0)
  expect(alert.kind).toBe("transfer_dropped")

  // Once acknowledged, it is not raised again.
  await world.sql`UPDATE alerts SET acknowledged_at = now() WHERE subject = ${payment.id}`
  await look()
  expect(await world.until(isGone, (gone) => gone)).toBe(true)
  await Bun.sleep(500)
  expect(await told()).toHaveLength(1)
})
