// The error callers get while too few nodes respond.
import { Effect } from "effect"
import { ChainUnavailable } from "../domain/Errors.ts"
import { RpcUnavailable } from "./Verification.ts"

/** The seconds after which a node that did not respond is worth another request. */
export const chainRetryAfter = 5

const isChainUnavailable = (error: unknown): error is RpcUnavailable => error instanceof RpcUnavailable

/** Converts the chain's own failure into the coded error. */
export const orChainUnavailable = <A, E, R>(effect: Effect.Effect<A, E | RpcUnavailable, R>) =>
  Effect.catchIf(effect, isChainUnavailable, () =>
    Effect.fail(new ChainUnavailable({ retryAfter: chainRetryAfter }))
  )
