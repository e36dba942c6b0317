// The height of each chain that a majority of the nodes has shown, and whether the chain makes blocks, as far as this
// process knows. A payment records the height when it opens, without a request to a node.
import { Context, Effect, Layer } from "effect"
import type { Env } from "../domain/Chain.ts"

/**
 * A height that was read longer ago than this is not used: a transfer older than a payment could be above it. It is
 * longer than the pause between two reads of any chain (`pollMillis` in networks.ts).
 */
const staleMillis = 30_000
/** A chain that makes no block for this long has halted. */
export const haltMillis = 5 * 60_000

export class ChainHeights extends Context.Service<
  ChainHeights,
  {
    /**
     * Call it before the nodes are queried, and call its result with the height that they report: a response that
     * arrives late, for example after the process was suspended, is as old as the query. `headTime` in Unix seconds.
     */
    readonly beginReading: (env: Env) => (height: bigint, headTime: bigint) => void
    /** `openedBlock` if the current height is known. */
    readonly openedBlock: (env: Env) => { readonly openedBlock?: bigint }
    /** The time of the chain's newest block, if it is so long ago that the chain has halted. */
    readonly haltedSince: (env: Env) => Date | undefined
  }
>()("quittance/chain/ChainHeights") {
  static readonly layer: Layer.Layer<ChainHeights> = Layer.effect(
    ChainHeights,
    Effect.clockWith((clock) =>
      Effect.sync(() => {
        const heights = new Map<
          Env,
          { readonly openedBlock: bigint; readonly headAt: number; readonly at: number }
        >()
        const now = () => clock.currentTimeMillisUnsafe()
        const fresh = (env: Env) => {
          const height = heights.get(env)
          return height === undefined || Math.abs(now() - height.at) > staleMillis ? undefined : height
        }
        return {
          beginReading: (env) => {
            const at = now()
            return (openedBlock, headTime) =>
              void heights.set(env, { openedBlock, headAt: Number(headTime) * 1_000, at })
          },
          openedBlock: (env) => {
            const height = fresh(env)
            return height === undefined ? {} : { openedBlock: height.openedBlock }
          },
          haltedSince: (env) => {
            const height = fresh(env)
            return height !== undefined && now() - height.headAt > haltMillis
              ? new Date(height.headAt)
              : undefined
          }
        }
      })
    )
  )
}
