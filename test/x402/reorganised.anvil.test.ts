// A wallet's own transfers besides its authorization, and reorganisations that undo either: a buyer is charged once.
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { encodeFunctionData, erc20Abi, type Hex, isHex, keccak256 } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import { Address } from "../../src/domain/Chain.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import {
  broadcasts,
  headerOf,
  openPayment,
  payPath,
  relayElsewhere,
  report,
  rowsOf,
  transfer,
  until
} from "./payloads.ts"
import { receiver, x402World } from "./x402World.ts"

setDefaultTimeout(150_000)

const price = 10_000_000n
const { chainId, usdc } = moneyNetwork

const world = await x402World({ TESTNET_CONFIRMATIONS: "1" })

describe("an authorization and other transactions", () => {
  const rpc = (method: string, ...params: ReadonlyArray<unknown>) =>
    Effect.runPromise(world.chain.rpc(method, [...params]))
  afterEach(async () => {
    world.node.behave(() => undefined)
    await rpc("evm_setAutomine", true)
  })

  const mine = () => Effect.runPromise(world.chain.mine(1))
  const head = async () => Number(await world.chain.publicClient.getBlockNumber({ cacheTime: 0 }))
  const pay = (id: string, header: Readonly<Record<string, string>>) =>
    world.call("GET", payPath(world, id), undefined, undefined, header)
  const signed = async (account: PrivateKeyAccount) =>
    headerOf(
      await world.authorize(account, price, { validBefore: BigInt(Math.floor(Date.now() / 1000) + 600) })
    )
  const statusOf = async (id: string) =>
    (await world.call("GET", `/payments/${id}`, world.keys[world.env].secret)).body.payment.status
  const settlementOf = async (id: string) =>
    (await rowsOf(world, `SELECT status, told_reason FROM x402_settlements WHERE payment_id = '${id}'`))[0]
  /** The newest transaction that the relayer wallet has signed. */
  const relayed = async () =>
    (
      await rowsOf(
        world,
        `SELECT nonce::int, outcome, '0x' || encode(versions[1], 'hex') AS raw FROM wallet_transactions
         ORDER BY nonce DESC LIMIT 1`
      )
    )[0]
  /** Mines blocks while it waits for the condition. */
  const untilMining = (condition: () => Promise<boolean>) =>
    until(async () => {
      await mine()
      await Bun.sleep(500)
      return condition()
    }, 30_000)
  const rawTransfer = async (account: PrivateKeyAccount, to: string, nonce: number): Promise<Hex> => {
    await Effect.runPromise(world.chain.setEth(Address.make(account.address), 10n ** 18n))
    return account.signTransaction({
      ...{ type: "eip1559", chainId, nonce, to: usdc.address, gas: 150_000n },
      ...{ maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n },
      data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [Address.make(to), price] })
    })
  }

  test("signed but in no node when its wallet's own transfer is read: it is never sent, and the transfer pays", async () => {
    const account = await world.payer(10n * price)
    const id = await openPayment(world, "10.00")
    world.node.behave((method) =>
      method === "eth_sendRawTransaction" ? { raw: new Response("", { status: 503 }) } : undefined
    )
    const answer = pay(id, await signed(account))
    await until(async () => (await settlementOf(id)) !== undefined)
    const hash = await transfer(world, account, price)
    await untilMining(async () => {
      const rows = await rowsOf(
        world,
        `SELECT 1 FROM incoming_transfers WHERE payer = '\\x${account.address.slice(2)}'`
      )
      return rows.length > 0
    })
    world.node.behave(() => undefined)
    expect((await answer).status).not.toBe(200)
    await untilMining(
      async () =>
        (await settlementOf(id))?.["status"] !== "pending" ||
        (await settlementOf(id))?.["told_reason"] !== null
    )
    // The page reports it at last.
    await untilMining(async () => (await report(world, id, account, price, hash)).status === 200)
    expect(await statusOf(id)).toBe("settled")
    expect(await world.balanceOf(account.address)).toBe(9n * price)
  })

  test("after a reorganisation undoes its revert, its nonce is filled if the payment is settled", async () => {
    const [poor, rich] = [await world.payer(price), await world.payer(10n * price)]
    const id = await openPayment(world, "10.00")
    const spent = await rawTransfer(poor, "0x90F79bf6EB2c4f870365E785982E1f101E93b906", 0)
    await rpc("evm_setAutomine", false)
    const [nonce, sent] = [(await relayed())?.["nonce"], broadcasts(world)]
    const answer = pay(id, await signed(poor))
    await until(async () => (await relayed())?.["nonce"] !== nonce && broadcasts(world) > sent)
    await Bun.sleep(300)
    await rpc("eth_sendRawTransaction", spent)
    await mine()
    const at = await head()
    expect((await answer).status).toBe(402)
    const paid = await rawTransfer(rich, receiver, 0)
    const other = pay(id, await signed(rich))
    await until(async () => (await relayed())?.["outcome"] === null)
    await untilMining(async () => (await statusOf(id)) === "settled")
    expect((await other).status).toBe(200)
    expect(paid).toStartWith("0x")
    const before = await world.balanceOf(poor.address)
    expect(before).toBe(0n)
    const mined = await rowsOf(
      world,
      "SELECT '0x' || encode(versions[1], 'hex') AS raw FROM wallet_transactions WHERE outcome = 'moved' ORDER BY nonce DESC LIMIT 1"
    )
    // Both relayed transactions leave their blocks, and so does the one that had emptied the first payer's wallet.
    await rpc("anvil_reorg", (await head()) - at + 1, [])
    expect(await world.balanceOf(poor.address)).toBe(price)
    expect(mined).toHaveLength(1)
    await untilMining(async () => (await world.balanceOf(rich.address)) === 9n * price)
    await mine()
    expect(await world.balanceOf(poor.address)).toBe(price)
  })

  test("moved, and reverted after a reorganisation: it is sent again once it can succeed", async () => {
    const account = await world.payer(price)
    const other = await world.payer(10n * price)
    const id = await openPayment(world, "10.00")
    const away = await rawTransfer(account, other.address, 0)
    const header = await signed(account)
    await rpc("evm_setAutomine", false)
    const [nonce, sent] = [(await relayed())?.["nonce"], broadcasts(world)]
    const answer = pay(id, header)
    await until(async () => (await relayed())?.["nonce"] !== nonce && broadcasts(world) > sent)
    await Bun.sleep(300)
    await mine()
    await until(async () => (await relayed())?.["outcome"] === "moved")
    await rpc("anvil_reorg", 1, [
      [away, 0],
      [(await relayed())?.["raw"], 0]
    ])
    await mine()
    expect(await world.balanceOf(account.address)).toBe(0n)
    await untilMining(async () => (await relayed())?.["outcome"] === "reverted")
    expect((await answer).status).toBe(402)
    await rpc("evm_setAutomine", true)
    await transfer(world, other, price, account.address)
    await untilMining(async () => (await pay(id, header)).status === 200)
    expect(await world.balanceOf(account.address)).toBe(0n)
    expect(await statusOf(id)).toBe("settled")
  })

  test("if one node showed it as moved but it reverted, the use of the authorization settles the payment", async () => {
    const account = await world.payer(price)
    const id = await openPayment(world, "10.00")
    world.node.behave((method) =>
      method === "eth_sendRawTransaction" ? { raw: new Response("", { status: 503 }) } : undefined
    )
    const payload = await world.authorize(account, price, {
      validBefore: BigInt(Math.floor(Date.now() / 1000) + 600)
    })
    const answer = pay(id, headerOf(payload))
    await until(async () => (await relayed())?.["outcome"] === null)
    const raw = String((await relayed())?.["raw"])
    const elsewhere = await relayElsewhere(world, payload)
    // One node's receipt, which no other node has.
    await rowsOf(
      world,
      `UPDATE wallet_transactions SET ended_at = now(), outcome = 'moved', block_number = 1,
         transaction_id = '\\x${keccak256(isHex(raw) ? raw : "0x").slice(2)}' WHERE ended_at IS NULL`
    )
    world.node.behave(() => undefined)
    await rpc("eth_sendRawTransaction", raw)
    await untilMining(async () => (await statusOf(id)) === "settled")
    await answer
    expect(elsewhere).toStartWith("0x")
    expect(await world.balanceOf(account.address)).toBe(0n)
    expect((await settlementOf(id))?.["status"]).toBe("settled")
  })
})
