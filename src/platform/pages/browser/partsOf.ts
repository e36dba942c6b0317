// Finds the parts of a sentence that no page translation may change: amounts, counts, times, hashes, codes.

const data = /([A-Z]{2,}-[A-Z\d]{4,}|[^\s\p{L}\p{Nd}]?\p{Nd}[\p{Nd}\w.,:…٫٬-]*)/u

/** Text and data in turn, beginning with a text, which may be empty. */
export const partsOf = (text: string): ReadonlyArray<string> => text.split(data)
