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
  recipient: `This wallet has had its ${faucetLimits.recipient.grants} grants of the last 24 hours.`,
  merchant: `This merchant's ${faucetLimits.merchant.grants} grants of the last 24 hours are used up.`,
  ip: `This network address has had its ${faucetLimits.ip.grants} grants of the last hour.`
}
