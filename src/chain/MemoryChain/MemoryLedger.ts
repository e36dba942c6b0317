// One in-memory chain: blocks, receipts, balances. Plain state behind `MemoryChain`. Token movements follow the real
// contract as far as receipts show it: a transfer that cannot be paid is mined and reverted.
import { keccak256, padHex, toHex } from "viem"
import { type Address, TransactionHash } from "../../domain/Chain.ts"
import type { TransactionFacts } from "../ChainVerifier/judgeTransfer.ts"
import { type RawLog, transferTopic } from "../ChainVerifier/TransferLog.ts"

export interface MemoryTransfer {
  readonly from: Address
  readonly to: Address
  /** Atomic units. */
  readonly amount: bigint
  /** The emitting contract. Default: USDC, the only token that moves balances. */
  readonly token?: Address
}

interface Transaction {
  readonly hash: TransactionHash
  readonly transfers: ReadonlyArray<MemoryTransfer>
  readonly extraLogs: ReadonlyArray<RawLog>
  readonly reverts: boolean
}

export interface MinedTransaction extends Transaction {
  readonly status: "success" | "reverted"
  readonly logs: ReadonlyArray<RawLog>
}

export interface Block {
  readonly number: bigint
  readonly hash: TransactionHash
  readonly time: bigint
  readonly transactions: ReadonlyArray<MinedTransaction>
}

const digest = (text: string) => TransactionHash.make(keccak256(toHex(text)))

/** The log that the token contract emits for a transfer. */
const transferLog = (token: Address, { amount, from, to }: MemoryTransfer): RawLog => ({
  address: token.toLowerCase(),
  topics: [transferTopic, padHex(from, { size: 32 }), padHex(to, { size: 32 })].map((topic) =>
    topic.toLowerCase()
  ),
  data: toHex(amount, { size: 32 })
})

export class MemoryLedger {
  readonly #usdc: Address
  readonly #balances = new Map<Address, bigint>()
  readonly #places = new Map<TransactionHash, bigint>()
  #blocks: Array<Block> = []
  #pool: Array<Transaction> = []
  #counter = 0

  constructor(usdc: Address) {
    this.#usdc = usdc
    this.mine(0n)
  }

  get head(): bigint {
    return BigInt(this.#blocks.length - 1)
  }

  balance(address: Address): bigint {
    return this.#balances.get(address) ?? 0n
  }

  fund(address: Address, atomicUsdc: bigint): void {
    this.#balances.set(address, this.balance(address) + atomicUsdc)
  }

  submit(transaction: Omit<Transaction, "hash">): TransactionHash {
    this.#counter += 1
    const hash = digest(`transaction ${this.#usdc} ${this.#counter}`)
    this.#pool.push({ ...transaction, hash })
    return hash
  }

  /** Seals all waiting transactions into one block. `time` is in Unix seconds. */
  mine(time: bigint): void {
    const number = BigInt(this.#blocks.length)
    this.#counter += 1
    const transactions = this.#pool.map((transaction) => this.#execute(transaction))
    this.#pool = []
    for (const { hash } of transactions) this.#places.set(hash, number)
    this.#blocks.push({ number, hash: digest(`block ${this.#usdc} ${this.#counter}`), time, transactions })
  }

  /** Replaces the last `depth` blocks; with `keep`, the first new block contains their transactions again. */
  reorganise(depth: number, keep: boolean, time: bigint): void {
    const removed = this.#blocks.splice(Math.max(1, this.#blocks.length - depth))
    const transactions = removed.flatMap((block) => block.transactions)
    for (const transaction of transactions.toReversed()) {
      this.#places.delete(transaction.hash)
      if (transaction.status === "success") this.#move(transaction.transfers, -1n)
    }
    if (keep) this.#pool.unshift(...transactions)
    for (const _ of removed) this.mine(time)
  }

  /** The transaction as shown by a node that has reached `head`. */
  facts(hash: TransactionHash, head: bigint): TransactionFacts | undefined {
    const number = this.#places.get(hash)
    const block = number === undefined || number > head ? undefined : this.#blocks[Number(number)]
    const transaction = block?.transactions.find((candidate) => candidate.hash === hash)
    if (block === undefined || transaction === undefined) return undefined
    return {
      blockNumber: block.number,
      blockHash: block.hash,
      canonicalHash: block.hash,
      blockTime: block.time,
      status: transaction.status,
      logs: transaction.logs,
      head,
      tagged: { safe: head, finalized: head },
      unanimous: true
    }
  }

  /** The block at a height. */
  block(number: bigint): Block | undefined {
    return this.#blocks[Number(number)]
  }

  /** The number of transactions with a transfer of the address that are mined up to a height. */
  sent(address: Address, height: bigint): bigint {
    const all = this.#blocks
      .filter(({ number }) => number <= height)
      .flatMap(({ transactions }) => transactions)
    return BigInt(all.filter(({ transfers }) => transfers.some(({ from }) => from === address)).length)
  }

  #execute(transaction: Transaction): MinedTransaction {
    const usdc = transaction.transfers.filter(({ token = this.#usdc }) => token === this.#usdc)
    const spent = new Map<Address, bigint>()
    for (const { amount, from } of usdc) spent.set(from, (spent.get(from) ?? 0n) + amount)
    const covered = [...spent].every(([address, total]) => this.balance(address) >= total)
    if (transaction.reverts || !covered) return { ...transaction, status: "reverted", logs: [] }
    this.#move(usdc, 1n)
    const logs = transaction.transfers.map((transfer) => transferLog(transfer.token ?? this.#usdc, transfer))
    return { ...transaction, status: "success", logs: [...logs, ...transaction.extraLogs] }
  }

  #move(transfers: ReadonlyArray<MemoryTransfer>, sign: bigint): void {
    for (const { amount, from, to, token = this.#usdc } of transfers) {
      if (token !== this.#usdc) continue
      this.#balances.set(from, this.balance(from) - sign * amount)
      this.#balances.set(to, this.balance(to) + sign * amount)
    }
  }
}
