import { Data } from "effect"
import type { NodeErrorMeaning } from "./nodeErrors.ts"

/** The reason why a node gave no usable answer. It never means "no". */
export class NodeFailure extends Data.TaggedError("NodeFailure")<{
  /** `transport`: no answer at all; `malformed`: an answer that no honest node gives. */
  readonly kind: "transport" | "malformed" | "wrong_chain" | NodeErrorMeaning
  readonly message: string
  /** The node's own words, where it has answered an error: printable, short, without the secrets of its URL. */
  readonly words?: string
  /** With `declined`: the calls of this method that the node has declined in a row. */
  readonly timesInARow?: number
}> {}
