// The verifier over `MemoryChain`: the same judgements on the same facts, without a network.

import { Effect } from "effect"
import type { Env } from "../../domain/Chain.ts"
import { finalityFor } from "../../domain/Finality.ts"
import { networks, settlementLevelsOf } from "../../domain/networks.ts"
import { MemoryChain } from "../MemoryChain.ts"
import { unavailable } from "../RpcPool.ts"
import { statusOf, verificationOf } from "./Agreement.ts"
import { blockBefore } from "./blockBefore.ts"
import type { Verifier } from "./Verifier.ts"

export interface MemoryVerifierOptions {
  /** Blocks that must be on top of a transfer's block. Default 1. */
  readonly confirmations?: number
  /** Default: the network's. */
  readonly finalityDepth?: number
}

/** The service of `ChainVerifier.layerMemory`. */
export const makeChainVerifierMemory = Effect.fnUntraced(function* (
  options: MemoryVerifierOptions
): Effect.fn.Return<Verifier, never, MemoryChain> {
  const chain = yield* MemoryChain
  const { confirmations = 1, finalityDepth } = options
  const head = (env: Env) =>
    chain
      .visibleHead(env)
      .pipe(
        Effect.flatMap((visible) =>
          visible === undefined ? Effect.fail(unavailable("rpc_unavailable", env)) : Effect.succeed(visible)
        )
      )
  return {
    verify: (expectation) =>
      chain.agreement(expectation.env, expectation.transactionId).pipe(
        Effect.map((agreement) =>
          verificationOf(agreement, expectation, {
            finality: finalityFor(
              expectation.amount,
              expectation.levels ?? settlementLevelsOf(networks[expectation.env])
            ),
            confirmations
          })
        )
      ),
    blockStatus: (env, settled) =>
      chain
        .agreement(env, settled.transactionId)
        .pipe(
          Effect.map((agreement) =>
            statusOf(
              env,
              agreement,
              settled,
              finalityDepth === undefined ? networks[env].finalityRule : { blocks: finalityDepth }
            )
          )
        ),
    readBalance: (env, address) => Effect.andThen(head(env), chain.balance(address, env)),
    balanceAt: (env, address, height) =>
      Effect.gen(function* () {
        const { usdcAtomic } = yield* chain.balance(address, env)
        const visible = yield* chain.visibleHead(env)
        if (visible === undefined || visible < height) return undefined
        if (visible === height) return usdcAtomic
        const later = yield* chain.reading(env, height + 1n, visible)
        if (later._tag !== "Read") return undefined
        return later.transfers.reduce(
          (sum, { amount, payer, receiver }) =>
            sum - (receiver === address ? amount : 0n) + (payer === address ? amount : 0n),
          usdcAtomic
        )
      }),
    blockBefore: (env, at, upTo) =>
      blockBefore(
        (height) =>
          Effect.map(chain.reading(env, height, height), (reading) =>
            reading._tag === "Read" ? reading.blockTime : undefined
          ),
        at,
        upTo
      ),
    headBlock: (env) =>
      Effect.flatMap(chain.visibleBlock(env), (block) =>
        block === undefined ? Effect.fail(unavailable("rpc_unavailable", env)) : Effect.succeed(block)
      ),
    account: (env, address) =>
      Effect.gen(function* () {
        const height = yield* head(env)
        const nonce = yield* chain.sent(address, env, height)
        return { head: height, nonce, pending: nonce }
      }),
    sender: () => Effect.succeed(undefined),
    usedAuthorizations: () => Effect.succeed([]),
    hasUsedNonce: (env, address, nonce, height) =>
      Effect.map(chain.sent(address, env, height), (sent) => sent > nonce),
    readTransfers: chain.reading,
    checkNetwork: (env) =>
      head(env).pipe(
        Effect.match({
          onSuccess: () =>
            ({ env, status: "ok", message: `${networks[env].name} in memory`, nodes: [] }) as const,
          onFailure: ({ message }) => ({ env, status: "unavailable", message, nodes: [] }) as const
        })
      )
  }
})
