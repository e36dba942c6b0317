import { Data } from "effect"

/** Why a node gave no usable answer. It is never a "no". */
export class NodeFailure extends Data.TaggedError("NodeFailure")<{
  readonly kind: "transport" | "malformed" | "refused" | "reverted" | "wrong_chain"
  readonly message: string
  /** With `refused`: the node's own words. Not for callers or alerts: anything can be in them. */
  readonly said?: string
}> {}
