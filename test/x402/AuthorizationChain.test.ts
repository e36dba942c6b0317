// How deep the use of an authorization lies: as deep as a majority has it.
import { describe, expect } from "bun:test"
import { Context, Effect, Layer, Option } from "effect"
import { toEventSelector } from "viem"
import { ContractSignatures } from "../../src/chain/ContractSignatures.ts"
import { RpcPool } from "../../src/chain/RpcPool.ts"
import { TransactionHash } from "../../src/domain/Chain.ts"
import { AuthorizationChain } from "../../src/x402/AuthorizationChain.ts"
import { freshAddress } from "../support/freshAddress.ts"
import { testConfig } from "../support/memory.ts"
import { type Behaviour, rpcProxy } from "../support/rpcProxy.ts"
import { liveEffect } from "../support/run.ts"

const hex = (figure: number) => `0x${figure.toString(16)}`
const transactionId = TransactionHash.make(`0x${"ab".repeat(32)}`)
const nonce = `0x${"cd".repeat(32)}` as const
const cancelled = toEventSelector("AuthorizationCanceled(address,bytes32)")

/** A node at a height that shows the cancellation in a block, after so many milliseconds. */
const showing =
  (head: number, block: number, millis = 0): Behaviour =>
  async (method) => {
    await Bun.sleep(millis)
    switch (method) {
      case "eth_chainId":
        return { result: hex(84_532) }
      case "eth_getBlockByNumber":
        return { result: { number: hex(head), timestamp: hex(2_000_000_000) } }
      case "eth_getLogs":
        return { result: [{ transactionHash: transactionId, blockNumber: hex(block), topics: [cancelled] }] }
      default:
        return { error: { code: -32_601, message: "not here" } }
    }
  }

const useOver = Effect.fnUntraced(function* (behaviours: ReadonlyArray<Behaviour>) {
  const nodes = yield* Effect.forEach(behaviours, (behaviour) => rpcProxy(undefined, behaviour))
  const context = yield* Layer.build(
    AuthorizationChain.layer.pipe(
      Layer.provide(ContractSignatures.layer),
      Layer.provide(RpcPool.layer({ urls: { test: nodes.map(({ url }) => url) } })),
      Layer.provide(testConfig())
    )
  )
  return yield* Context.get(context, AuthorizationChain).findUse(freshAddress(), nonce, new Date(0))
})

describe("the blocks since an authorization was used", () => {
  const [late, later] = [100, 200]
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<Behaviour>, bigint]> = [
    ["of one node", [showing(103, 100)], 3n],
    ["where the first to answer claims a height of nobody", [showing(900, 100), showing(103, 100, late)], 3n],
    ["where the first to answer claims an older block", [showing(103, 5), showing(103, 100, late)], 3n],
    [
      "where the first of three to answer claims both",
      [showing(900, 5), showing(103, 100, late), showing(103, 100, later)],
      3n
    ],
    [
      "where the first to answer stands still",
      [showing(101, 100), showing(103, 100, late), showing(103, 100, later)],
      1n
    ]
  ]
  for (const [name, behaviours, blocksSince] of cases)
    liveEffect(`${name}: ${blocksSince}`, () =>
      Effect.gen(function* () {
        expect(yield* useOver(behaviours)).toEqual(
          Option.some({ transactionId, cancelled: true, blocksSince })
        )
      })
    )
})
