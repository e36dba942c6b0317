// USDC transfers in a range of blocks, by a majority of the nodes. A single block is requested by its hash, so a
// lagging machine returns an error rather than an incomplete list. An index of logs may lag behind its blocks, so an
// empty list against the block's bloom is believed only if other logs or the receipts confirm it.
import { Clock, Effect, Result, Schema } from "effect"
import { type Address, type Env, TransactionHash } from "../../domain/Chain.ts"
import { blocksIn, byEnv, networks } from "../../domain/networks.ts"
import { everyTransfer, type ReceiverFilter } from "../ReceiverFilter.ts"
import { NodeFailure } from "../RpcPool/NodeFailure.ts"
import { isUnsupported } from "../RpcPool/nodeErrors.ts"
import type { RpcNode } from "../RpcPool/RpcNode.ts"
import type { Poll, Question } from "../RpcPool.ts"
import { BlockHeader, Quantity, RangeLog, Receipt, ReceiptLog } from "../RpcSchemas.ts"
import { type ChainTransfer, RangeReading } from "../Verification.ts"
import { readTransferLog, type TransferLog, transferTopic } from "./TransferLog.ts"

type Log = typeof RangeLog.Type
type Header = NonNullable<typeof BlockHeader.Type>

interface Range {
  readonly parentHash: string
  readonly blockHash: string
  readonly blockTime: bigint
  readonly logs: ReadonlyArray<Log>
}

/**
 * `behind`: the range is above the node's head, or above its index of logs. `missing`: the node has later blocks, but
 * not these.
 */
type Answer = Range | "behind" | "missing"

/**
 * Machines behind one address may differ by this much of the chain. A block that is missing further below is missing.
 */
const lagMillis = 128_000
/** The number of blocks that a log index may be behind its node. */
const indexLagMillis = 30_000

const RangeLogs = Schema.Array(RangeLog)
const Receipts = Schema.NullOr(Schema.Array(Schema.Struct({ logs: Schema.Array(ReceiptLog) })))
/** USDC, and the tokens that buyers mistake for it. */
const tokensOf = byEnv((env) => {
  const { otherTokens, usdc } = networks[env]
  return [usdc, ...otherTokens].map(({ address }) => address.toLowerCase())
})
const quantity = (value: bigint) => `0x${value.toString(16)}`
const malformed = (message: string) => new NodeFailure({ kind: "malformed", message })

const blockAt = (node: RpcNode, number: bigint) =>
  node.call("eth_getBlockByNumber", [quantity(number), false], BlockHeader)

const absent = (node: RpcNode, env: Env, height: bigint) =>
  Effect.map(
    node.call("eth_blockNumber", [], Quantity),
    (head): Answer => (head >= height + blocksIn(env, lagMillis) ? "missing" : "behind")
  )

type Place = { readonly blockHash: string } | { readonly fromBlock: string; readonly toBlock: string }

/** The logs that match the filter in a place, each once, in the order of the chain. */
const logsIn = Effect.fnUntraced(function* (node: RpcNode, env: Env, place: Place, filter: ReceiverFilter) {
  const tokens = tokensOf[env]
  const address = tokens.length === 1 ? tokens[0] : tokens
  const answers = yield* Effect.forEach(
    filter.topicFilters,
    (topics) => node.call("eth_getLogs", [{ address, topics, ...place }], RangeLogs),
    { concurrency: 2 }
  )
  for (const logs of answers) {
    const isOrdered = logs.every((log, index) => index === 0 || isAfter(log, logs[index - 1] ?? log))
    const isRequested = logs.every(
      (log) => tokens.includes(log.address) && log.topics[0] === transferTopic && filter.has(log.topics)
    )
    if (!isOrdered || !isRequested) return yield* malformed("other logs than those asked for")
  }
  const unique = new Map(answers.flat().map((log) => [`${log.blockHash} ${log.logIndex}`, log]))
  return [...unique.values()].toSorted((one, other) => (isAfter(one, other) ? 1 : -1))
})

const isNotOffered = ({ nodeMessage = "" }: NodeFailure) => isUnsupported(nodeMessage)

const transfersIn = (
  env: Env,
  blockNumber: bigint,
  receipts: ReadonlyArray<{ readonly logs: ReadonlyArray<typeof ReceiptLog.Type> } | null>
): ReadonlyArray<Log> =>
  receipts
    .flatMap((receipt) => receipt?.logs ?? [])
    .filter(({ address, topics }) => tokensOf[env].includes(address) && topics[0] === transferTopic)
    .map((log) => ({ ...log, blockNumber }))

/** The transfers of a block from its receipts, which need no index. Undefined if the node lacks some of them. */
const logsOfReceipts = Effect.fnUntraced(function* (
  node: RpcNode,
  env: Env,
  { hash, number, transactions }: Header
) {
  const receipts = yield* node.call("eth_getBlockReceipts", [hash], Receipts)
  if (receipts === null || (transactions !== undefined && receipts.length !== transactions.length))
    return undefined
  return transfersIn(env, number, receipts)
})

/** The same from the receipt of each transaction, for a node that does not offer those of a block. */
const logsOfEachReceipt = Effect.fnUntraced(function* (
  node: RpcNode,
  env: Env,
  { hash, number, transactions }: Header
) {
  const receipts = yield* Effect.forEach(
    transactions ?? [],
    (id) => node.call("eth_getTransactionReceipt", [id], Receipt),
    { concurrency: 8 }
  )
  return receipts.some((receipt) => receipt?.blockHash !== hash)
    ? undefined
    : transfersIn(env, number, receipts)
})

/**
 * Reads a block's transfers again if its list was empty but its bloom contradicts that. If the node lists another
 * transfer of the token, its index has the block. Otherwise its receipts decide. A node that offers none at all is
 * believed once the block is old: the bloom was a false positive. `behind`: the node's index or receipts may still
 * follow; `missing`: they should have.
 */
const rereadBlock = Effect.fnUntraced(function* (
  node: RpcNode,
  env: Env,
  header: Header,
  filter: ReceiverFilter
) {
  const place = { blockHash: header.hash }
  const isNew = (yield* Clock.currentTimeMillis) - Number(header.timestamp) * 1_000 < indexLagMillis
  const others = filter === everyTransfer ? [] : yield* logsIn(node, env, place, everyTransfer)
  const all =
    others.length > 0
      ? others
      : yield* logsOfReceipts(node, env, header).pipe(
          // While the block is new, its index is likely to follow, which costs fewer requests.
          Effect.catchIf(isNotOffered, () =>
            isNew ? Effect.succeed(undefined) : logsOfEachReceipt(node, env, header)
          ),
          Effect.catchIf(isNotOffered, () => Effect.succeed([]))
        )
  return all?.filter(({ topics }) => filter.has(topics)) ?? (isNew ? "behind" : "missing")
})

const readRange = Effect.fnUntraced(function* (
  node: RpcNode,
  env: Env,
  from: bigint,
  to: bigint,
  filter: ReceiverFilter
): Effect.fn.Return<Answer, NodeFailure> {
  const token = networks[env].usdc.address
  const isSuspect = ({ hash, logsBloom }: Header, logs: ReadonlyArray<Log>) =>
    typeof logsBloom === "string" &&
    logsBloom !== "0x" &&
    filter.topicFilters.length > 0 &&
    !logs.some(({ blockHash }) => blockHash === hash) &&
    filter.mightMatch(logsBloom, token)

  if (from === to) {
    const block = yield* blockAt(node, to)
    if (block === null) return yield* absent(node, env, to)
    const listed = yield* logsIn(node, env, { blockHash: block.hash }, filter)
    const logs = isSuspect(block, listed) ? yield* rereadBlock(node, env, block, filter) : listed
    if (typeof logs === "string") return logs
    if (!logs.every(({ blockHash, blockNumber }) => blockHash === block.hash && blockNumber === to))
      return yield* malformed("logs of another block than the one asked for")
    return { parentHash: block.parentHash, blockHash: block.hash, blockTime: block.timestamp, logs }
  }

  const [last, first, logs] = yield* Effect.all(
    [
      blockAt(node, to),
      blockAt(node, from),
      logsIn(node, env, { fromBlock: quantity(from), toBlock: quantity(to) }, filter)
    ],
    { concurrency: "unbounded" }
  )
  if (last === null || first === null) return yield* absent(node, env, to)
  if (!logs.every(({ blockNumber }) => blockNumber >= from && blockNumber <= to))
    return yield* malformed("logs of other blocks than those asked for")
  for (const block of [first, last]) {
    if (!isSuspect(block, logs)) continue
    const reread = yield* rereadBlock(node, env, block, filter)
    if (reread === "behind") return reread
    // A narrower range finds the block itself.
    if (reread === "missing" || reread.length > 0)
      return yield* new NodeFailure({
        kind: "declined",
        message: `eth_getLogs: the logs of block ${block.number} are missing from its range`
      })
  }
  return { parentHash: first.parentHash, blockHash: last.hash, blockTime: last.timestamp, logs }
})

const isAfter = (log: typeof RangeLog.Type, before: typeof RangeLog.Type) =>
  log.blockNumber > before.blockNumber ||
  (log.blockNumber === before.blockNumber && log.logIndex > before.logIndex)

/** The question for all nodes. */
export const rangeQuery = (env: Env, from: bigint, to: bigint, filter: ReceiverFilter): Question<Answer> => ({
  ask: (node) =>
    readRange(node, env, from, to, filter).pipe(
      Effect.catchIf(
        ({ kind }) => kind === "pruned",
        () => Effect.succeed<Answer>("missing")
      )
    ),
  key: (range) =>
    typeof range === "string"
      ? range
      : [
          range.parentHash,
          range.blockHash,
          range.blockTime,
          ...range.logs.flatMap((log) => [
            log.blockHash,
            log.transactionHash,
            log.logIndex,
            log.address,
            log.topics,
            log.data
          ])
        ].join(" "),
  contradicts: (one, other) => typeof one !== "string" && typeof other !== "string"
})

/** True if the transfer brings money to its receiver. A mint does, a transfer to oneself does not. */
const movesMoney = ({ value, from, to }: TransferLog) => value > 0n && from !== to

/** Transfers with their ordinals among the equal transfers of their transaction. */
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

/** The reading that follows from the answers of all nodes. */
export const readingOf = (
  env: Env,
  { agreed, ballots, contradiction, majority }: Poll<Answer>
): RangeReading => {
  if (agreed === undefined) {
    /** True if so many nodes agree that the others can form no majority. */
    const isDecisive = (count: number) => !contradiction && ballots.length - count < majority
    const missing = ballots.filter(({ answer }) => Result.isSuccess(answer) && answer.success === "missing")
    if (isDecisive(missing.length)) return RangeReading.Missing()
    const refused = ballots.filter(
      ({ answer }) =>
        Result.isFailure(answer) && (answer.failure.kind === "too_wide" || answer.failure.kind === "declined")
    )
    return RangeReading.Unread({ refused: isDecisive(refused.length) })
  }
  const [range] = agreed
  if (range === "behind") return RangeReading.Behind()
  if (range === "missing") return RangeReading.Missing()
  const logsOf = (token: Address) => range.logs.filter(({ address }) => address === token.toLowerCase())
  return RangeReading.Read({
    parentHash: TransactionHash.make(range.parentHash),
    blockHash: TransactionHash.make(range.blockHash),
    blockTime: range.blockTime,
    transfers: transfersOf(logsOf(networks[env].usdc.address)),
    others: networks[env].otherTokens.flatMap(({ address, symbol }) =>
      transfersOf(logsOf(address)).map((transfer) => ({ ...transfer, symbol }))
    )
  })
}
