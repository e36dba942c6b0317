// One node's account of a transaction in three calls: receipt and head together,
// then the canonical block at the receipt's height. An account that contradicts
// itself is no account.
import { BigInt as BigIntOrder, Effect, Order } from "effect"
import { TransactionHash } from "../../domain/Chain.ts"
import { NodeFailure } from "../RpcPool/NodeFailure.ts"
import type { RpcNode } from "../RpcPool/RpcNode.ts"
import type { Poll, Question } from "../RpcPool.ts"
import { Block, Quantity, Receipt } from "../RpcSchemas.ts"
import type { Agreement } from "./Agreement.ts"
import type { TransactionFacts } from "./judgeTransfer.ts"

export interface Observation {
  readonly head: bigint
  /** Undefined while the node shows the transaction in no block. */
  readonly facts: TransactionFacts | undefined
}

/** Answers for one moment can come from machines that are this many blocks apart. */
const lagSlack = 5n

const malformed = (message: string) => new NodeFailure({ kind: "malformed", message })

const observe = Effect.fnUntraced(function* (node: RpcNode, transactionId: TransactionHash) {
  const [receipt, latest] = yield* Effect.all(
    [
      node.call("eth_getTransactionReceipt", [transactionId], Receipt),
      node.call("eth_blockNumber", [], Quantity)
    ],
    { concurrency: 2 }
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
  // Not sealed, or a machine behind the one that gave the receipt.
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
      head
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

/** The question to all nodes. Not having seen the transaction yet contradicts nothing, unless the node is past its block. */
export const aboutTransaction = (transactionId: TransactionHash): Question<Observation> => ({
  ask: (node) => observe(node, transactionId),
  key: keyOf,
  contradicts: (one, other) => {
    if (one.facts !== undefined && other.facts !== undefined) return true
    const present = one.facts ?? other.facts
    const absent = one.facts === undefined ? one : other
    return present !== undefined && absent.head > present.blockNumber + lagSlack
  }
})

/** The block hash at a height, undefined above the node's head. */
export const aboutBlock = (blockNumber: bigint): Question<string | undefined> => ({
  ask: (node) =>
    node
      .call("eth_getBlockByNumber", [`0x${blockNumber.toString(16)}`, false], Block)
      .pipe(Effect.map((block) => block?.hash)),
  key: (hash) => hash ?? "none",
  contradicts: (one, other) => one !== undefined && other !== undefined
})

/** What all nodes together say. */
export const agreementOf = (poll: Poll<Observation>): Agreement => {
  if (poll.agreed !== undefined) {
    const { facts } = poll.agreed[0]
    const head = agreedHead(poll.agreed, poll.majority)
    return facts === undefined ? { _tag: "Absent", head } : { _tag: "Included", facts: { ...facts, head } }
  }
  if (poll.contradiction) return { _tag: "Open", reason: "disagreement" }
  const answered = poll.ballots.filter(({ answer }) => answer._tag === "Success").length
  return answered >= poll.majority ? { _tag: "Spreading" } : { _tag: "Open", reason: "rpc_unavailable" }
}

/** The highest block that `majority` of the agreeing nodes have reached. */
const agreedHead = (agreed: ReadonlyArray<Observation>, majority: number): bigint =>
  agreed.map(({ head }) => head).sort(Order.flip(BigIntOrder.Order))[majority - 1] ?? 0n
