// A command that cannot do what was asked. `message` says what to do instead; `found` is what --json prints beside it.
import { Data } from "effect"

export class CommandFailed extends Data.TaggedError("CommandFailed")<{
  readonly message: string
  readonly found?: object
}> {}
