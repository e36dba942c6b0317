// How the mock answers: the service's media type, envelope and amounts.

export const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } })

export const refuse = (status: number, code: string, message: string) =>
  json(status, {
    error: { code, message, requestId: "req_mock", docUrl: `/docs/errors#${code}`, retryable: false }
  })

export const isAmount = (value: unknown): value is string =>
  typeof value === "string" && /^\d{1,14}(\.\d{1,6})?$/.test(value)

/** Two decimals at least. */
export const shown = (amount: string) => {
  const [whole = "0", part = ""] = amount.split(".")
  return `${BigInt(whole)}.${part.replace(/0+$/, "").padEnd(2, "0")}`
}

/** In the token's smallest units. */
export const atomicOf = (amount: string) => {
  const [whole = "0", part = ""] = amount.split(".")
  return BigInt(whole + part.padEnd(6, "0"))
}
