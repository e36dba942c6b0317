// docs/contract.md 8: 3 grants per recipient and 25 per merchant in a day, 20 per client address in an hour, as
// sliding windows.

import { Address } from "../../../domain/Chain.ts"

const hour = 3_600_000

/** An address that never gets a grant. */
export const nobody = Address.make("0x0000000000000000000000000000000000000000")

export const faucetLimits = {
  recipient: { grants: 3, windowMillis: 24 * hour },
  merchant: { grants: 25, windowMillis: 24 * hour },
  ip: { grants: 20, windowMillis: hour }
} as const

export type FaucetLimit = keyof typeof faucetLimits

/** An exhausted limit, and the whole seconds until it frees up. */
export interface Held {
  readonly limit: FaucetLimit
  readonly retryAfter: number
}

/**
 * The grant whose window ends last among those that fill a limit. A retry must pass all three limits, so this is the
 * correct wait. Undefined if no limit is full.
 */
export const longestWait = (full: { readonly [L in FaucetLimit]: Date | null }, at: Date): Held | undefined =>
  (["recipient", "merchant", "ip"] as const)
    .flatMap((limit): ReadonlyArray<Held> => {
      const since = full[limit]
      if (since === null) return []
      const millis = since.getTime() + faucetLimits[limit].windowMillis - at.getTime()
      return [{ limit, retryAfter: Math.max(1, Math.ceil(millis / 1000)) }]
    })
    .sort((left, right) => right.retryAfter - left.retryAfter)[0]
