/**
 * A typed amount as a decimal; undefined where a sign may part thousands: "1,000" is one dollar to some and a
 * thousand to others.
 */
export const typedAmount = (typed: string): string | undefined => {
  const text = typed.trim()
  return /[.,'’\s]\d{3}(?!\d)/.test(text) ? undefined : text.replace(",", ".")
}
