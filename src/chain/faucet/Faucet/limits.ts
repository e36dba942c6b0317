// docs/contract.md 8: 3 grants for a recipient and 25 for a merchant in a day, 20 for
// a client address in an hour, as sliding windows.

import { Address } from "../../../domain/Chain.ts"

const hour = 3_600_000

/** Whom no grant was ever paid to. */
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
 * Of the grants that keep each limit full, the one whose window ends last: a retry must pass
 * all three, so its wait is the truthful one. Undefined where nothing is full.
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
