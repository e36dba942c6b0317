// docs/contract.md 8: 3 grants per recipient and 25 per merchant in a day, 20 per client address in an hour, as
// sliding windows.

const hour = 3_600_000

export const faucetLimits = {
  recipient: { grants: 3, windowMillis: 24 * hour },
  merchant: { grants: 25, windowMillis: 24 * hour },
  ip: { grants: 20, windowMillis: hour }
} as const

export type FaucetLimit = keyof typeof faucetLimits

export const faucetLimitAdvice: { readonly [L in FaucetLimit]: string } = {
  recipient: `This wallet has reached its limit of ${faucetLimits.recipient.grants} grants in 24 hours.`,
  merchant: `This merchant has reached its limit of ${faucetLimits.merchant.grants} grants in 24 hours.`,
  ip: `This network address has reached its limit of ${faucetLimits.ip.grants} grants in an hour.`
}
