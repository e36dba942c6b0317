import { Schema } from "effect"
import { causeOf } from "../migrate.ts"

export class CopyFailed extends Schema.TaggedError<CopyFailed>()("CopyFailed", { message: Schema.String }) {}

/** Says what could not be done, and why. */
export const failed = (what: string) => (error: unknown) =>
  error instanceof CopyFailed ? error : new CopyFailed({ message: `${what}: ${causeOf(error)}` })
