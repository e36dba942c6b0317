// Proves that a webhook came from Quittance and is fresh (docs/contract.md 6.2).
// Web-standard APIs alone: runs on Node, Bun, Deno, workers and in browsers.

/** Why a webhook was refused. */
export type WebhookRefusal =
  | "missing_header"
  | "malformed_header"
  | "no_match"
  | "too_old"
  | "in_the_future"
  | "parsed_body"
  | "malformed_body"

const advice: { readonly [R in WebhookRefusal]: string } = {
  missing_header:
    "The request has no x-service-signature header. Pass the request's headers, or that header's value.",
  malformed_header: "The x-service-signature header does not read t=<unix seconds>,v1=<64 hex characters>.",
  no_match:
    "The signature does not match. Check that the secret is the endpoint's current one and that the raw body is passed, byte for byte.",
  too_old:
    "The signature is more than 300 seconds old. Check the server's clock; a replayed request is refused.",
  in_the_future: "The signature is more than 30 seconds in the future. Check the server's clock.",
  parsed_body: "The body has been parsed already. Pass the raw bytes or text, before any JSON parsing.",
  malformed_body: "The signed body is not an event."
}

export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError"
  readonly reason: WebhookRefusal
  constructor(reason: WebhookRefusal) {
    super(advice[reason])
    this.reason = reason
  }
}

/** One movement of tokens; `amountAtomic` in the token's smallest units. */
export interface WebhookTokenChange {
  readonly amountAtomic: string
  readonly chainId: number
  readonly receiver: string
  readonly tokenAddress: string
}

export type WebhookEvent =
  | {
      readonly id: string
      readonly type: "payment.settled"
      readonly livemode: boolean
      readonly transactionId: string
      readonly tokenChanges: ReadonlyArray<WebhookTokenChange>
    }
  | { readonly id: string; readonly type: "test"; readonly livemode: boolean }

export interface VerifyWebhookOptions {
  /** Unix seconds to judge the timestamp by; the clock's by default. */
  readonly now?: number
}

/** `Headers`, a plain object of headers, or the value of `x-service-signature`. */
export type WebhookHeaders =
  | string
  | null
  | undefined
  | { readonly get: (name: string) => string | null }
  | Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

const headerName = "x-service-signature"
const pastSeconds = 300
const futureSeconds = 30
const utf8 = new TextEncoder()

const headerOf = (headers: WebhookHeaders): string | undefined => {
  if (headers === null || headers === undefined || typeof headers === "string") return headers ?? undefined
  if ("get" in headers && typeof headers.get === "function") return headers.get(headerName) ?? undefined
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() === headerName && typeof value === "string") return value
  }
  return undefined
}

const bytesOf = (body: string | ArrayBuffer | Uint8Array): Uint8Array<ArrayBuffer> => {
  if (typeof body === "string") return utf8.encode(body)
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  if (body instanceof Uint8Array) return new Uint8Array(body)
  throw new WebhookVerificationError("parsed_body")
}

const hexBytes = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))

const keyOf = (secret: string) =>
  crypto.subtle.importKey("raw", utf8.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
    "verify"
  ])

const signedBytes = (timestamp: string, body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => {
  const prefix = utf8.encode(`${timestamp}.`)
  const all = new Uint8Array(prefix.length + body.length)
  all.set(prefix)
  all.set(body, prefix.length)
  return all
}

const isEvent = (value: unknown): value is WebhookEvent =>
  typeof value === "object" &&
  value !== null &&
  "id" in value &&
  typeof value.id === "string" &&
  "type" in value &&
  (value.type === "payment.settled" || value.type === "test")

const parseEvent = (body: Uint8Array): WebhookEvent => {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body))
    if (isEvent(value)) return value
  } catch {}
  throw new WebhookVerificationError("malformed_body")
}

/**
 * The event, once its signature matches one of the secrets and its time is right.
 *
 * @throws WebhookVerificationError with `reason`, whose message says how to fix it.
 * @example
 * const event = await verifyWebhook(await request.text(), request.headers, secret)
 */
export const verifyWebhook = async (
  rawBody: string | ArrayBuffer | Uint8Array,
  headers: WebhookHeaders,
  secret: string | ReadonlyArray<string>,
  options: VerifyWebhookOptions = {}
): Promise<WebhookEvent> => {
  const body = bytesOf(rawBody)
  const header = headerOf(headers)
  if (header === undefined || header === "") throw new WebhookVerificationError("missing_header")
  const match = /^t=(\d{1,15}),v1=([0-9a-f]{64})$/.exec(header)
  const [, timestamp, signature] = match ?? []
  if (timestamp === undefined || signature === undefined)
    throw new WebhookVerificationError("malformed_header")

  const signed = signedBytes(timestamp, body)
  const expected = hexBytes(signature)
  const secrets = typeof secret === "string" ? [secret] : secret
  // `verify` compares in constant time; every secret is tried, so that the time tells nothing.
  const matches = await Promise.all(
    secrets.map(async (one) => crypto.subtle.verify("HMAC", await keyOf(one), expected, signed))
  )
  if (!matches.includes(true)) throw new WebhookVerificationError("no_match")

  const age = (options.now ?? Math.floor(Date.now() / 1000)) - Number(timestamp)
  if (age > pastSeconds) throw new WebhookVerificationError("too_old")
  if (age < -futureSeconds) throw new WebhookVerificationError("in_the_future")
  return parseEvent(body)
}

/** The recommended idempotency key of an event: `<type>:<id>` (docs/contract.md 6.3). */
export const idempotencyKey = (event: Pick<WebhookEvent, "type" | "id">): string =>
  `${event.type}:${event.id}`

/** A signed request for tests of a receiver: the body and headers that Quittance would send. */
export const signTestWebhook = async (
  event: WebhookEvent,
  secret: string,
  options: VerifyWebhookOptions = {}
): Promise<{ readonly body: string; readonly headers: Readonly<Record<string, string>> }> => {
  const body = JSON.stringify(event)
  const timestamp = String(options.now ?? Math.floor(Date.now() / 1000))
  const signature = await crypto.subtle.sign(
    "HMAC",
    await keyOf(secret),
    signedBytes(timestamp, utf8.encode(body))
  )
  const hex = Array.from(new Uint8Array(signature), (byte) => byte.toString(16).padStart(2, "0")).join("")
  return { body, headers: { "content-type": "application/json", [headerName]: `t=${timestamp},v1=${hex}` } }
}
