// The chain of the lives: blocks at the network's pace, and reorganisations that never reach below the block that the
// chain calls final. Each transaction that leaves its block is included again, comes back later, or is lost.
import { Effect } from "effect"
import { type Hex, isHex } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import type { LocalChain } from "../../../src/app/dev/LocalChain.ts"
import type { Draw } from "../../simulation/Draw.ts"
import { moneyNetwork } from "../../support/moneyNetwork.ts"

/** anvil calls a block safe, and final, after this many others. */
export const safeDepth = 32
export const finalDepth = 64
/** Blocks after which nothing watches a block any more, on either network. */
const restDepth = finalDepth + 6

interface Mined {
  readonly hash: Hex
  readonly from: Hex
  readonly nonce: number
  readonly height: bigint
}

interface Held {
  readonly raw: Hex
  readonly from: Hex
  readonly nonce: number
  readonly until: bigint
}

const asHex = (value: unknown): Hex => {
  if (!isHex(value)) throw new Error(`${String(value)} is not hex`)
  return value
}

export const makeLivesChain = (chain: LocalChain["Service"], draw: Draw) => {
  const { publicClient } = chain
  const rpc = (method: string, ...params: ReadonlyArray<unknown>) =>
    Effect.runPromise(chain.rpc(method, params))
  let last: Promise<unknown> = Promise.resolve()
  /** A block that is mined during a reorganisation would break the chain. */
  const inTurn = <A>(work: () => Promise<A>): Promise<A> => {
    const next = last.then(work)
    last = next.catch(() => {})
    return next
  }
  const height = () => publicClient.getBlockNumber({ cacheTime: 0 })

  let held: ReadonlyArray<Held> = []
  const lost = new Set<Hex>()
  /** By transaction: the most blocks on top of it when a reorganisation took it out of its block. */
  const dropped = new Map<string, number>()
  const reorganisations: Array<number> = []
  /** No block up to here is replaced. */
  let ground = 0n
  let prices = 0n

  /**
   * Sends the queued transactions again. After a reorganisation anvil (1.7.1) waits for a nonce that its account has
   * used already; a real node offers the transaction to the next block.
   */
  const requeue = async () => {
    const { pending, queued } = await chain.testClient.getTxpoolContent()
    for (const [sender, waiting] of Object.entries(queued)) {
      const own = [...Object.values(pending[asHex(sender)] ?? {}), ...Object.values(waiting)]
      const raws: Array<unknown> = []
      for (const { hash } of own.toSorted((left, right) => Number(left.nonce) - Number(right.nonce)))
        raws.push(await rpc("eth_getRawTransactionByHash", hash))
      await rpc("anvil_removePoolTransactions", sender)
      for (const raw of raws) await rpc("eth_sendRawTransaction", raw).catch(() => {})
    }
  }

  const mineOne = async () => {
    const now = await height()
    await requeue()
    const due = held.filter(({ until }) => until <= now)
    held = held.filter(({ until }) => until > now)
    // The node refuses a transaction whose nonce is used by now.
    for (const { raw } of due) await rpc("eth_sendRawTransaction", raw).catch(() => {})
    await rpc("evm_setNextBlockTimestamp", Math.floor(Date.now() / 1_000))
    await rpc("evm_mine")
  }

  const depthDrawn = () => {
    const kind = draw.fraction()
    if (kind < 0.7) return draw.between(1, 4)
    return kind < 0.9 ? draw.between(5, safeDepth - 1) : draw.between(safeDepth, finalDepth)
  }

  const transactionsIn = async (first: bigint, head: bigint): Promise<ReadonlyArray<Mined>> => {
    const heights = Array.from({ length: Number(head - first) + 1 }, (_, index) => first + BigInt(index))
    const blocks = await Promise.all(
      heights.map((blockNumber) => publicClient.getBlock({ blockNumber, includeTransactions: true }))
    )
    return blocks.flatMap(({ number, transactions }) =>
      transactions.map(({ from, hash, nonce }) => ({ from, hash, nonce, height: number }))
    )
  }

  const reorganise = async (depthAsked: number) => {
    // A transaction in the pool would vanish with the blocks that it builds on.
    await mineOne()
    const head = await height()
    const depth = Math.min(depthAsked, finalDepth, Number(head - ground))
    if (depth < 1) return
    const first = head - BigInt(depth) + 1n
    const again: Array<readonly [Hex, number]> = []
    const included: Array<{ readonly mined: Mined; readonly raw: Hex }> = []
    const transactions = await transactionsIn(first, head)
    for (const ofSender of Map.groupBy(transactions, ({ from }) => from).values()) {
      const sorted = ofSender.toSorted((left, right) => left.nonce - right.nonce)
      // Nonces have no gaps: those that stay away are the last ones.
      const staying = draw.chance(0.6) ? sorted.length : draw.below(sorted.length + 1)
      const comesBack = draw.chance(0.6)
      let offset = 0
      for (const [index, mined] of sorted.entries()) {
        const confirmations = Number(head - mined.height)
        dropped.set(mined.hash, Math.max(dropped.get(mined.hash) ?? 0, confirmations))
        const raw = asHex(await rpc("eth_getRawTransactionByHash", mined.hash))
        if (index < staying) {
          offset = Math.max(offset, Number(mined.height - first) + draw.between(-2, 5))
          offset = Math.min(offset, depth - 1)
          again.push([raw, offset])
          included.push({ mined, raw })
        } else if (comesBack) {
          const until = head + BigInt(draw.between(1, 12))
          held = [...held, { raw, from: mined.from, nonce: mined.nonce, until }]
        } else lost.add(mined.hash)
      }
    }
    await rpc("anvil_reorg", depth, again)
    reorganisations.push(depth)
    // A transaction that its new block could not include is sent again.
    for (const { mined, raw } of included)
      if ((await rpc("eth_getTransactionReceipt", mined.hash)) === null)
        held = [...held, { raw, from: mined.from, nonce: mined.nonce, until: head }]
  }

  const receiptOf = (hash: Hex) => publicClient.getTransactionReceipt({ hash }).catch(() => undefined)

  let isPacing = true
  let isReorganising = true
  const pace = async () => {
    while (isPacing) {
      const began = performance.now()
      await inTurn(mineOne)
      await Bun.sleep(Math.max(0, moneyNetwork.blockMillis - (performance.now() - began)))
    }
  }
  const upset = async () => {
    while (isReorganising) {
      await Bun.sleep(draw.between(4, 12) * Math.max(250, moneyNetwork.blockMillis / 4))
      const depth = depthDrawn()
      if (isReorganising) await inTurn(() => reorganise(depth))
    }
  }

  return {
    reorganisations,
    dropped,
    height,
    /** Makes the present state final, and starts the pace and the reorganisations. */
    begin: async () => {
      await rpc("evm_setAutomine", false)
      for (let count = 0; count <= restDepth; count++) await inTurn(mineOne)
      ground = await height()
      const running = Promise.all([pace(), upset()])
      return {
        /** Ends the reorganisations, sends the held transactions, and makes everything final. */
        calm: async () => {
          isReorganising = false
          await inTurn(async () => {
            held = held.map((transaction) => ({ ...transaction, until: 0n }))
            for (let count = 0; count < restDepth; count++) await mineOne()
          })
        },
        /** As many more blocks at once. */
        mine: (count: number) =>
          inTurn(async () => {
            for (let index = 0; index < count; index++) await mineOne()
          }),
        end: async () => {
          isReorganising = false
          isPacing = false
          await running
        }
      }
    },
    /** Signs and sends with the next nonce. No two transactions are alike. */
    send: (
      account: PrivateKeyAccount,
      to: Hex,
      data: Hex
    ): Promise<{ readonly hash: Hex; readonly nonce: number }> =>
      inTurn(async () => {
        const { address } = account
        const pending = await publicClient.getTransactionCount({ address, blockTag: "pending" })
        const waiting = held.filter(({ from }) => from.toLowerCase() === address.toLowerCase())
        const nonce = Math.max(pending, ...waiting.map((transaction) => transaction.nonce + 1))
        prices++
        const raw = await account.signTransaction({
          ...{ type: "eip1559", chainId: moneyNetwork.chainId, nonce, to, data, gas: 200_000n },
          ...{ maxFeePerGas: 10n ** 10n + prices, maxPriorityFeePerGas: 10n ** 8n + prices }
        })
        return { hash: asHex(await rpc("eth_sendRawTransaction", raw)), nonce }
      }),
    /** True if the transaction never comes back unless somebody sends it again. */
    isLost: async (hash: Hex) => lost.has(hash) && (await receiptOf(hash)) === undefined,
    isMined: async (hash: Hex) => (await receiptOf(hash)) !== undefined
  }
}

export type LivesChain = ReturnType<typeof makeLivesChain>
