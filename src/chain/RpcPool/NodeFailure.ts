// The error of one call to one node.
import { Data } from "effect"
import type { NodeErrorMeaning } from "./nodeErrors.ts"

/** The reason why a node gave no usable answer. It never means "no". */
export class NodeFailure extends Data.TaggedError("NodeFailure")<{
  /** `transport`: no response at all; `malformed`: a response that no honest node gives. */
  readonly kind: "transport" | "malformed" | "wrong_chain" | NodeErrorMeaning
  readonly message: string
  /** True if it is an error of JSON-RPC: the node's own, and not a gateway's page or status in front of it. */
  readonly isRpcError?: boolean
  /** The node's own error message, if it returned one: printable, short, without the secrets of its URL. */
  readonly nodeMessage?: string
  /** With `declined`: the number of consecutive declined calls of this method. */
  readonly consecutiveDeclines?: number
}> {}
