// One RPC node: an answer to each JSON-RPC call, from as much of the chain as it has seen. It lags, stays on a fork
// that the others have left, is silent, errs, and lies.
import { Effect, Schema } from "effect"
import { isHex, toHex } from "viem"
import { NodeFailure } from "../../../src/chain/RpcPool/NodeFailure.ts"
import { meaningOf } from "../../../src/chain/RpcPool/nodeErrors.ts"
import type { RpcNode } from "../../../src/chain/RpcPool/RpcNode.ts"
import { Address } from "../../../src/domain/Chain.ts"
import { moneyNetwork } from "../../support/moneyNetwork.ts"
import type { Draw } from "../Draw.ts"
import { tokenCallOf } from "./authorizations.ts"
import { type Block, type Fork, type Ledger, logOf, type Mined, transferGas, Untaken } from "./Ledger.ts"

/**
 * `withholds`: shows no receipt and no log. `invents`: shows a waiting transaction as mined long ago. `inflates`: ten
 * times the amount.
 */
export type Lie = "withholds" | "invents" | "inflates"

/** Faults between the service and a node, for each call. */
export interface NodeTrouble {
  readonly fails: () => boolean
  readonly malformed: () => boolean
  readonly slow: () => boolean
  /** The node does what was requested, and its answer is lost. */
  readonly loses: () => boolean
  /** Only of transactions, because nodes do not keep an index of them for ever. */
  readonly forgets: () => boolean
  /** A balance was read. */
  readonly balanceTold: () => void
}

export class SimulatedNode {
  readonly name: string
  fork: Fork
  height: number
  lie: Lie | undefined
  /** Answers nothing. */
  down = false
  /** Adopts no new block. */
  stuck = false
  readonly #ledger: Ledger

  constructor(name: string, ledger: Ledger) {
    this.name = name
    this.#ledger = ledger
    this.fork = ledger.fork
    this.height = ledger.fork.height
  }

  /** For a while another machine behind its address answers, which has seen this many blocks fewer. */
  goBack(blocks: number): void {
    this.height = Math.max(0, this.height - blocks)
    this.stuck = true
  }

  /** Its trouble is over. */
  recover(): void {
    this.down = false
    this.stuck = false
    this.follow()
  }

  /** Adopts the chain's present state. */
  follow(): void {
    if (this.stuck) return
    this.fork = this.#ledger.fork
    this.height = this.fork.height
  }

  answer(method: string, params: ReadonlyArray<unknown>): unknown {
    switch (method) {
      case "eth_chainId":
        return toHex(moneyNetwork.chainId)
      case "eth_blockNumber":
        return toHex(this.height)
      case "eth_getBlockByNumber":
        return this.#block(params[0])
      case "eth_getTransactionReceipt":
        return this.#receipt(String(params[0]))
      case "eth_getTransactionByHash":
        return this.#transaction(String(params[0]))
      case "eth_getLogs":
        return this.#logs(Object(params[0]))
      case "eth_getTransactionCount":
        return this.#nonce(String(params[0]), params[1])
      case "eth_getCode":
        return "0x"
      case "eth_getBalance":
        return toHex(this.#ledger.wei.get(Address.make(String(params[0]))) ?? 10n ** 18n)
      case "eth_gasPrice":
        return toHex(this.#ledger.price)
      case "eth_call":
        return this.#call(Object(params[0]), params[1])
      case "eth_estimateGas":
        this.#call(Object(params[0]), "latest")
        return toHex(transferGas)
      case "eth_sendRawTransaction":
        return this.#take(params[0])
      default:
        throw new Error(`the simulated node has no ${method}`)
    }
  }

  /** A read of the token, or a simulated transfer. */
  #call({ data, to }: Record<string, unknown>, tag: unknown): string {
    const word = (value: bigint) => toHex(value, { size: 32 })
    const block = this.#at(tag)
    if (block === undefined || !isHex(data) || typeof to !== "string") return word(0n)
    const call = tokenCallOf(to, data)
    if (call === undefined) return word(0n)
    if (call.kind === "state")
      return word(this.fork.spentBy(call.payer, call.nonce, block.number) === undefined ? 0n : 1n)
    const obstacle = this.#ledger.obstacle(call.spending, call.amount, block.number, block.time)
    if (obstacle !== undefined)
      throw new NodeFailure({
        kind: "reverted",
        message: obstacle,
        nodeMessage: `execution reverted: ${obstacle}`
      })
    return "0x"
  }

  #take(raw: unknown): string {
    const { relayer } = this.#ledger
    if (!isHex(raw) || relayer === undefined) throw new Error("no wallet of the service signs here")
    try {
      return this.#ledger.submitRaw(relayer, raw).hash
    } catch (error) {
      if (error instanceof Untaken)
        throw new NodeFailure({
          kind: meaningOf("eth_sendRawTransaction", undefined, error.message),
          message: error.message
        })
      throw error
    }
  }

  #at(tag: unknown): Block | undefined {
    const number = this.#numberOf(tag)
    return number <= this.height ? this.fork.blocks[number] : undefined
  }

  #numberOf(tag: unknown): number {
    const { finalized, safe } = this.#ledger.tagged
    switch (tag) {
      case "latest":
        return this.height
      case "safe":
        return Math.max(0, this.height - safe)
      case "finalized":
        return Math.max(0, this.height - finalized)
      default:
        return Number(tag)
    }
  }

  #block(tag: unknown) {
    const block = this.#at(tag)
    if (block === undefined) return null
    return {
      number: toHex(block.number),
      hash: block.hash,
      parentHash: block.parentHash,
      timestamp: toHex(block.time),
      transactions: block.mined.map(({ transaction }) => transaction.hash)
    }
  }

  #logsOf(block: Block, { firstLog, logs, transaction }: Mined) {
    return logs.map((log, index) => ({
      ...log,
      data:
        this.lie === "inflates" && log.data.length === 66
          ? toHex(BigInt(log.data) * 10n, { size: 32 })
          : log.data,
      logIndex: toHex(firstLog + index),
      transactionHash: transaction.hash,
      blockHash: block.hash,
      blockNumber: toHex(block.number),
      removed: false
    }))
  }

  #receipt(hash: string) {
    if (this.lie === "withholds") return null
    const found =
      this.fork.find(hash, this.height) ?? (this.lie === "invents" ? this.#invented(hash) : undefined)
    if (found === undefined) return null
    const { block, mined } = found
    return {
      transactionHash: hash,
      blockHash: block.hash,
      blockNumber: toHex(block.number),
      status: mined.succeeded ? "0x1" : "0x0",
      gasUsed: toHex(mined.fee),
      effectiveGasPrice: "0x1",
      logs: this.#logsOf(block, mined)
    }
  }

  /** A transaction that no block has, as if an old block had it. */
  #invented(hash: string): { readonly block: Block; readonly mined: Mined } | undefined {
    const transaction = this.#ledger.transactions.get(hash)
    const block = this.fork.blocks[Math.max(0, this.height - 5)]
    if (transaction === undefined || block === undefined) return undefined
    return {
      block: { ...block, mined: [] },
      mined: {
        transaction,
        succeeded: true,
        moves: transaction.moves,
        logs: transaction.moves.map(logOf),
        firstLog: 0,
        fee: 0n
      }
    }
  }

  #transaction(hash: string) {
    const known = this.#ledger.transactions.get(hash)
    const seen =
      known !== undefined &&
      (this.fork.find(hash, this.height) !== undefined || this.#ledger.pool.includes(known))
    return seen ? { hash, from: known.sender.toLowerCase(), nonce: toHex(known.nonce) } : null
  }

  #logs({ address, blockHash, fromBlock, toBlock, topics }: Record<string, unknown>) {
    const tokens = [address].flat().map((one) => String(one).toLowerCase())
    if (this.lie === "withholds") return []
    const blocks =
      blockHash === undefined
        ? this.fork.blocks.slice(Number(fromBlock), Math.min(Number(toBlock), this.height) + 1)
        : this.fork.blocks.filter(({ hash, number }) => hash === blockHash && number <= this.height)
    if (blockHash !== undefined && blocks.length === 0)
      throw new NodeFailure({ kind: "declined", message: "unknown block" })
    return blocks
      .flatMap((block) => block.mined.flatMap((mined) => this.#logsOf(block, mined)))
      .filter(
        (log) => tokens.includes(log.address) && log.topics.length === 3 && isAskedFor(log.topics, topics)
      )
  }

  #nonce(account: string, tag: unknown) {
    const sender =
      [...this.fork.sent.keys()].find((one) => one.toLowerCase() === account.toLowerCase()) ?? account
    if (tag === "pending") return toHex(this.#ledger.pendingNonce(sender))
    const height = tag === "latest" ? this.height : Number(tag)
    if (height > this.height) throw new NodeFailure({ kind: "declined", message: "header not found" })
    return toHex(this.fork.nonceAt(sender, height))
  }
}

/** By the topics of a query: each is any, one, or one of several. */
const isAskedFor = (topics: ReadonlyArray<string>, asked: unknown): boolean =>
  !Array.isArray(asked) ||
  asked.every((want: unknown, place) =>
    want === null || want === undefined
      ? true
      : Array.isArray(want)
        ? want.includes(topics[place])
        : want === topics[place]
  )

const noAnswer = (method: string) => new NodeFailure({ kind: "transport", message: `${method}: no answer` })

/** The service's client of the node. */
export const rpcNodeOf = (node: SimulatedNode, draw: Draw, trouble: NodeTrouble): RpcNode => {
  const answerOf = <A>(
    method: string,
    params: ReadonlyArray<unknown>,
    result: Schema.Decoder<A>
  ): Effect.Effect<A, NodeFailure> => {
    try {
      const said =
        method === "eth_getTransactionByHash" && trouble.forgets() ? null : node.answer(method, params)
      if (method === "eth_getBalance") trouble.balanceTold()
      return Effect.succeed(Schema.decodeUnknownSync(result)(said))
    } catch (cause) {
      return Effect.fail(
        cause instanceof NodeFailure
          ? cause
          : new NodeFailure({ kind: "malformed", message: `${method}: ${String(cause)}` })
      )
    }
  }
  const call: RpcNode["call"] = (method, params, result) =>
    Effect.suspend(() => {
      if (node.down || trouble.fails()) return Effect.fail(noAnswer(method))
      if (trouble.malformed())
        return Effect.fail(new NodeFailure({ kind: "malformed", message: `${method}: nonsense` }))
      const ask = answerOf(method, params, result)
      if (trouble.loses()) return Effect.andThen(ask, Effect.fail(noAnswer(method)))
      // The answer is from one moment, and arrives at another.
      return trouble.slow()
        ? Effect.tap(ask, () => Effect.sleep(draw.between(50, 4_000)))
        : draw.chance(0.3)
          ? Effect.tap(ask, () => Effect.yieldNow)
          : ask
    })
  return {
    host: node.name,
    call,
    callUnchecked: call,
    checkChain: Effect.void,
    isRefusing: () => false,
    reconnections: () => 0
  }
}
