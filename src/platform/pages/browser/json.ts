// JSON on third-party pages: old libraries add a `toJSON` to arrays and strings, and replace `Object.keys`,
// `Array.from` and `JSON` itself. This code depends on none of them.

/** The page's own function at the time this script loads. */
const { parse } = JSON

export const fromJson = (text: string): unknown => parse(text)

const escapes: Readonly<Record<string, string>> = { '"': '\\"', "\\": "\\\\" }

const quoted = (text: string): string => {
  let written = '"'
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const isEscaped = code < 0x20 || (code >= 0xd800 && code <= 0xdfff)
    const unit = text.charAt(index)
    written += isEscaped ? `\\u${code.toString(16).padStart(4, "0")}` : (escapes[unit] ?? unit)
  }
  return `${written}"`
}

/**
 * Like `JSON.stringify` for plain data. Escapes characters beyond the BMP; undefined is omitted, or null in a list.
 */
export const toJson = (value: unknown): string => {
  if (typeof value === "string") return quoted(value)
  if (typeof value === "number") return Number.isFinite(value) ? `${value}` : "null"
  if (typeof value === "boolean") return `${value}`
  if (value === undefined || value === null) return "null"
  if (typeof value !== "object") throw new TypeError(`JSON has no ${typeof value}`)
  let written = ""
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++)
      written += `${index === 0 ? "" : ","}${toJson(value[index])}`
    return `[${written}]`
  }
  const keys = Reflect.ownKeys(value)
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]
    const member: unknown = key === undefined ? undefined : Reflect.get(value, key)
    if (typeof key === "string" && member !== undefined)
      written += `${written === "" ? "" : ","}${quoted(key)}:${toJson(member)}`
  }
  return `{${written}}`
}
