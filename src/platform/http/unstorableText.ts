// Text that the service neither stores nor compares: U+0000, and unpaired surrogates. JSON can express both; Postgres
// and UTF-8 can contain neither.

/** The message for a place that breaks the rule. */
export const unstorableAdvice = "Send text without U+0000 and without unpaired surrogates."

const isUnstorable = (text: string): boolean => text.includes("\u0000") || !text.isWellFormed()

/** Escapes that may stand for such text. Almost no body has one. */
const suspiciousEscape = /\\u(?:0000|d[89a-f])/i

const maxPathLength = 200

/** The first place in a JSON document with such text; undefined if there is none. `value` is the parsed text. */
export const unstorablePlace = (text: string, value: unknown): string | undefined => {
  if (!suspiciousEscape.test(text)) return undefined
  // An explicit stack, because bodies may nest deeper than calls.
  const open: Array<readonly [string, unknown]> = [["body", value]]
  while (true) {
    const next = open.pop()
    if (next === undefined) return undefined
    const [path, current] = next
    if (typeof current === "string" && isUnstorable(current)) return path
    if (typeof current !== "object" || current === null) continue
    for (const [key, inner] of Object.entries(current)) {
      if (isUnstorable(key)) return path
      open.push([`${path}.${key}`.slice(0, maxPathLength), inner])
    }
  }
}

/** True if a request's target contains U+0000. */
export const hasUnstorableTarget = (url: string): boolean => url.includes("%00")
