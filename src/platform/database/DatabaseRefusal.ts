import { Data } from "effect"

/** The database cannot be used. `message` is a complete sentence for the operator. */
export class DatabaseRefusal extends Data.TaggedError("DatabaseRefusal")<{ readonly message: string }> {}
