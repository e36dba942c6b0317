// A short cache of the nodes' answers about a transaction, so repeated reports cost a bounded number of calls.
// Concurrent reports share one round, and an inconclusive answer is cached until the next block.
import { Cache, Clock, Duration, Effect, Option, Schema } from "effect"
import { Env, TransactionHash } from "../../domain/Chain.ts"
import type { RpcPool } from "../RpcPool.ts"
import { Quantity } from "../RpcSchemas.ts"
import type { Verification } from "../Verification.ts"
import type { Agreement } from "./Agreement.ts"
import { agreementOf, transactionQuery } from "./transactionQuery.ts"

export interface ObservationOptions {
  /** The time for which reports of the same transaction share an observation. Default 300 ms. */
  readonly cacheTtl?: Duration.Input
  /** The time for which an inconclusive answer is cached while the head does not move. Default 2 s. */
  readonly negativeCacheTtl?: Duration.Input
}

export interface Observations {
  /** At most `cacheTtl` old. */
  readonly fresh: (env: Env, transactionId: TransactionHash) => Effect.Effect<Agreement>
  /**
   * The verification by `judge`. One that settles nothing may use an observation as old as `negativeCacheTtl`; one that
   * settles never does.
   */
  readonly verification: (
    env: Env,
    transactionId: TransactionHash,
    judge: (agreement: Agreement) => Verification
  ) => Effect.Effect<Verification>
}

interface Remembered {
  readonly at: number
  readonly head: bigint
  readonly agreement: Agreement
}

const Key = Schema.fromJsonString(Schema.Tuple([Env, TransactionHash]))
const keyOf = Schema.encodeSync(Key)
/** Observations in progress. Each is shared for a moment and not cached longer. */
const capacity = 512
/** Cached inconclusive answers. */
const negativeCapacity = 4096

const headOf = (agreement: Agreement): bigint | undefined =>
  agreement._tag === "Included"
    ? agreement.facts.head
    : agreement._tag === "Absent"
      ? agreement.head
      : undefined

export const makeObservations = Effect.fnUntraced(function* (
  pool: RpcPool["Service"],
  options: ObservationOptions
): Effect.fn.Return<Observations> {
  const cacheTtl = options.cacheTtl ?? Duration.millis(300)
  const negativeCacheMillis = Duration.toMillis(options.negativeCacheTtl ?? Duration.seconds(2))

  const observed = yield* Cache.make({
    lookup: (key: string) => {
      const [env, transactionId] = Schema.decodeSync(Key)(key)
      return Effect.map(pool.poll(env, transactionQuery(env, transactionId)), agreementOf)
    },
    capacity,
    timeToLive: cacheTtl
  })
  // One call for all transactions shows whether anything can have changed.
  const heads = yield* Cache.make({
    lookup: (env: Env) =>
      Effect.option(pool.first(env, (node) => node.call("eth_blockNumber", [], Quantity))),
    capacity: 2,
    timeToLive: cacheTtl
  })
  const negatives = new Map<string, Remembered>()

  const remember = (key: string, agreement: Agreement, at: number) => {
    const head = headOf(agreement)
    negatives.delete(key)
    if (head === undefined || negativeCacheMillis === 0) return
    negatives.set(key, { at, head, agreement })
    // In insertion order, so expired observations come first.
    for (const [earlier, cached] of negatives) {
      if (at - cached.at < negativeCacheMillis && negatives.size <= negativeCapacity) break
      negatives.delete(earlier)
    }
  }

  /** The remembered observation, if it is young enough and the chain has no new block. */
  const cachedAgreement = Effect.fnUntraced(function* (env: Env, key: string, now: number) {
    const cached = negatives.get(key)
    if (cached === undefined || now - cached.at >= negativeCacheMillis) return undefined
    const head = yield* Cache.get(heads, env)
    return Option.isSome(head) && head.value <= cached.head ? cached.agreement : undefined
  })

  const fresh: Observations["fresh"] = (env, transactionId) =>
    Cache.get(observed, keyOf([env, transactionId]))

  return {
    fresh,
    verification: Effect.fnUntraced(function* (env, transactionId, judge) {
      const key = keyOf([env, transactionId])
      const now = yield* Clock.currentTimeMillis
      const cached = yield* cachedAgreement(env, key, now)
      const old = cached === undefined ? undefined : judge(cached)
      if (old !== undefined && old._tag !== "Verified") return old
      const agreement = yield* fresh(env, transactionId)
      const verification = judge(agreement)
      if (verification._tag !== "Verified") remember(key, agreement, now)
      return verification
    })
  }
})
