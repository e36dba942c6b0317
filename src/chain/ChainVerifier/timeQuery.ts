// The time of the block at a height, by a majority of the nodes.
import { Effect } from "effect"
import type { Question } from "../RpcPool.ts"
import { BlockHeader } from "../RpcSchemas.ts"

/** The question for all nodes: Unix seconds; undefined above a node's head. */
export const timeQuery = (height: bigint): Question<bigint | undefined> => ({
  ask: (node) =>
    Effect.map(
      node.call("eth_getBlockByNumber", [`0x${height.toString(16)}`, false], BlockHeader),
      (block) => block?.timestamp
    ),
  key: (time) => String(time ?? "none"),
  contradicts: () => false
})
