// A failed receipt that one of three nodes invents does not fail a settlement.
import { expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { isHex, keccak256 } from "viem"
import { bodyV2, rowsOf, until } from "./payloads.ts"
import { x402World } from "./x402World.ts"

setDefaultTimeout(150_000)
const world = await x402World({}, 3)

test("a failed receipt that one node of three invents fails no settlement: its payer is charged once", async () => {
  const amount = 10_000n
  const account = await world.payer(10n * amount)
  const settle = (payload: object) =>
    world.call("POST", "/x402/settle", world.keys[world.env].secret, bodyV2(payload, amount))
  const automine = (on: boolean) => Effect.runPromise(world.chain.rpc("evm_setAutomine", [on]))
  const block = await world.chain.publicClient.getBlock()
  // The lying node has the transaction, like all, but shows a false receipt for it.
  const sent = new Set<string>()
  world.node.behave((method, params) => {
    if (method === "eth_sendRawTransaction") sent.add(keccak256(isHex(params[0]) ? params[0] : "0x"))
    if (method !== "eth_getTransactionReceipt" || !sent.has(String(params[0]))) return undefined
    return {
      result: {
        transactionHash: params[0],
        blockHash: block.hash,
        blockNumber: `0x${block.number.toString(16)}`,
        status: "0x0",
        logs: []
      }
    }
  })
  await automine(false)
  const first = await settle(await world.authorize(account, amount))
  expect(first.body.errorReason).toBe("settlement_pending")
  world.node.behave(() => undefined)
  await automine(true)
  await Effect.runPromise(world.chain.mine(2))
  await until(async () => {
    const [row] = await rowsOf(world, "SELECT status FROM x402_settlements")
    return row?.["status"] === "settled"
  })
  expect(10n * amount - (await world.balanceOf(account.address))).toBe(amount)
})
