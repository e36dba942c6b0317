/** Converts Arabic, Persian and full-width digits and signs to decimal ones, and removes direction marks. */
const inLatin = (typed: string): string =>
  typed
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(/[\u061c\u200e\u200f]/g, "")
    .replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) % 16))
    .replaceAll("\u066b", ".")
    .replace(/[\u060c\u066c]/g, ",")

/**
 * A typed amount as a decimal; undefined if a sign may separate thousands: "1,000" is one dollar to some people and a
 * thousand to others.
 */
export const typedAmount = (typed: string): string | undefined => {
  const text = inLatin(typed).trim()
  return /[.,'’\s]\d{3}(?!\d)/.test(text) ? undefined : text.replace(",", ".")
}
