// One node's account of a transaction: receipt, head and tags together, then the canonical block at the receipt's
// height. An account that contradicts itself is rejected.
import { BigInt as BigIntOrder, Effect, Order, Schema } from "effect"
import { type Env, TransactionHash } from "../../domain/Chain.ts"
import { blocksIn, hasTags, networks } from "../../domain/networks.ts"
import { NodeFailure } from "../RpcPool/NodeFailure.ts"
import type { RpcNode } from "../RpcPool/RpcNode.ts"
import type { Poll, Question } from "../RpcPool.ts"
import { Block, Head, Quantity, Receipt } from "../RpcSchemas.ts"
import type { Agreement } from "./Agreement.ts"
import type { TransactionFacts } from "./judgeTransfer.ts"

export interface Observation {
  readonly head: bigint
  /** Undefined while the node shows the transaction in no block. */
  readonly facts: TransactionFacts | undefined
}

/** Concurrent responses may come from machines of one provider whose heads differ by this much. */
const lagMillis = 10_000

/** Only on networks where a tag decides. A node may not have such a block yet. */
const taggedBlock = (node: RpcNode, env: Env, tag: "safe" | "finalized") =>
  hasTags(networks[env])
    ? Effect.map(
        node.call("eth_getBlockByNumber", [tag, false], Schema.NullOr(Head)),
        (block) => block?.number ?? null
      )
    : Effect.succeed(null)

const malformed = (message: string) => new NodeFailure({ kind: "malformed", message })

const observe = Effect.fnUntraced(function* (node: RpcNode, env: Env, transactionId: TransactionHash) {
  // The tags are read before the block: if the block changes in between, the later block is seen.
  const [receipt, latest, safe, finalized] = yield* Effect.all(
    [
      node.call("eth_getTransactionReceipt", [transactionId], Receipt),
      node.call("eth_blockNumber", [], Quantity),
      taggedBlock(node, env, "safe"),
      taggedBlock(node, env, "finalized")
    ],
    { concurrency: "unbounded" }
  )
  const absent = (head: bigint): Observation => ({ head, facts: undefined })
  if (receipt === null) return absent(latest)
  const ownLogs = receipt.logs.every(
    (log, index, logs) =>
      log.transactionHash === transactionId &&
      log.blockHash === receipt.blockHash &&
      (index === 0 || log.logIndex > (logs[index - 1]?.logIndex ?? log.logIndex))
  )
  if (receipt.transactionHash !== transactionId || !ownLogs) {
    return yield* malformed("a receipt of something else")
  }

  const block = yield* node.call(
    "eth_getBlockByNumber",
    [`0x${receipt.blockNumber.toString(16)}`, false],
    Block
  )
  // Not sealed yet, or the machine lags behind the one that returned the receipt.
  if (block === null) return absent(latest)
  if (block.number !== receipt.blockNumber) return yield* malformed("another block than the one asked for")
  if (block.hash === receipt.blockHash && !block.transactions.includes(transactionId)) {
    return yield* malformed("a receipt whose block does not hold the transaction")
  }
  const head = BigIntOrder.max(latest, block.number)
  const observation: Observation = {
    head,
    facts: {
      blockNumber: receipt.blockNumber,
      blockHash: TransactionHash.make(receipt.blockHash),
      status: receipt.status === "0x1" ? "success" : "reverted",
      logs: receipt.logs,
      canonicalHash: TransactionHash.make(block.hash),
      blockTime: block.timestamp,
      head,
      tagged: { safe, finalized },
      unanimous: false
    }
  }
  return observation
})

const keyOf = ({ facts }: Observation): string =>
  facts === undefined
    ? "absent"
    : [
        facts.blockNumber,
        facts.blockHash,
        facts.canonicalHash,
        facts.blockTime,
        facts.status,
        ...facts.logs.flatMap((log) => [log.address, log.topics.join(","), log.data])
      ].join(" ")

/**
 * The question for all nodes. A node that has not seen the transaction contradicts nothing, unless its head is well
 * past the transaction's block.
 */
export const transactionQuery = (env: Env, transactionId: TransactionHash): Question<Observation> => ({
  ask: (node) => observe(node, env, transactionId),
  awaitsAll: networks[env].finalityLevels.some(({ finality }) => finality === "included"),
  key: keyOf,
  contradicts: (one, other) => {
    if (one.facts !== undefined && other.facts !== undefined) return true
    const present = one.facts ?? other.facts
    const absent = one.facts === undefined ? one : other
    return present !== undefined && absent.head > present.blockNumber + blocksIn(env, lagMillis)
  }
})

/** The block hash at a height, undefined above the node's head. */
export const blockQuery = (blockNumber: bigint): Question<string | undefined> => ({
  ask: (node) =>
    node
      .call("eth_getBlockByNumber", [`0x${blockNumber.toString(16)}`, false], Block)
      .pipe(Effect.map((block) => block?.hash)),
  key: (hash) => hash ?? "none",
  contradicts: (one, other) => one !== undefined && other !== undefined
})

/** The agreement that follows from the answers of all nodes. */
export const agreementOf = (poll: Poll<Observation>): Agreement => {
  if (poll.agreed !== undefined) {
    const { facts } = poll.agreed[0]
    const agreed = poll.agreed.map(({ facts, head }) => ({ head, ...facts?.tagged }))
    const head =
      agreedHeight(
        agreed.map((reading) => reading.head),
        poll.majority
      ) ?? 0n
    if (facts === undefined) return { _tag: "Absent", head }
    const tagged = {
      safe: agreedHeight(
        agreed.map(({ safe }) => safe ?? null),
        poll.majority
      ),
      finalized: agreedHeight(
        agreed.map(({ finalized }) => finalized ?? null),
        poll.majority
      )
    }
    const unanimous = poll.agreed.length === poll.nodes
    return { _tag: "Included", facts: { ...facts, head, tagged, unanimous } }
  }
  if (poll.contradiction) return { _tag: "Undecided", reason: "disagreement" }
  const answered = poll.ballots.filter(({ answer }) => answer._tag === "Success").length
  return answered >= poll.majority ? { _tag: "Spreading" } : { _tag: "Undecided", reason: "rpc_unavailable" }
}

/** The highest block that `majority` of the agreeing nodes have reached. */
const agreedHeight = (heights: ReadonlyArray<bigint | null>, majority: number): bigint | null =>
  heights.filter((height) => height !== null).toSorted(Order.flip(BigIntOrder.Order))[majority - 1] ?? null
