// Calls to a single node, without a majority and without retries: `doctor` judges each node by itself.
import type { Effect, Schema } from "effect"
import type { Env } from "../domain/Chain.ts"
import type { NodeFailure } from "./RpcPool/NodeFailure.ts"
import { defaultRpcLimits, makeRpcNode } from "./RpcPool/RpcNode.ts"

export interface SingleNode {
  readonly call: <A>(
    method: string,
    params: ReadonlyArray<unknown>,
    result: Schema.Decoder<A>
  ) => Effect.Effect<A, NodeFailure>
}

/** The most requests that the service sends to a node at once. */
export const maxConcurrentCalls = defaultRpcLimits.concurrency

/** A node that is queried once per call, with ten seconds for each response. */
export const makeSingleNode = (env: Env, url: string): SingleNode => ({
  call: makeRpcNode(env, url, {
    ...defaultRpcLimits,
    timeout: "10 seconds",
    deadline: "10 seconds",
    retries: 0
  }).callUnchecked
})
