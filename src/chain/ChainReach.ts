// The height up to which a majority of the nodes has shown each chain, and whether it makes blocks, as far as this
// process knows. Payments note it when they open: it needs no node.
import { Context, Effect, Layer } from "effect"
import type { Env } from "../domain/Chain.ts"

/**
 * After so long without a reading a height says nothing of now: what is older than a payment would lie above it. The
 * chain is read every five seconds and more often.
 */
const staleMillis = 30_000
/** A chain that makes no block for so long has halted. */
export const haltMillis = 5 * 60_000

export class ChainReach extends Context.Service<
  ChainReach,
  {
    /**
     * To be called before the nodes are asked, and what it returns with the height that they answer: an answer that
     * is heard late, as after the process has been suspended, is as old as the question. `headTime` in Unix seconds.
     */
    readonly reading: (env: Env) => (height: bigint, headTime: bigint) => void
    /** `openedBlock` where the present height is known. */
    readonly openedBlock: (env: Env) => { readonly openedBlock?: bigint }
    /** The time of the chain's newest block, where that is so long ago that it has halted. */
    readonly haltedSince: (env: Env) => Date | undefined
  }
>()("quittance/chain/ChainReach") {
  static readonly layer: Layer.Layer<ChainReach> = Layer.effect(
    ChainReach,
    Effect.clockWith((clock) =>
      Effect.sync(() => {
        const heights = new Map<
          Env,
          { readonly openedBlock: bigint; readonly headAt: number; readonly at: number }
        >()
        const now = () => clock.currentTimeMillisUnsafe()
        const fresh = (env: Env) => {
          const known = heights.get(env)
          return known === undefined || Math.abs(now() - known.at) > staleMillis ? undefined : known
        }
        return {
          reading: (env) => {
            const at = now()
            return (openedBlock, headTime) =>
              void heights.set(env, { openedBlock, headAt: Number(headTime) * 1_000, at })
          },
          openedBlock: (env) => {
            const known = fresh(env)
            return known === undefined ? {} : { openedBlock: known.openedBlock }
          },
          haltedSince: (env) => {
            const known = fresh(env)
            return known !== undefined && now() - known.headAt > haltMillis
              ? new Date(known.headAt)
              : undefined
          }
        }
      })
    )
  )
}
