import type { Effect, Schema } from "effect"
import type { Env } from "../domain/Chain.ts"
import type { NodeFailure } from "./RpcPool/NodeFailure.ts"
import { defaultRpcLimits, makeRpcNode } from "./RpcPool/RpcNode.ts"

export interface OneNode {
  readonly call: <A>(
    method: string,
    params: ReadonlyArray<unknown>,
    result: Schema.Decoder<A>
  ) => Effect.Effect<A, NodeFailure>
}

/** A node that is asked once, and given ten seconds for each answer. */
export const oneNode = (env: Env, url: string): OneNode => ({
  call: makeRpcNode(env, url, {
    ...defaultRpcLimits,
    timeout: "10 seconds",
    deadline: "10 seconds",
    retries: 0
  }).callUnchecked
})
