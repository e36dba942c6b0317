// The chain that a developer controls in a test: fund, transfer, mine, reorganise, and the faults of nodes.
// `ChainVerifier.layerMemory` judges what happens on it.
import { Clock, Context, Effect, Layer } from "effect"
import type { Address, Env, TransactionHash } from "../domain/Chain.ts"
import { byEnv, faucetNetwork, networks } from "../domain/networks.ts"
import type { Agreement } from "./ChainVerifier/Agreement.ts"
import { transfersOf } from "./ChainVerifier/rangeQuery.ts"
import type { RawLog } from "./ChainVerifier/TransferLog.ts"
import { MemoryLedger, type MemoryTransfer } from "./MemoryChain/MemoryLedger.ts"
import { type Balance, RangeReading } from "./Verification.ts"

/** A fault of the simulated nodes: they fail, contradict each other, or behave. */
export type MemoryFault = "none" | "fail" | "lie"

interface Chain {
  readonly ledger: MemoryLedger
  readonly wei: Map<Address, bigint>
  automine: boolean
  lag: number
  fault: MemoryFault
}

const newChain = (env: Env): Chain => ({
  ledger: new MemoryLedger(networks[env].usdc.address),
  wei: new Map(),
  automine: true,
  lag: 0,
  fault: "none"
})

const visible = ({ lag, ledger }: Chain): bigint => {
  const head = ledger.head - BigInt(lag)
  return head < 0n ? 0n : head
}

const blockTime = Effect.map(Clock.currentTimeMillis, (millis) => BigInt(Math.floor(millis / 1000)))

const make = Effect.sync((): typeof MemoryChain.Service => {
  const chains = byEnv(newChain)
  const on = <A>(env: Env | undefined, run: (chain: Chain, time: bigint) => A): Effect.Effect<A> =>
    Effect.map(blockTime, (time) => run(chains[env ?? faucetNetwork.env], time))
  const submit = (env: Env | undefined, transaction: Parameters<MemoryLedger["submit"]>[0]) =>
    on(env, ({ automine, ledger }, time) => {
      const hash = ledger.submit(transaction)
      if (automine) ledger.mine(time)
      return hash
    })
  const plain = { extraLogs: [], reverts: false }

  return {
    fund: (address, { gasWei = 0n, usdcAtomic = 0n }, env) =>
      on(env, ({ ledger, wei }) => {
        ledger.fund(address, usdcAtomic)
        wei.set(address, (wei.get(address) ?? 0n) + gasWei)
      }),
    transfer: (transfer, env) => submit(env, { ...plain, transfers: [transfer] }),
    batch: (transfers, env) => submit(env, { ...plain, transfers }),
    revert: (transfer, env) => submit(env, { ...plain, transfers: [transfer], reverts: true }),
    emit: (logs, env) => submit(env, { ...plain, transfers: [], extraLogs: logs }),
    mine: (blocks = 1, env) =>
      on(env, ({ ledger }, time) => {
        for (let index = 0; index < blocks; index++) ledger.mine(time)
      }),
    automine: (automine, env) => on(env, (chain) => void Object.assign(chain, { automine })),
    reorganise: (depth, transactions, env) =>
      on(env, ({ ledger }, time) => ledger.reorganise(depth, transactions === "keep", time)),
    lag: (lag, env) => on(env, (chain) => void Object.assign(chain, { lag })),
    fault: (fault, env) => on(env, (chain) => void Object.assign(chain, { fault })),
    head: (env) => on(env, ({ ledger }) => ledger.head),
    balance: (address, env) =>
      on(env, ({ ledger, wei }) => ({ usdcAtomic: ledger.balance(address), gasWei: wei.get(address) ?? 0n })),
    agreement: (env, transactionId) =>
      on(env, (chain): Agreement => {
        if (chain.fault === "fail") return { _tag: "Undecided", reason: "rpc_unavailable" }
        if (chain.fault === "lie") return { _tag: "Undecided", reason: "disagreement" }
        const head = visible(chain)
        const facts = chain.ledger.facts(transactionId, head)
        return facts === undefined ? { _tag: "Absent", head } : { _tag: "Included", facts }
      }),
    reading: (env, from, to) =>
      on(env, (chain) => {
        if (chain.fault !== "none") return RangeReading.Unread({ refused: false })
        const blocks = Array.from({ length: Number(to - from) + 1 }, (_, index) =>
          chain.ledger.block(from + BigInt(index))
        ).flatMap((block) => block ?? [])
        const last = blocks.at(-1)
        if (last === undefined || to > visible(chain)) return RangeReading.Behind()
        return RangeReading.Read({
          parentHash: chain.ledger.block(from - 1n)?.hash ?? last.hash,
          blockHash: last.hash,
          blockTime: last.time,
          transfers: transfersOf(
            blocks.flatMap((block) =>
              block.transactions.flatMap(({ hash, logs }) =>
                logs
                  .filter(({ address }) => address === networks[env].usdc.address.toLowerCase())
                  .map((log) => ({
                    ...log,
                    transactionHash: hash,
                    blockNumber: block.number,
                    blockHash: block.hash
                  }))
              )
            )
          ),
          others: []
        })
      }),
    visibleBlock: (env) =>
      on(env, (chain) => {
        const block = chain.fault === "fail" ? undefined : chain.ledger.block(visible(chain))
        return block === undefined ? undefined : { number: block.number, time: block.time }
      }),
    sent: (address, env, height) => on(env, ({ ledger }) => ledger.sent(address, height)),
    visibleHead: (env) => on(env, (chain) => (chain.fault === "fail" ? undefined : visible(chain)))
  }
})

export class MemoryChain extends Context.Service<
  MemoryChain,
  {
    /** Credits atomic USDC and wei without a transaction. */
    readonly fund: (address: Address, balance: Partial<Balance>, env?: Env) => Effect.Effect<void>
    /** Sends one transfer in its own transaction, which reverts if the balance is too low. */
    readonly transfer: (transfer: MemoryTransfer, env?: Env) => Effect.Effect<TransactionHash>
    /** Several transfers in one transaction, all or nothing. */
    readonly batch: (transfers: ReadonlyArray<MemoryTransfer>, env?: Env) => Effect.Effect<TransactionHash>
    /** A transaction that is mined and reverts. */
    readonly revert: (transfer: MemoryTransfer, env?: Env) => Effect.Effect<TransactionHash>
    /** A transaction that emits exactly these logs. */
    readonly emit: (logs: ReadonlyArray<RawLog>, env?: Env) => Effect.Effect<TransactionHash>
    /** Seals blocks; the first contains the waiting transactions. The time is the Clock's. */
    readonly mine: (blocks?: number, env?: Env) => Effect.Effect<void>
    /** True if each transaction is mined immediately (the default), false if it waits for `mine`. */
    readonly automine: (on: boolean, env?: Env) => Effect.Effect<void>
    /** Replaces the last blocks, dropping their transactions or including them again. */
    readonly reorganise: (depth: number, transactions: "drop" | "keep", env?: Env) => Effect.Effect<void>
    /** The nodes see the chain only up to this many blocks below its head. */
    readonly lag: (blocks: number, env?: Env) => Effect.Effect<void>
    /** `fail`: no node responds. `lie`: they contradict each other. `none`: all is well. */
    readonly fault: (fault: MemoryFault, env?: Env) => Effect.Effect<void>
    readonly head: (env?: Env) => Effect.Effect<bigint>
    readonly balance: (address: Address, env?: Env) => Effect.Effect<Balance>
    /** The nodes' agreement about a transaction, faults included. */
    readonly agreement: (env: Env, transactionId: TransactionHash) => Effect.Effect<Agreement>
    /** USDC transfers in a range of blocks, faults included. */
    readonly reading: (env: Env, from: bigint, to: bigint) => Effect.Effect<RangeReading>
    /** The latest block that the nodes show; undefined while they fail. */
    readonly visibleBlock: (
      env: Env
    ) => Effect.Effect<{ readonly number: bigint; readonly time: bigint } | undefined>
    /** The number of an address's transactions that are mined up to a height. */
    readonly sent: (address: Address, env: Env, height: bigint) => Effect.Effect<bigint>
    /** The height that the nodes show; undefined while they fail. */
    readonly visibleHead: (env: Env) => Effect.Effect<bigint | undefined>
  }
>()("quittance/chain/MemoryChain") {
  static readonly layer: Layer.Layer<MemoryChain> = Layer.effect(MemoryChain, make)
}
