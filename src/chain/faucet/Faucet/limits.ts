// The time for which a full limit of the faucet blocks further grants.
import { Address } from "../../../domain/Chain.ts"
import { type FaucetLimit, faucetLimits } from "../../../domain/faucetLimits.ts"

/** An address that never gets a grant. */
export const zeroAddress = Address.make("0x0000000000000000000000000000000000000000")

/** An exhausted limit, and the whole seconds until it frees up. */
export interface BlockingLimit {
  readonly limit: FaucetLimit
  readonly retryAfter: number
}

/**
 * The grant whose window ends last among those that fill a limit. A retry must pass all three limits, so this is the
 * correct wait. Undefined if no limit is full.
 */
export const longestWait = (
  full: { readonly [L in FaucetLimit]: Date | null },
  at: Date
): BlockingLimit | undefined =>
  (["recipient", "merchant", "ip"] as const)
    .flatMap((limit): ReadonlyArray<BlockingLimit> => {
      const since = full[limit]
      if (since === null) return []
      const millis = since.getTime() + faucetLimits[limit].windowMillis - at.getTime()
      return [{ limit, retryAfter: Math.max(1, Math.ceil(millis / 1000)) }]
    })
    .sort((left, right) => right.retryAfter - left.retryAfter)[0]
