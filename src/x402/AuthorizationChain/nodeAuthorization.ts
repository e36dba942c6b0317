// One node's view of an authorization: the transaction that used its nonce, and whether it has expired.
import { Effect, Option, Schema } from "effect"
import { encodeFunctionData, type Hex, toEventSelector, toHex } from "viem"
import type { NodeFailure } from "../../chain/RpcPool/NodeFailure.ts"
import type { RpcNode } from "../../chain/RpcPool/RpcNode.ts"
import { Quantity, Word } from "../../chain/RpcSchemas.ts"
import { type Address, type Env, TransactionHash } from "../../domain/Chain.ts"
import { blocksIn } from "../../domain/networks.ts"
import { authorizationAbi } from "../Authorization.ts"

/**
 * `used`: the nonce is spent, by a transfer or a cancellation. `expired`: unused in a block with the required
 * confirmations after its time. `open`: it may still be used. `unknown`: the nodes do not say, or have not
 * reached the requested block.
 */
export type AuthorizationState = "used" | "expired" | "open" | "unknown"

/** The transaction that spent a nonce, by any sender. */
export interface AuthorizationUse {
  readonly transactionId: TransactionHash
  readonly cancelled: boolean
  /** The number of later blocks, by a majority. */
  readonly blocksSince: bigint
}

/** A cancellation counts after this many milliseconds of blocks: a reorganisation may revert a newer one. */
const cancelledMillis = 20_000
export const isCancellationFinal = (env: Env, { blocksSince, cancelled }: AuthorizationUse): boolean =>
  cancelled && blocksSince >= blocksIn(env, cancelledMillis)

const UseLogs = Schema.Array(
  Schema.Struct({ transactionHash: Word, blockNumber: Quantity, topics: Schema.Array(Word) })
)
const SomeBlock = Schema.Struct({ number: Quantity, timestamp: Quantity })
/** The number of blocks that most public nodes search in one request. */
const searchedBlocks = 9_000n
/** Seconds by which a block's time may be behind the clock that set `since`. */
const clockSlackSeconds = 3_600n
const usedTopic = toEventSelector("AuthorizationUsed(address,bytes32)")
const cancelledTopic = toEventSelector("AuthorizationCanceled(address,bytes32)")

/** The call data that reads whether a nonce is spent. */
export const stateData = (payer: Address, nonce: Hex) =>
  encodeFunctionData({ abi: authorizationAbi, functionName: "authorizationState", args: [payer, nonce] })
/** Decodes the answer. */
export const isTrueWord = (word: string) => /^0x0*1$/.test(word)

/** The authorization's state by one node, in a block at or after `notBefore`; `validBefore` is in Unix seconds. */
export const readState = (
  node: RpcNode,
  usdc: Address,
  payer: Address,
  nonce: Hex,
  validBefore: bigint,
  notBefore: bigint,
  confirmations: number
): Effect.Effect<AuthorizationState, NodeFailure> =>
  Effect.gen(function* () {
    const block = (tag: string) => node.call("eth_getBlockByNumber", [tag, false], SomeBlock)
    const head = yield* block("latest")
    const state = yield* node.call(
      "eth_call",
      [{ to: usdc, data: stateData(payer, nonce) }, toHex(head.number)],
      Word
    )
    if (isTrueWord(state)) return "used"
    if (head.number < notBefore) return "unknown"
    if (head.timestamp < validBefore) return "open"
    const depth = BigInt(confirmations)
    if (depth === 0n) return "expired"
    if (head.number < depth) return "open"
    return (yield* block(toHex(head.number - depth))).timestamp >= validBefore ? "expired" : "open"
  })

/**
 * Reads the logs of some blocks up to this block. Halves the range if the node refuses it as too wide. Any
 * other refusal may mean the same or a rate limit, so the range becomes far smaller.
 */
const logsUpTo = (
  node: RpcNode,
  usdc: Address,
  topics: ReadonlyArray<string | ReadonlyArray<string>>,
  to: bigint,
  blocks: bigint
): Effect.Effect<
  { readonly logs: typeof UseLogs.Type; readonly from: bigint; readonly blocks: bigint },
  NodeFailure
> => {
  const from = to > blocks ? to - blocks : 0n
  return node
    .call("eth_getLogs", [{ address: usdc, topics, fromBlock: toHex(from), toBlock: toHex(to) }], UseLogs)
    .pipe(
      Effect.map((logs) => ({ logs, from, blocks })),
      Effect.catchIf(
        ({ kind }) => (kind === "too_wide" || kind === "declined") && blocks > 1n,
        ({ kind }) => logsUpTo(node, usdc, topics, to, kind === "too_wide" ? blocks / 2n : blocks / 16n + 1n)
      )
    )
}

/** The transaction that used the authorization, by one node, from the newest block back to `since`. */
export const readUse = (
  node: RpcNode,
  usdc: Address,
  payer: Address,
  nonce: Hex,
  since: Date
): Effect.Effect<Option.Option<AuthorizationUse>, NodeFailure> =>
  Effect.gen(function* () {
    const topics = [[usedTopic, cancelledTopic], `0x${payer.slice(2).toLowerCase().padStart(64, "0")}`, nonce]
    const oldest = BigInt(Math.floor(since.getTime() / 1000)) - clockSlackSeconds
    const head = yield* node.call("eth_getBlockByNumber", ["latest", false], SomeBlock)
    let range = searchedBlocks
    for (let to = head; ; ) {
      const { blocks, from, logs } = yield* logsUpTo(node, usdc, topics, to.number, range)
      range = blocks
      const [use] = logs
      if (use !== undefined) {
        return Option.some({
          transactionId: TransactionHash.make(use.transactionHash),
          cancelled: use.topics[0] === cancelledTopic,
          blocksSince: head.number - use.blockNumber
        })
      }
      if (from === 0n) return Option.none()
      to = yield* node.call("eth_getBlockByNumber", [toHex(from), false], SomeBlock)
      if (to.timestamp < oldest) return Option.none()
    }
  })
