// Errors of the local chain: it cannot start, or it has ended.
import { Schema } from "effect"

/** The chain could not start; `message` says what to do. */
export class LocalChainError extends Schema.TaggedError<LocalChainError>()("LocalChainError", {
  reason: Schema.Literals(["not_installed", "port_taken", "not_ready", "setup"]),
  message: Schema.String
}) {}

/** anvil ended while it was still needed. */
export class LocalChainDied extends Schema.TaggedError<LocalChainDied>()("LocalChainDied", {
  message: Schema.String
}) {}
