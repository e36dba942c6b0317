// The chain itself: forks of blocks, a mempool, balances of USDC and gas, and account nonces. Each node decides what it
// shows of the chain.
import { type Hex, keccak256, padHex, toHex } from "viem"
import { transferTopic } from "../../../src/chain/ChainVerifier/TransferLog.ts"
import { type Address, TransactionHash } from "../../../src/domain/Chain.ts"
import { moneyNetwork } from "../../support/moneyNetwork.ts"
import type { Draw } from "../Draw.ts"
import type { Plan } from "../Plan.ts"
import { keyOf, readRaw, type Spending, spendingLog } from "./authorizations.ts"

const { usdc } = moneyNetwork

export interface Move {
  readonly from: Address
  readonly to: Address
  /** Atomic units. */
  readonly amount: bigint
  /** The contract that emits the log; USDC if absent. Only USDC moves balances. */
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
  /** Its moves in blocks of odd height instead: a contract's effect depends on its block. */
  readonly movesInOdd?: ReadonlyArray<Move>
  /** Events that are not transfers of the token, before the transfers. */
  readonly logs?: ReadonlyArray<Log>
  /** The number of its own logs before the transfers; one more in blocks of odd height. */
  readonly noise: number
  readonly reverts: boolean | "in odd blocks" | "in even blocks"
  /** The authorization that it uses. */
  readonly spending?: Spending
  /** For wallets whose gas counts: the limit, and the offer for each gas in wei. */
  readonly gas?: { readonly limit: bigint; readonly maxFee: bigint }
}

export interface Mined {
  readonly transaction: Transaction
  readonly succeeded: boolean
  /** Its moves: none if it has reverted. */
  readonly moves: ReadonlyArray<Move>
  readonly logs: ReadonlyArray<Log>
  /** Index of its first log in the block. */
  readonly firstLog: number
  /** The wei that its sender has paid. */
  readonly fee: bigint
}

/** A node's error when it refuses a transaction. */
export class Untaken extends Error {}

/** More than any world requires. */
const countedDepth = 24

/** The gas of a transfer by authorization. */
export const transferGas = 62_000n

export interface Block {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
  /** Unix seconds. */
  readonly time: number
  readonly mined: ReadonlyArray<Mined>
}

/** The blocks up to some height, and the places of its transactions. */
export class Fork {
  readonly blocks: Array<Block>
  readonly places = new Map<string, number>()
  /** Used authorizations, by payer and nonce, with the block that used them. */
  readonly spent = new Map<string, { readonly number: number; readonly mined: Mined }>()
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
    for (const mined of block.mined) {
      const { transaction } = mined
      const { spending } = transaction
      if (spending !== undefined && mined.succeeded)
        this.spent.set(keyOf(spending.payer, spending.nonce), { number: block.number, mined })
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

  /** The transaction that has used an authorization, up to a height. */
  spentBy(payer: string, nonce: string, height = this.height): Mined | undefined {
    const found = this.spent.get(keyOf(payer, nonce))
    return found === undefined || found.number > height ? undefined : found.mined
  }

  find(hash: string, height: number): { readonly block: Block; readonly mined: Mined } | undefined {
    const number = this.places.get(hash)
    const block = number === undefined || number > height ? undefined : this.blocks[number]
    const mined = block?.mined.find(({ transaction }) => transaction.hash === hash)
    return block === undefined || mined === undefined ? undefined : { block, mined }
  }
}

const addressWord = (address: Address) => padHex(address, { size: 32 }).toLowerCase()

export const logOf = ({ amount, from, to, token = usdc.address }: Move): Log => ({
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
  /** Transactions in any block that was ever canonical. */
  readonly everMined = new Set<string>()
  /** The most blocks that were ever on top of a transaction's block, up to `countedDepth`. */
  readonly deepest = new Map<string, number>()
  /** Transactions in blocks that were replaced. */
  readonly everReplaced = new Set<string>()
  /** The wei of wallets whose gas counts. */
  readonly wei = new Map<Address, bigint>()
  /** The service's wallet, which is the only one that sends raw transactions. */
  relayer: Address | undefined
  /** The number of blocks below the head at which nodes set a tag. */
  readonly tagged: { readonly safe: number; readonly finalized: number }
  /** A height that somebody waits for. */
  awaitedHeight = 0
  /** The next block's price for each gas, in wei. */
  price = 1_000_000n
  #pool: Array<Transaction> = []
  readonly #draw: Draw

  constructor(draw: Draw, time: number, { finality, safety }: Pick<Plan, "finality" | "safety">) {
    this.tagged = { safe: safety, finalized: finality }
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

  /** True if the next block may include a transaction: none that waits for an earlier one of its sender. */
  get isWaiting(): boolean {
    return this.#pool.some(({ nonce, sender }) => nonce === this.fork.nonceAt(sender, this.fork.height))
  }

  /** Blocks since the last one with a transaction. */
  get sinceBusy(): number {
    const { blocks, height } = this.fork
    return (
      height -
      Math.max(
        0,
        blocks.findLastIndex(({ mined }) => mined.length > 0)
      )
    )
  }

  /** The nonce that a wallet uses next. */
  pendingNonce(account: string): number {
    const mined = this.fork.nonceAt(account, this.fork.height)
    return mined + this.#pool.filter(({ sender, nonce }) => sender === account && nonce >= mined).length
  }

  /** Adds to the mempool; replaces one of the same sender and nonce. */
  submit(
    transaction: Omit<Transaction, "hash">,
    hash: TransactionHash = TransactionHash.make(this.#hash())
  ): Transaction {
    const sent = { ...transaction, hash }
    this.transactions.set(sent.hash, sent)
    this.#pool = this.#pool.filter(
      ({ sender, nonce }) => sender !== transaction.sender || nonce !== transaction.nonce
    )
    this.#pool.push(sent)
    return sent
  }

  /** Adds a transaction signed by a wallet whose gas counts; fails as nodes do. */
  submitRaw(sender: Address, raw: Hex): Transaction {
    const { call, gas, maxFee, nonce } = readRaw(raw)
    const hash = TransactionHash.make(keccak256(raw))
    if (this.#pool.some((one) => one.hash === hash)) throw new Untaken("already known")
    if (nonce < this.fork.nonceAt(sender, this.fork.height)) throw new Untaken("nonce too low")
    if (this.weiOf(sender) < gas * maxFee) throw new Untaken("insufficient funds for gas * price + value")
    const waiting = this.#pool.find((one) => one.sender === sender && one.nonce === nonce)
    if (waiting?.gas !== undefined && maxFee * 10n < waiting.gas.maxFee * 11n)
      throw new Untaken("replacement transaction underpriced")
    const moves =
      call?.to === undefined ? [] : [{ from: call.spending.payer, to: call.to, amount: call.amount }]
    return this.submit(
      {
        sender,
        nonce,
        moves,
        noise: 0,
        reverts: false,
        gas: { limit: gas, maxFee },
        ...(call === undefined ? {} : { spending: call.spending })
      },
      hash
    )
  }

  weiOf(address: Address): bigint {
    return this.wei.get(address) ?? 0n
  }

  /** The reason that a transfer by authorization or its cancellation would revert now. */
  obstacle(
    { nonce, payer, validAfter, validBefore }: Spending,
    amount: bigint,
    height: number,
    time: number
  ) {
    if (this.fork.spentBy(payer, nonce, height) !== undefined) return "the authorization is used"
    if (BigInt(time) <= validAfter || BigInt(time) >= validBefore) return "the authorization is not valid now"
    return this.balance(payer) < amount ? "the payer lacks the amount" : undefined
  }

  /** Forgets a waiting transaction, because a node's pool is no promise. */
  dropFromPool(hash: string): void {
    this.#pool = this.#pool.filter((one) => one.hash !== hash)
  }

  /** A block with the waiting transactions that are valid, each with the given probability. */
  mine(time: number, probability = 1): Block {
    const number = this.fork.height + 1
    const last = this.fork.blocks[number - 1]
    const at = Math.max(time, (last?.time ?? 0) + 1)
    const spent = new Set<string>()
    const mined: Array<Mined> = []
    const left: Array<Transaction> = []
    const nonces = new Map<string, number>()
    let logs = 0
    for (const transaction of this.#pool.toSorted((one, other) => one.nonce - other.nonce)) {
      const { nonce, sender } = transaction
      const next = nonces.get(sender) ?? this.fork.nonceAt(sender, this.fork.height)
      if (nonce < next) continue
      const isCheap = transaction.gas !== undefined && transaction.gas.maxFee < this.price
      if (nonce > next || isCheap || !this.#draw.chance(probability)) {
        left.push(transaction)
        continue
      }
      nonces.set(sender, next + 1)
      const done = this.#execute(transaction, number, at, logs, spent)
      logs += done.logs.length
      mined.push(done)
      this.everMined.add(transaction.hash)
    }
    this.#pool = left
    const block: Block = {
      number,
      hash: this.#hash(),
      parentHash: last?.hash ?? "",
      time: at,
      mined
    }
    this.fork.add(block)
    for (let depth = 0; depth <= countedDepth; depth++)
      for (const { transaction } of this.fork.blocks[number - depth]?.mined ?? [])
        if (depth > (this.deepest.get(transaction.hash) ?? -1)) this.deepest.set(transaction.hash, depth)
    return block
  }

  /** Replaces the last blocks with one more than as many. Their transactions wait again, unless they are lost. */
  reorganise(depth: number, time: number, lost: number): void {
    const kept = this.fork.blocks.slice(0, Math.max(1, this.fork.blocks.length - depth))
    const removed = this.fork.blocks.slice(kept.length)
    const again: Array<Transaction> = []
    for (const { mined } of removed.toReversed())
      for (const { fee, moves, transaction } of mined.toReversed()) {
        if (fee > 0n) this.wei.set(transaction.sender, this.weiOf(transaction.sender) + fee)
        this.#move(moves, -1n)
        this.everReplaced.add(transaction.hash)
        if (!this.#draw.chance(lost)) again.unshift(transaction)
      }
    this.#pool = [...again, ...this.#pool]
    this.fork = new Fork(kept)
    for (let index = 0; index <= removed.length; index++) this.mine(time, 0.7)
  }

  #execute(
    transaction: Transaction,
    number: number,
    time: number,
    firstLog: number,
    spent: Set<string>
  ): Mined {
    const { gas, logs = [], noise, sender, spending } = transaction
    const isOdd = number % 2 === 1
    const moves = (isOdd ? transaction.movesInOdd : undefined) ?? transaction.moves
    const reverts =
      transaction.reverts === "in odd blocks"
        ? isOdd
        : transaction.reverts === "in even blocks"
          ? !isOdd
          : transaction.reverts
    const taken = new Map<Address, bigint>()
    for (const { amount, from, token } of moves)
      if (token === undefined) taken.set(from, (taken.get(from) ?? 0n) + amount)
    const key = spending === undefined ? undefined : keyOf(spending.payer, spending.nonce)
    const isGood =
      spending === undefined ||
      (key !== undefined &&
        !spent.has(key) &&
        this.obstacle(spending, 0n, number - 1, time) === undefined &&
        (gas === undefined || gas.limit >= transferGas))
    const covered = [...taken].every(([address, sum]) => this.balance(address) >= sum)
    const fee = gas === undefined ? 0n : (gas.limit < transferGas ? gas.limit : transferGas) * this.price
    if (fee > 0n) this.wei.set(sender, this.weiOf(sender) - fee)
    if (reverts || !covered || !isGood)
      return { transaction, succeeded: false, moves: [], logs: [], firstLog, fee }
    if (key !== undefined) spent.add(key)
    this.#move(moves, 1n)
    const own = Array.from({ length: noise + (noise > 0 ? number % 2 : 0) }, () => noiseLog)
    const signed = spending === undefined ? [] : [spendingLog(spending)]
    const all = [...own, ...logs, ...signed, ...moves.map(logOf)]
    return { transaction, succeeded: true, moves, logs: all, firstLog, fee }
  }

  #move(moves: ReadonlyArray<Move>, sign: bigint): void {
    for (const { amount, from, to, token } of moves) {
      if (token !== undefined) continue
      this.balances.set(from, this.balance(from) - sign * amount)
      this.balances.set(to, this.balance(to) + sign * amount)
    }
  }
}
