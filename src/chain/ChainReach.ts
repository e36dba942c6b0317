// The height up to which a majority of the nodes has shown each chain, as far as this process
// knows. Payments note it when they open: it needs no node and no clock.
import { Context, Layer } from "effect"
import type { Env } from "../domain/Chain.ts"

export class ChainReach extends Context.Service<
  ChainReach,
  {
    readonly reached: (env: Env, height: bigint) => void
    /** `openedBlock` where a height is known. */
    readonly openedBlock: (env: Env) => { readonly openedBlock?: bigint }
  }
>()("quittance/chain/ChainReach") {
  static readonly layer: Layer.Layer<ChainReach> = Layer.sync(ChainReach, () => {
    const heights = new Map<Env, bigint>()
    return {
      reached: (env, height) => void heights.set(env, height),
      openedBlock: (env) => {
        const openedBlock = heights.get(env)
        return openedBlock === undefined ? {} : { openedBlock }
      }
    }
  })
}
