/** An address or a hash as buyers see it. The checkout recognises its own wallet among the service's by this form. */
export const shortened = (hex: string): string => `${hex.slice(0, 6)}…${hex.slice(-4)}`
