// Text that no part of the service stores or compares: U+0000, and halves of surrogate
// pairs. JSON can spell both, Postgres and UTF-8 can hold neither.

/** The message for a place that breaks the rule. */
export const unstorableAdvice = "Send text without U+0000 and without unpaired surrogates."

const isUnstorable = (text: string): boolean => text.includes("\u0000") || !text.isWellFormed()

/** Escapes that may stand for such text: nearly no body has one. */
const suspicious = /\\u(?:0000|d[89a-f])/i

const longestPath = 200

/** The first place in a JSON document with such text; undefined where there is none. `value` is the text, parsed. */
export const unstorablePlace = (text: string, value: unknown): string | undefined => {
  if (!suspicious.test(text)) return undefined
  // A stack of its own: bodies nest deeper than calls may.
  const open: Array<readonly [string, unknown]> = [["body", value]]
  while (true) {
    const next = open.pop()
    if (next === undefined) return undefined
    const [path, found] = next
    if (typeof found === "string" && isUnstorable(found)) return path
    if (typeof found !== "object" || found === null) continue
    for (const [key, inner] of Object.entries(found)) {
      if (isUnstorable(key)) return path
      open.push([`${path}.${key}`.slice(0, longestPath), inner])
    }
  }
}

/** True if a request's target contains U+0000. */
export const hasUnstorableTarget = (url: string): boolean => url.includes("%00")
