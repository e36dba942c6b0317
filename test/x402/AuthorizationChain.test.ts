// The depth of an authorization's use: as deep as a majority shows it.
import { describe, expect } from "bun:test"
import { Context, Effect, Layer, Option } from "effect"
import { encodeErrorResult, parseAbi, toEventSelector, toFunctionSelector } from "viem"
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

/** A node at a height that shows the cancellation in a block, after this many milliseconds. */
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
  return yield* Context.get(context, AuthorizationChain).findUse("test", freshAddress(), nonce, new Date(0))
})

describe("the blocks since an authorization was used", () => {
  const [late, later] = [100, 200]
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<Behaviour>, bigint]> = [
    ["of one node", [showing(103, 100)], 3n],
    ["if the first to answer invents a height", [showing(900, 100), showing(103, 100, late)], 3n],
    ["if the first to answer claims an older block", [showing(103, 5), showing(103, 100, late)], 3n],
    [
      "if the first of three to answer claims both",
      [showing(900, 5), showing(103, 100, late), showing(103, 100, later)],
      3n
    ],
    [
      "if the first to answer has stopped",
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

describe("a transfer that would revert", () => {
  const selectorOf = (data: unknown) => String(data).slice(0, 10)
  const state = toFunctionSelector("authorizationState(address,bytes32)")
  const balance = toFunctionSelector("balanceOf(address)")
  const word = (value: bigint) => `0x${value.toString(16).padStart(64, "0")}`
  const now = 2_000_000_000n
  /** A node on which the transfer reverts with the token's error, until its newest block has this time. */
  const reverting =
    (reason: string, timeOf: () => bigint): Behaviour =>
    (method, [call]) => {
      const data = encodeErrorResult({
        abi: parseAbi(["error Error(string)"]),
        errorName: "Error",
        args: [reason]
      })
      const selector = selectorOf(Object(call).data)
      switch (method) {
        case "eth_chainId":
          return { result: hex(84_532) }
        case "eth_getCode":
          return { result: "0x" }
        case "eth_getBlockByNumber":
          return { result: { number: "0x1", timestamp: `0x${timeOf().toString(16)}` } }
        case "eth_call":
          return selector === state
            ? { result: word(0n) }
            : selector === balance
              ? { result: word(10n ** 9n) }
              : { result: "0x" }
        default:
          return timeOf() > now && reason === "FiatTokenV2: authorization is not yet valid"
            ? { result: hex(100_000) }
            : { error: { code: 3, message: "execution reverted", data } }
      }
    }
  const plan = Effect.fnUntraced(function* (behaviour: Behaviour) {
    const node = yield* rpcProxy(undefined, behaviour)
    const context = yield* Layer.build(
      AuthorizationChain.layer.pipe(
        Layer.provide(ContractSignatures.layer),
        Layer.provide(RpcPool.layer({ urls: { test: [node.url] } })),
        Layer.provide(testConfig())
      )
    )
    return yield* Context.get(context, AuthorizationChain).plan(
      "test",
      {
        from: freshAddress(),
        to: freshAddress(),
        value: 1n,
        validAfter: now,
        validBefore: now + 600n,
        nonce,
        signature: `0x${"11".repeat(65)}`
      },
      undefined
    )
  })

  for (const reason of ["Blacklistable: account is blacklisted", "Pausable: paused"])
    liveEffect(`is refused with the token's own error: ${reason}`, () =>
      Effect.gen(function* () {
        expect(yield* plan(reverting(reason, () => now + 5n))).toMatchObject({
          _tag: "Refused",
          reason: "invalid_exact_evm_transaction_simulation_failed",
          message: expect.stringMatching(new RegExp(`^The transfer reverts: execution reverted: ${reason}`))
        })
      })
    )

  liveEffect("only until a block has its start time waits for that block", () =>
    Effect.gen(function* () {
      let looks = 0
      const early = "FiatTokenV2: authorization is not yet valid"
      expect(yield* plan(reverting(early, () => (looks++ < 4 ? now : now + 2n)))).toMatchObject({
        _tag: "Ready"
      })
      expect(yield* plan(reverting(early, () => now))).toMatchObject({
        reason: "invalid_exact_evm_payload_authorization_valid_after"
      })
    })
  )
})
