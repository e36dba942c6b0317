/** An address or a hash as buyers see it. The service shortens the wallets of attempts in the same way. */
export const shortened = (hex: string): string => `${hex.slice(0, 6)}…${hex.slice(-4)}`
