// The mock's responses, with the service's media type, envelope and amount format.

export const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } })

export const refuse = (status: number, code: string, message: string) =>
  json(status, {
    error: { code, message, requestId: "req_mock", docUrl: `/docs/errors#${code}`, retryable: false }
  })

/** An amount above zero. */
export const isAmount = (value: unknown): value is string =>
  typeof value === "string" && /^\d{1,14}(\.\d{1,6})?$/.test(value) && /[1-9]/.test(value)

/** An https URL, or http on localhost, without credentials and fragment. */
export const isOrderUrl = (value: unknown): value is string => {
  if (typeof value !== "string" || value.length > 2048 || /[#\s\\]/.test(value)) return false
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined || url.username !== "" || url.password !== "") return false
  const local = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname)
  return url.protocol === "https:" || (url.protocol === "http:" && local)
}

/** The index at which a page starts: after the cursor's item. Undefined if that item does not exist. */
export const placeAfter = (ids: ReadonlyArray<string>, cursor: string | null): number | undefined => {
  if (cursor === null) return 0
  const at = ids.indexOf(cursor)
  return at < 0 ? undefined : at + 1
}

export const unknownCursor = (name: string) =>
  refuse(400, "INVALID_REQUEST", `\`${name}\` names nothing. Pass the last id of the previous page.`)

/** The amount with at least two decimals. */
export const shown = (amount: string) => {
  const [whole = "0", part = ""] = amount.split(".")
  return `${BigInt(whole)}.${part.replace(/0+$/, "").padEnd(2, "0")}`
}

/** The amount in the token's smallest unit. */
export const atomicOf = (amount: string) => {
  const [whole = "0", part = ""] = amount.split(".")
  return BigInt(whole + part.padEnd(6, "0"))
}
