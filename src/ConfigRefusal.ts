import { Data } from "effect"

/** A setting that stops the start. `message` is the whole sentence for the operator. */
export class ConfigRefusal extends Data.TaggedError("ConfigRefusal")<{
  readonly variable: string
  readonly message: string
}> {}
