import { Schema } from "effect"
import { causeOf } from "../migrate.ts"

export class CopyFailed extends Schema.TaggedError<CopyFailed>()("CopyFailed", { message: Schema.String }) {}

/** Describes the failed action and its cause. */
export const failed = (what: string) => (error: unknown) =>
  error instanceof CopyFailed ? error : new CopyFailed({ message: `${what}: ${causeOf(error)}` })
