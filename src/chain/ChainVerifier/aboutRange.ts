// Every USDC transfer in a range of blocks, by a majority of the nodes. A single block is asked
// for by its hash: a machine behind the one that named it answers nothing rather than less.
import { Effect, Schema } from "effect"
import { type Env, TransactionHash } from "../../domain/Chain.ts"
import { networks } from "../../domain/networks.ts"
import { NodeFailure } from "../RpcPool/NodeFailure.ts"
import type { RpcNode } from "../RpcPool/RpcNode.ts"
import type { Poll, Question } from "../RpcPool.ts"
import { BlockHeader, RangeLog } from "../RpcSchemas.ts"
import { type ChainTransfer, RangeReading } from "../Verification.ts"
import { readTransferLog, type TransferLog, transferTopic } from "./TransferLog.ts"

interface Range {
  readonly parentHash: string
  readonly blockHash: string
  readonly blockTime: bigint
  readonly logs: ReadonlyArray<typeof RangeLog.Type>
}

const RangeLogs = Schema.Array(RangeLog)
const quantity = (value: bigint) => `0x${value.toString(16)}`
const malformed = (message: string) => new NodeFailure({ kind: "malformed", message })

const blockAt = (node: RpcNode, number: bigint) =>
  node.call("eth_getBlockByNumber", [quantity(number), false], BlockHeader)

const readRange = Effect.fnUntraced(function* (node: RpcNode, env: Env, from: bigint, to: bigint) {
  const last = yield* blockAt(node, to)
  if (last === null) return undefined
  const first = from === to ? last : yield* blockAt(node, from)
  if (first === null) return undefined
  const place = from === to ? { blockHash: last.hash } : { fromBlock: quantity(from), toBlock: quantity(to) }
  const logs = yield* node.call(
    "eth_getLogs",
    [{ address: networks[env].usdc.address, topics: [transferTopic], ...place }],
    RangeLogs
  )
  const isWithin = logs.every(
    (log, index) =>
      log.blockNumber >= from &&
      log.blockNumber <= to &&
      (from !== to || log.blockHash === last.hash) &&
      (index === 0 || isAfter(log, logs[index - 1] ?? log))
  )
  if (!isWithin) return yield* malformed("logs of other blocks than those asked for")
  const range: Range = {
    parentHash: first.parentHash,
    blockHash: last.hash,
    blockTime: last.timestamp,
    logs
  }
  return range
})

const isAfter = (log: typeof RangeLog.Type, before: typeof RangeLog.Type) =>
  log.blockNumber > before.blockNumber ||
  (log.blockNumber === before.blockNumber && log.logIndex > before.logIndex)

/** The question to all nodes; undefined above a node's head. */
export const aboutRange = (env: Env, from: bigint, to: bigint): Question<Range | undefined> => ({
  ask: (node) => readRange(node, env, from, to),
  key: (range) =>
    range === undefined
      ? "behind"
      : [
          range.parentHash,
          range.blockHash,
          range.blockTime,
          ...range.logs.flatMap((log) => [
            log.blockHash,
            log.transactionHash,
            log.logIndex,
            log.topics,
            log.data
          ])
        ].join(" "),
  contradicts: (one, other) => one !== undefined && other !== undefined
})

/** Whether the transfer brings money to its receiver. A mint does, a transfer to oneself does not. */
const movesMoney = ({ value, from, to }: TransferLog) => value > 0n && from !== to

/** Transfers with their ordinals among the equal ones of their transaction. */
export const transfersOf = (
  logs: ReadonlyArray<{
    readonly address: string
    readonly topics: ReadonlyArray<string>
    readonly data: string
    readonly transactionHash: string
    readonly blockNumber: bigint
    readonly blockHash: string
  }>
): ReadonlyArray<ChainTransfer> => {
  const seen = new Map<string, number>()
  return logs.flatMap((log): ReadonlyArray<ChainTransfer> => {
    const transfer = readTransferLog(log, 0)
    if (transfer === undefined || !movesMoney(transfer)) return []
    const key = `${log.blockHash} ${log.transactionHash} ${transfer.from} ${transfer.to} ${transfer.value}`
    const ordinal = seen.get(key) ?? 0
    seen.set(key, ordinal + 1)
    return [
      {
        transactionId: TransactionHash.make(log.transactionHash),
        payer: transfer.from,
        receiver: transfer.to,
        amount: transfer.value,
        ordinal,
        blockNumber: log.blockNumber,
        blockHash: TransactionHash.make(log.blockHash)
      }
    ]
  })
}

/** What all nodes together say. */
export const readingOf = (poll: Poll<Range | undefined>): RangeReading => {
  if (poll.agreed === undefined) return RangeReading.Unread()
  const [range] = poll.agreed
  if (range === undefined) return RangeReading.Behind()
  return RangeReading.Read({
    parentHash: TransactionHash.make(range.parentHash),
    blockHash: TransactionHash.make(range.blockHash),
    blockTime: range.blockTime,
    transfers: transfersOf(range.logs)
  })
}
