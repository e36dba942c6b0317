// An authorization that somebody submitted to the chain hours before it is handed in, while the reader of the chain was
// behind.
import { expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { toHex } from "viem"
import { transferTopic } from "../../src/chain/ChainVerifier/TransferLog.ts"
import { TransactionHash } from "../../src/domain/Chain.ts"
import type { Behaviour } from "../support/rpcProxy.ts"
import { openPayment, relayElsewhere, rowsOf } from "./payloads.ts"
import { x402World } from "./x402World.ts"

setDefaultTimeout(150_000)
const world = await x402World()

/**
 * The chain's own blocks are eight hours old; since then a block has come every two seconds. The node searches `most`
 * of them in one query.
 */
const hoursLater = (head: bigint, most: bigint): Behaviour => {
  const now = BigInt(Math.floor(Date.now() / 1000))
  const come = 14_400n
  const rpc = async (method: string, params: ReadonlyArray<unknown>) => ({
    result: await Effect.runPromise(world.chain.rpc(method, params))
  })
  return (method, [first, second]) => {
    const asked = JSON.stringify([first, second])
    switch (method) {
      case "eth_getBlockByNumber": {
        const height = String(first).startsWith("0x") ? BigInt(String(first)) : head + come
        return height <= head
          ? undefined
          : {
              result: {
                number: toHex(height),
                timestamp: toHex(now - 2n * (head + come - height)),
                hash: toHex(height, { size: 32 }),
                parentHash: toHex(height - 1n, { size: 32 }),
                transactions: []
              }
            }
      }
      case "eth_getLogs": {
        // The reader has not come this far.
        if (asked.includes(transferTopic)) return { error: { code: -32_000, message: "not now" } }
        const { fromBlock, toBlock, ...rest } = Object(first)
        if (BigInt(toBlock) - BigInt(fromBlock) >= most)
          return { error: { code: -32_005, message: "query exceeds max block range" } }
        if (BigInt(fromBlock) > head) return { result: [] }
        return rpc(method, [{ ...rest, fromBlock, toBlock: BigInt(toBlock) > head ? "latest" : toBlock }])
      }
      case "eth_call":
        return String(second).startsWith("0x") ? rpc(method, [first, "latest"]) : undefined
      default:
        return undefined
    }
  }
}

for (const most of [10_000n, 2_000n])
  test(`an authorization used hours before it is handed in settles its payment, with a node that searches ${most} blocks`, async () => {
    const account = await world.payer()
    const id = await openPayment(world, "1")
    const { publishable } = world.keys[world.env]
    const path = `/payments/${id}/authorization`
    const { body: terms } = await world.call("GET", `${path}?payer=${account.address}`, publishable)
    const { nonce, validAfter, validBefore, value } = terms.typedData.message
    const payload = await world.authorize(account, BigInt(value), {
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
      nonce: TransactionHash.make(nonce)
    })
    world.node.behave(hoursLater(await world.chain.publicClient.getBlockNumber(), most))
    await relayElsewhere(world, payload)
    await rowsOf(world, `UPDATE payments SET created_at = created_at - interval '8 hours' WHERE id = '${id}'`)
    world.node.behave(hoursLater(await world.chain.publicClient.getBlockNumber(), most))
    const { signature } = payload
    const answer = await world.call("POST", path, publishable, {
      payer: account.address,
      validAfter,
      validBefore,
      signature
    })
    expect(answer.body).toMatchObject({ payment: { status: "settled" } })
  })
