// A revert that a reorganisation undoes, while another wallet's authorization is on its way for the payment.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { encodeFunctionData, erc20Abi, type Hex } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import { Address } from "../../src/domain/Chain.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { broadcasts, headerOf, openPayment, payPath, rowsOf, until } from "./payloads.ts"
import { x402World } from "./x402World.ts"

setDefaultTimeout(150_000)

const price = 10_000_000n
const { chainId, usdc } = moneyNetwork

const world = await x402World({ TESTNET_CONFIRMATIONS: "1" })

describe("an authorization and another wallet's", () => {
  const rpc = (method: string, ...params: ReadonlyArray<unknown>) =>
    Effect.runPromise(world.chain.rpc(method, [...params]))
  const mine = () => Effect.runPromise(world.chain.mine(1))
  const head = async () => Number(await world.chain.publicClient.getBlockNumber({ cacheTime: 0 }))
  const pay = (id: string, header: Readonly<Record<string, string>>) =>
    world.call("GET", payPath(world, id), undefined, undefined, header)
  const signed = async (account: PrivateKeyAccount) =>
    headerOf(
      await world.authorize(account, price, { validBefore: BigInt(Math.floor(Date.now() / 1000) + 600) })
    )
  const relayed = () =>
    rowsOf(
      world,
      "SELECT nonce::int, outcome, cardinality(versions)::int AS versions FROM wallet_transactions ORDER BY nonce DESC LIMIT 4"
    )
  const rawTransfer = async (account: PrivateKeyAccount, to: string, nonce: number): Promise<Hex> => {
    await Effect.runPromise(world.chain.setEth(Address.make(account.address), 10n ** 18n))
    return account.signTransaction({
      ...{ type: "eip1559", chainId, nonce, to: usdc.address, gas: 150_000n },
      ...{ maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n },
      data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [Address.make(to), price] })
    })
  }

  test("if the first one's revert is undone while the second waits for a block, one of the two pays", async () => {
    const [poor, rich] = [await world.payer(price), await world.payer(10n * price)]
    const id = await openPayment(world, "10.00")
    const spent = await rawTransfer(poor, "0x90F79bf6EB2c4f870365E785982E1f101E93b906", 0)
    await rpc("evm_setAutomine", false)
    const sent = broadcasts(world)
    const answer = pay(id, await signed(poor))
    await until(async () => (await relayed())[0]?.["outcome"] === null && broadcasts(world) > sent)
    await Bun.sleep(300)
    await rpc("eth_sendRawTransaction", spent)
    await mine()
    const at = await head()
    expect((await answer).status).toBe(402)
    // The payment is free for another wallet, whose authorization is sent, and in no block yet.
    const other = pay(id, await signed(rich))
    await until(async () => (await relayed())[0]?.["outcome"] === null && (await relayed()).length === 2)
    // The block of the revert is replaced by one without the transaction that had emptied the first wallet.
    await rpc("anvil_reorg", (await head()) - at + 1, [])
    expect(await world.balanceOf(poor.address)).toBe(price)
    // The reader of the outbox sees that; then blocks come.
    await until(async () => (await relayed())[1]?.["outcome"] === null)
    await Bun.sleep(8_000)
    const taken = async () =>
      price - (await world.balanceOf(poor.address)) + 10n * price - (await world.balanceOf(rich.address))
    for (let block = 0; block < 20 || (block < 60 && (await taken()) !== price); block++) {
      await mine()
      await Bun.sleep(500)
    }
    await other
    expect(await taken()).toBe(price)
  })
})
