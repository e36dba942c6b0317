// A failed command. `message` says what to do instead; --json prints `fields` in addition.
import { Data } from "effect"

export class CommandFailed extends Data.TaggedError("CommandFailed")<{
  readonly message: string
  readonly fields?: object
}> {}
