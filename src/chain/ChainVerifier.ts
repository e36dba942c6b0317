// Proof of payment: what the chain itself shows, read over RPC. A doubt is pending, never settled and never refused.
import { Context, Effect, Layer, Schema } from "effect"
import { encodeFunctionData, getAddress, parseAbi } from "viem"
import { Address, type Env } from "../domain/Chain.ts"
import { finalityFor, type SettlementLevels } from "../domain/Finality.ts"
import { byEnv, networks, settlementLevelsOf } from "../domain/networks.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { statusOf, verificationOf } from "./ChainVerifier/Agreement.ts"
import { blockBefore } from "./ChainVerifier/blockBefore.ts"
import { type MemoryVerifierOptions, makeChainVerifierMemory } from "./ChainVerifier/ChainVerifierMemory.ts"
import { checkNodes } from "./ChainVerifier/checkNodes.ts"
import { makeObservations, type ObservationOptions } from "./ChainVerifier/Observations.ts"
import { rangeQuery, readingOf } from "./ChainVerifier/rangeQuery.ts"
import { blockQuery } from "./ChainVerifier/transactionQuery.ts"
import { usedNonces } from "./ChainVerifier/usedNonces.ts"
import type { Verifier } from "./ChainVerifier/Verifier.ts"
import { MemoryChain } from "./MemoryChain.ts"
import { everyTransfer } from "./ReceiverFilter.ts"
import { RpcPool } from "./RpcPool.ts"
import { Account, BlockHeader, Bytes, Quantity, Receipt, Word } from "./RpcSchemas.ts"
import { BlockStatus } from "./Verification.ts"

export interface ChainVerifierOptions extends ObservationOptions {
  /** Blocks that must be on top of a transfer's block, 0 to 64. Default 1. */
  readonly confirmations?: { readonly [E in Env]?: number }
  /** Blocks after which a settled transfer counts as final. Default: the network's rule. */
  readonly finalityDepth?: { readonly [E in Env]?: number }
  /** The levels at which transfers settle. Default: the network's. */
  readonly settlementLevels?: { readonly [E in Env]?: SettlementLevels }
}

const Sent = Schema.NullOr(Schema.Struct({ from: Account, nonce: Quantity }))

const balanceOf = parseAbi(["function balanceOf(address) view returns (uint256)"])

const make = Effect.fnUntraced(function* (options: ChainVerifierOptions) {
  const pool = yield* RpcPool
  const finalityRules = byEnv((env) => {
    const blocks = options.finalityDepth?.[env]
    return blocks === undefined ? networks[env].finalityRule : { blocks }
  })
  const required = byEnv((env) => options.confirmations?.[env] ?? networks[env].confirmations)
  const levels = byEnv((env) => options.settlementLevels?.[env] ?? settlementLevelsOf(networks[env]))

  const observations = yield* makeObservations(pool, options)

  return ChainVerifier.of({
    verify: Effect.fn("ChainVerifier.verify")(function* (expectation) {
      const { amount, env, transactionId } = expectation
      const finality = finalityFor(amount, expectation.levels ?? levels[env])
      return yield* observations.verification(env, transactionId, (agreement) =>
        verificationOf(agreement, expectation, { finality, confirmations: required[env] })
      )
    }),
    blockStatus: Effect.fn("ChainVerifier.blockStatus")(function* (env, settled) {
      const agreement = yield* observations.fresh(env, settled.transactionId)
      const status = statusOf(env, agreement, settled, finalityRules[env])
      if (status._tag !== "Dropped" || status.reason !== "not_included") return status
      // No reorganisation is proven by a node that has forgotten the transaction but still shows its block, nor by one
      // that shows no block there, for example because another machine responds at its address.
      const block = yield* pool.poll(env, blockQuery(settled.blockNumber))
      const hash = block.agreed?.[0]
      return hash !== undefined && hash !== settled.blockHash
        ? status
        : BlockStatus.Unknown({ reason: block.contradiction ? "disagreement" : "lagging" })
    }),
    readBalance: Effect.fn("ChainVerifier.readBalance")(function* (env, address) {
      const data = encodeFunctionData({ abi: balanceOf, args: [address] })
      return yield* pool.first(env, (node) =>
        Effect.all(
          {
            usdcAtomic: node
              .call("eth_call", [{ to: networks[env].usdc.address, data }, "latest"], Word)
              .pipe(Effect.map(BigInt)),
            gasWei: node.call("eth_getBalance", [address, "latest"], Quantity)
          },
          { concurrency: 2 }
        )
      )
    }),
    balanceAt: Effect.fn("ChainVerifier.balanceAt")(function* (env, address, height) {
      const data = encodeFunctionData({ abi: balanceOf, args: [address] })
      return yield* pool.agreedAnswer(env, (node) =>
        node
          .call("eth_call", [{ to: networks[env].usdc.address, data }, `0x${height.toString(16)}`], Word)
          .pipe(Effect.map(BigInt))
      )
    }),
    blockBefore: Effect.fn("ChainVerifier.blockBefore")(function* (env, at, upTo) {
      const timeOf = (height: bigint) =>
        pool.agreedAnswer(env, (node) =>
          Effect.map(
            node.call("eth_getBlockByNumber", [`0x${height.toString(16)}`, false], BlockHeader),
            (block) => block?.timestamp
          )
        )
      return yield* blockBefore(timeOf, at, upTo)
    }),
    account: Effect.fn("ChainVerifier.account")(function* (env, address) {
      const answers = yield* pool.gather(env, (node) =>
        Effect.all(
          {
            head: node.call("eth_blockNumber", [], Quantity),
            nonce: node.call("eth_getTransactionCount", [address, "latest"], Quantity),
            pending: node.call("eth_getTransactionCount", [address, "pending"], Quantity),
            code: node.call("eth_getCode", [address, "latest"], Bytes)
          },
          { concurrency: 4 }
        )
      )
      const falling = (figures: ReadonlyArray<bigint>) =>
        figures.toSorted((one, other) => (one < other ? 1 : -1))
      // With three or more nodes, a single one that runs ahead is ignored: its nonce would never be the next to be
      // mined.
      const nonce = falling(answers.map((answer) => answer.nonce))[pool.nodes(env).length > 2 ? 1 : 0] ?? 0n
      const [pending = 0n] = falling(answers.map((answer) => answer.pending))
      // A height that only one node claims is ignored.
      const head = falling(answers.map((answer) => answer.head))[Math.floor(answers.length / 2)] ?? 0n
      // A contract wallet, or an account that has delegated to one (EIP-7702).
      const hasCode = answers.some(({ code }) => code !== "0x")
      return hasCode ? { head, nonce: null, pending: null } : { head, nonce, pending }
    }),
    sender: Effect.fn("ChainVerifier.sender")(function* (env, transactionId) {
      const transaction = yield* pool.agreedAnswer(
        env,
        (node) => node.call("eth_getTransactionByHash", [transactionId], Sent),
        (answer) => (answer === null ? "none" : `${answer.from} ${answer.nonce}`)
      )
      return transaction
        ? { address: Address.make(getAddress(transaction.from)), nonce: transaction.nonce }
        : undefined
    }),
    usedAuthorizations: Effect.fn("ChainVerifier.usedAuthorizations")(function* (env, transactionId, payer) {
      return yield* pool.agreedAnswer(
        env,
        (node) =>
          Effect.map(node.call("eth_getTransactionReceipt", [transactionId], Receipt), (receipt) =>
            receipt === null ? undefined : usedNonces(networks[env].usdc.address, payer, receipt.logs)
          ),
        (nonces) => nonces?.join(" ") ?? "unknown"
      )
    }),
    hasUsedNonce: Effect.fn("ChainVerifier.hasUsedNonce")(function* (env, address, nonce, height) {
      const block = `0x${height.toString(16)}`
      const isUsed = yield* pool.agreedAnswer(env, (node) =>
        Effect.all(
          {
            next: node.call("eth_getTransactionCount", [address, block], Quantity),
            code: node.call("eth_getCode", [address, block], Bytes)
          },
          { concurrency: 2 }
        ).pipe(Effect.map(({ code, next }) => next > nonce && code === "0x"))
      )
      return isUsed === true
    }),
    readTransfers: Effect.fn("ChainVerifier.readTransfers")(function* (
      env,
      from,
      to,
      filter = everyTransfer
    ) {
      return readingOf(env, yield* pool.poll(env, rangeQuery(env, from, to, filter)))
    }),
    headBlock: Effect.fn("ChainVerifier.headBlock")(function* (env) {
      const block = yield* pool.head(env)
      return { number: block.number, time: block.timestamp }
    }),
    checkNetwork: Effect.fn("ChainVerifier.checkNetwork")(function* (env) {
      return yield* checkNodes(env, pool.nodes(env))
    })
  })
})

export class ChainVerifier extends Context.Service<ChainVerifier, Verifier>()(
  "quittance/chain/ChainVerifier"
) {
  static readonly layer = (options: ChainVerifierOptions = {}): Layer.Layer<ChainVerifier, never, RpcPool> =>
    Layer.effect(ChainVerifier, make(options))

  /** With TESTNET_CONFIRMATIONS, FINALITY_DEPTH, LIVE_FAST_LIMIT and LIVE_SAFE_LIMIT. */
  static readonly layerConfig: Layer.Layer<ChainVerifier, never, RpcPool | AppConfig> = Layer.unwrap(
    Effect.map(AppConfig, ({ confirmations, finalityDepth, settlementLevels }) =>
      ChainVerifier.layer({ confirmations, finalityDepth, settlementLevels })
    )
  )

  /** The same verdicts for an in-memory chain, which `MemoryChain` controls. */
  static readonly layerMemoryWith = (
    options: MemoryVerifierOptions
  ): Layer.Layer<ChainVerifier | MemoryChain> =>
    Layer.effect(ChainVerifier, makeChainVerifierMemory(options)).pipe(Layer.provideMerge(MemoryChain.layer))

  /** `layerMemoryWith` the default confirmations. */
  static readonly layerMemory: Layer.Layer<ChainVerifier | MemoryChain> = ChainVerifier.layerMemoryWith({})
}
