// An unwanted transaction's nonce is filled even if a node fails to return the price at that moment.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { encodeFunctionData, erc20Abi, type Hex, keccak256 } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import { Address } from "../../src/domain/Chain.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { headerOf, openPayment, payPath, report, rowsOf, until } from "./payloads.ts"
import { receiver, x402World } from "./x402World.ts"

setDefaultTimeout(120_000)

const price = 10_000_000n
const { chainId, usdc } = moneyNetwork

const world = await x402World({
  TESTNET_CONFIRMATIONS: "1",
  // Gas is expensive here, and no limit applies.
  ...Object.fromEntries(
    Object.values(moneyNetwork.relayWei).map(({ setting }) => [setting, String(10n ** 19n)])
  )
})

describe("an authorization whose payment another wallet has paid", () => {
  const rpc = (method: string, ...params: ReadonlyArray<unknown>) =>
    Effect.runPromise(world.chain.rpc(method, [...params]))
  const mineAt = async (baseFee: bigint) => {
    await rpc("anvil_setNextBlockBaseFeePerGas", `0x${baseFee.toString(16)}`)
    await Effect.runPromise(world.chain.mine(1))
  }
  const signed = async (account: PrivateKeyAccount) =>
    headerOf(
      await world.authorize(account, price, { validBefore: BigInt(Math.floor(Date.now() / 1000) + 600) })
    )
  const statusOf = async (id: string) =>
    (await world.call("GET", `/payments/${id}`, world.keys[world.env].secret)).body.payment.status
  const relayed = async () =>
    (
      await rowsOf(
        world,
        "SELECT nonce::int, outcome, cardinality(versions)::int AS versions FROM wallet_transactions ORDER BY nonce DESC LIMIT 1"
      )
    )[0]
  const rawTransfer = async (account: PrivateKeyAccount): Promise<Hex> => {
    await Effect.runPromise(world.chain.setEth(Address.make(account.address), 10n ** 20n))
    return account.signTransaction({
      ...{ type: "eip1559", chainId, nonce: 0, to: usdc.address, gas: 150_000n },
      ...{ maxFeePerGas: 10n ** 13n, maxPriorityFeePerGas: 10n ** 11n },
      data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [receiver, price] })
    })
  }

  for (const fails of [false, true])
    test(`its nonce is filled, the price ${fails ? "unknown for a moment" : "known"}: the wallet pays nothing`, async () => {
      const [first, second] = [await world.payer(price), await world.payer(price)]
      const id = await openPayment(world, "10.00")
      await rpc("evm_setAutomine", false)
      const nonce = (await relayed())?.["nonce"]
      const answer = world.call("GET", payPath(world, id), undefined, undefined, await signed(first))
      await until(async () => (await relayed())?.["nonce"] !== nonce)
      await Bun.sleep(300)
      // Gas becomes expensive: the signed transaction waits, and somebody else pays at once.
      const dear = 10n ** 12n
      const raw = await rawTransfer(second)
      await rpc("eth_sendRawTransaction", raw)
      await mineAt(dear)
      await mineAt(dear)
      if (fails)
        world.node.behave((method) =>
          method === "eth_gasPrice" ? { raw: new Response("", { status: 503 }) } : undefined
        )
      await until(async () => {
        await mineAt(dear)
        return (await report(world, id, second, price, keccak256(raw))).status === 200
      })
      expect(await statusOf(id)).toBe("settled")
      await until(async () => (await relayed())?.["versions"] === 2, 30_000)
      await Bun.sleep(500)
      // Like geth's, the node's pool still has the offer from when gas was expensive; anvil's has not.
      await mineAt(10n ** 9n)
      const [{ original } = {}] = await rowsOf(
        world,
        "SELECT '0x' || encode(versions[2], 'hex') AS original FROM wallet_transactions ORDER BY nonce DESC LIMIT 1"
      )
      await rpc("anvil_setNextBlockBaseFeePerGas", "0x3b9aca00")
      await rpc("eth_sendRawTransaction", original).catch(() => undefined)
      world.node.behave(() => undefined)
      // The filler is broadcast again and again, before the next block.
      await Bun.sleep(9_000)
      // Gas is cheap again.
      for (let block = 0; block < 60; block++) {
        await mineAt(10n ** 9n)
        await Bun.sleep(500)
        if ((await relayed())?.["outcome"] !== null) break
      }
      await answer
      await rpc("evm_setAutomine", true)
      expect(await world.balanceOf(first.address)).toBe(price)
      expect((await relayed())?.["outcome"]).toBe("filled")
    })
})
