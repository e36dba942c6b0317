// Specification 8: 3 grants for a recipient and 25 for a merchant in a day, 20 for
// a client address in an hour, as sliding windows.

const hour = 3_600_000

export const faucetLimits = {
  recipient: { grants: 3, windowMillis: 24 * hour },
  merchant: { grants: 25, windowMillis: 24 * hour },
  ip: { grants: 20, windowMillis: hour }
} as const

export type FaucetLimit = keyof typeof faucetLimits
