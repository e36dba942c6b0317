// A command that cannot do what was asked. `message` says what to do instead.
import { Data } from "effect"

export class CommandFailed extends Data.TaggedError("CommandFailed")<{ readonly message: string }> {}
