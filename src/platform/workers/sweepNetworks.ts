// Work that queries the chain: each network has its own sweep, so that no network's money waits for the nodes of
// another.
import { Effect, type Scope } from "effect"
import type { Env } from "../../domain/Chain.ts"
import { envs, networks } from "../../domain/networks.ts"
import { type LeasedBatch, processBatch } from "./processBatch.ts"
import { startWorker } from "./startWorker.ts"

export interface NetworkWork<A, E, R, E2, R2> extends Omit<LeasedBatch<A, E, R, E2, R2>, "take"> {
  readonly take: (
    env: Env,
    at: Date,
    leaseUntil: Date,
    limit: number
  ) => Effect.Effect<ReadonlyArray<A>, E, R>
}

/** A batch of one network's queue. True if more may be due. */
export const processBatchOn = <A, E, R, E2, R2>(env: Env, work: NetworkWork<A, E, R, E2, R2>) =>
  processBatch({ ...work, take: (at, leaseUntil, limit) => work.take(env, at, leaseUntil, limit) })

/** A sweep for each network, named `sweep` in the log; runs until its scope closes. */
export const sweepNetworks = <A, E, R, E2, R2>(
  sweep: string,
  pause: Effect.Effect<void>,
  work: NetworkWork<A, E, R, E2, R2>
): Effect.Effect<void, never, R | R2 | Scope.Scope> =>
  Effect.forEach(
    envs,
    (env) => startWorker(`${sweep} of ${networks[env].name}`, pause, processBatchOn(env, work)),
    {
      discard: true
    }
  )
