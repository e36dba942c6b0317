// What callers are told while too few nodes answer.
import { Effect } from "effect"
import { ChainUnavailableError } from "../../domain/Errors.ts"
import { ChainUnavailable } from "./Verification.ts"

/** Seconds until a node that did not answer is worth another request. */
export const chainRetryAfter = 5

const isChainUnavailable = (error: unknown): error is ChainUnavailable => error instanceof ChainUnavailable

/** Turns the chain's own failure into the coded one. */
export const orChainUnavailable = <A, E, R>(effect: Effect.Effect<A, E | ChainUnavailable, R>) =>
  Effect.catchIf(effect, isChainUnavailable, () =>
    Effect.fail(new ChainUnavailableError({ retryAfter: chainRetryAfter }))
  )
