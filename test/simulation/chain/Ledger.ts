// The chain itself: forks of blocks, a mempool, balances of USDC and gas, and account nonces. What each
// node shows of it is the node's.
import { padHex, toHex } from "viem"
import { transferTopic } from "../../../src/chain/ChainVerifier/TransferLog.ts"
import { type Address, networks, TransactionHash } from "../../../src/domain/Chain.ts"
import type { Draw } from "../Draw.ts"

const { usdc } = networks.test

export interface Move {
  readonly from: Address
  readonly to: Address
  /** Atomic units. */
  readonly amount: bigint
  /** The contract that emits the log; USDC when absent, which alone moves balances. */
  readonly token?: Address
}

export interface Log {
  readonly address: string
  readonly topics: ReadonlyArray<string>
  readonly data: string
}

export interface Transaction {
  readonly hash: TransactionHash
  readonly sender: Address
  readonly nonce: number
  readonly moves: ReadonlyArray<Move>
  /** Emits so many logs of its own before the transfers, in blocks of odd height one more. */
  readonly noise: number
  readonly reverts: boolean
}

export interface Mined {
  readonly transaction: Transaction
  readonly succeeded: boolean
  readonly logs: ReadonlyArray<Log>
  /** Index of its first log in the block. */
  readonly firstLog: number
}

export interface Block {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
  /** Unix seconds. */
  readonly time: number
  readonly mined: ReadonlyArray<Mined>
}

/** Blocks up to some height, and where its transactions lie. */
export class Fork {
  readonly blocks: Array<Block>
  readonly places = new Map<string, number>()
  readonly sent = new Map<string, Array<number>>()

  constructor(blocks: ReadonlyArray<Block>) {
    this.blocks = []
    for (const block of blocks) this.add(block)
  }

  get height(): number {
    return this.blocks.length - 1
  }

  add(block: Block): void {
    this.blocks.push(block)
    for (const { transaction } of block.mined) {
      this.places.set(transaction.hash, block.number)
      const sent = this.sent.get(transaction.sender)
      if (sent === undefined) this.sent.set(transaction.sender, [block.number])
      else sent.push(block.number)
    }
  }

  /** The next nonce of an account in the block at a height. */
  nonceAt(account: string, height: number): number {
    return (this.sent.get(account) ?? []).filter((number) => number <= height).length
  }

  find(hash: string, height: number): { readonly block: Block; readonly mined: Mined } | undefined {
    const number = this.places.get(hash)
    const block = number === undefined || number > height ? undefined : this.blocks[number]
    const mined = block?.mined.find(({ transaction }) => transaction.hash === hash)
    return block === undefined || mined === undefined ? undefined : { block, mined }
  }
}

const addressWord = (address: Address) => padHex(address, { size: 32 }).toLowerCase()

const logOf = ({ amount, from, to, token = usdc.address }: Move): Log => ({
  address: token.toLowerCase(),
  topics: [transferTopic, addressWord(from), addressWord(to)],
  data: toHex(amount, { size: 32 })
})

const noiseLog: Log = { address: usdc.address.toLowerCase(), topics: [`0x${"11".repeat(32)}`], data: "0x" }

export class Ledger {
  fork: Fork
  readonly balances = new Map<Address, bigint>()
  /** Every transaction that was ever sent, by its hash. */
  readonly transactions = new Map<string, Transaction>()
  /** Transactions that some block that was once canonical has carried out. */
  readonly everMined = new Set<string>()
  #pool: Array<Transaction> = []
  readonly #draw: Draw

  constructor(draw: Draw, time: number) {
    this.#draw = draw.of("ledger")
    this.fork = new Fork([])
    this.fork.add({ number: 0, hash: this.#hash(), parentHash: `0x${"0".repeat(64)}`, time, mined: [] })
  }

  #hash(): string {
    return toHex(this.#draw.bytes(32))
  }

  balance(address: Address): bigint {
    return this.balances.get(address) ?? 0n
  }

  fund(address: Address, amount: bigint): void {
    this.balances.set(address, this.balance(address) + amount)
  }

  get pool(): ReadonlyArray<Transaction> {
    return this.#pool
  }

  /** Whether the next block may carry a transaction: none waits for an earlier one of its sender. */
  get isWaiting(): boolean {
    return this.#pool.some(({ nonce, sender }) => nonce === this.fork.nonceAt(sender, this.fork.height))
  }

  /** The nonce that a wallet uses next. */
  pendingNonce(account: string): number {
    const mined = this.fork.nonceAt(account, this.fork.height)
    return mined + this.#pool.filter(({ sender, nonce }) => sender === account && nonce >= mined).length
  }

  /** Into the mempool; one of the same sender and nonce gives way. */
  submit(transaction: Omit<Transaction, "hash">): Transaction {
    const sent = { ...transaction, hash: TransactionHash.make(this.#hash()) }
    this.transactions.set(sent.hash, sent)
    this.#pool = this.#pool.filter(
      ({ sender, nonce }) => sender !== transaction.sender || nonce !== transaction.nonce
    )
    this.#pool.push(sent)
    return sent
  }

  /** Forgets what waits: a node's pool is no promise. */
  dropFromPool(hash: string): void {
    this.#pool = this.#pool.filter((one) => one.hash !== hash)
  }

  /** A block with what waits and may go, each with the given probability. */
  mine(time: number, probability = 1): Block {
    const number = this.fork.height + 1
    const mined: Array<Mined> = []
    const left: Array<Transaction> = []
    const nonces = new Map<string, number>()
    let logs = 0
    for (const transaction of this.#pool.toSorted((one, other) => one.nonce - other.nonce)) {
      const { nonce, sender } = transaction
      const next = nonces.get(sender) ?? this.fork.nonceAt(sender, this.fork.height)
      if (nonce < next) continue
      if (nonce > next || !this.#draw.chance(probability)) {
        left.push(transaction)
        continue
      }
      nonces.set(sender, next + 1)
      const done = this.#execute(transaction, number, logs)
      logs += done.logs.length
      mined.push(done)
      this.everMined.add(transaction.hash)
    }
    this.#pool = left
    const last = this.fork.blocks[number - 1]
    const block: Block = {
      number,
      hash: this.#hash(),
      parentHash: last?.hash ?? "",
      time: Math.max(time, (last?.time ?? 0) + 1),
      mined
    }
    this.fork.add(block)
    return block
  }

  /** Replaces the last blocks by as many and one more. What they carried waits again, unless it is lost. */
  reorganise(depth: number, time: number, lost: number): void {
    const kept = this.fork.blocks.slice(0, Math.max(1, this.fork.blocks.length - depth))
    const removed = this.fork.blocks.slice(kept.length)
    const again: Array<Transaction> = []
    for (const { mined } of removed.toReversed())
      for (const { succeeded, transaction } of mined.toReversed()) {
        if (succeeded) this.#move(transaction.moves, -1n)
        if (!this.#draw.chance(lost)) again.unshift(transaction)
      }
    this.#pool = [...again, ...this.#pool]
    this.fork = new Fork(kept)
    for (let index = 0; index <= removed.length; index++) this.mine(time, 0.7)
  }

  #execute(transaction: Transaction, number: number, firstLog: number): Mined {
    const { moves, noise, reverts } = transaction
    const spent = new Map<Address, bigint>()
    for (const { amount, from, token } of moves)
      if (token === undefined) spent.set(from, (spent.get(from) ?? 0n) + amount)
    const covered = [...spent].every(([address, sum]) => this.balance(address) >= sum)
    if (reverts || !covered) return { transaction, succeeded: false, logs: [], firstLog }
    this.#move(moves, 1n)
    const own = Array.from({ length: noise + (noise > 0 ? number % 2 : 0) }, () => noiseLog)
    return { transaction, succeeded: true, logs: [...own, ...moves.map(logOf)], firstLog }
  }

  #move(moves: ReadonlyArray<Move>, sign: bigint): void {
    for (const { amount, from, to, token } of moves) {
      if (token !== undefined) continue
      this.balances.set(from, this.balance(from) - sign * amount)
      this.balances.set(to, this.balance(to) + sign * amount)
    }
  }
}
