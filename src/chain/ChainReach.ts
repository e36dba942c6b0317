// The height up to which a majority of the nodes has shown each chain, as far as this process
// knows. Payments note it when they open: it needs no node.
import { Context, Effect, Layer } from "effect"
import type { Env } from "../domain/Chain.ts"

/**
 * After so long without a reading a height says nothing of now: what is older than a payment would lie above it. The
 * chain is read every five seconds and more often.
 */
const staleMillis = 30_000

export class ChainReach extends Context.Service<
  ChainReach,
  {
    /**
     * To be called before the nodes are asked, and what it returns with the height that they answer: an answer that
     * is heard late, as after the process has been suspended, is as old as the question.
     */
    readonly reading: (env: Env) => (height: bigint) => void
    /** `openedBlock` where the present height is known. */
    readonly openedBlock: (env: Env) => { readonly openedBlock?: bigint }
  }
>()("quittance/chain/ChainReach") {
  static readonly layer: Layer.Layer<ChainReach> = Layer.effect(
    ChainReach,
    Effect.clockWith((clock) =>
      Effect.sync(() => {
        const heights = new Map<Env, { readonly openedBlock: bigint; readonly at: number }>()
        const now = () => clock.currentTimeMillisUnsafe()
        return {
          reading: (env) => {
            const at = now()
            return (openedBlock) => void heights.set(env, { openedBlock, at })
          },
          openedBlock: (env) => {
            const known = heights.get(env)
            if (known === undefined || Math.abs(now() - known.at) > staleMillis) return {}
            return { openedBlock: known.openedBlock }
          }
        }
      })
    )
  )
}
