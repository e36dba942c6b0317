/** An address or a hash as buyers are shown it; the service names the wallets of attempts like this too. */
export const shortened = (hex: string): string => `${hex.slice(0, 6)}…${hex.slice(-4)}`
