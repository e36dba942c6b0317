// Proves that a webhook came from Quittance and is fresh (docs/contract.md 6.2). It uses only web-standard
// APIs and runs on Node, Bun, Deno, workers and in browsers.

/** The reason why a webhook was rejected. */
export type WebhookRefusal =
  | "missing_header"
  | "malformed_header"
  | "no_match"
  | "too_old"
  | "in_the_future"
  | "parsed_body"
  | "malformed_body"
  | "order_not_signed"
  | "no_secret"

const advice: { readonly [R in WebhookRefusal]: string } = {
  missing_header:
    "There is no x-service-signature header. Pass the request's headers, or that header's value.",
  malformed_header: "The x-service-signature header does not read t=<unix seconds>,v1=<64 hex characters>.",
  no_match:
    "The signature does not match. Pass the endpoint's current secret and the raw body, byte for byte.",
  too_old:
    "The signature is more than 300 seconds old. Check the server's clock; a replayed request is refused.",
  in_the_future: "The signature is more than 30 seconds in the future. Check the server's clock.",
  parsed_body: "The body is parsed already. Pass its raw bytes or text.",
  malformed_body: "The signed body is not an event.",
  order_not_signed:
    "The headers quittance-payment-id and quittance-intent-url are not signed with this body. Refuse the request.",
  no_secret: "The signing secret is empty. Pass the endpoint's, whsec_…."
}

export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError"
  readonly reason: WebhookRefusal
  constructor(reason: WebhookRefusal) {
    super(advice[reason])
    this.reason = reason
  }
}

/** A movement of tokens; `amountAtomic` is in the token's smallest unit. */
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

const types: { readonly [T in WebhookEvent["type"]]: true } = { "payment.settled": true, test: true }

export interface VerifyWebhookOptions {
  /** The current time in Unix seconds. Default: the system clock. */
  readonly now?: number
}

/** `Headers`, a plain object of headers, or the value of `x-service-signature`. */
export type WebhookHeaders =
  | string
  | null
  | undefined
  | { readonly get: (name: string) => string | null }
  | Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** The order that a delivery's headers specify. */
export interface WebhookOrder {
  readonly paymentId: string
  /** The payment's `intentUrl`, with non-ASCII characters percent-encoded. */
  readonly intentUrl: string
}

const headerName = "x-service-signature"
const paymentIdName = "quittance-payment-id"
const intentUrlName = "quittance-intent-url"
const orderSignatureName = "quittance-order-signature"
const pastSeconds = 300
const futureSeconds = 30
const utf8 = new TextEncoder()

const headerOf = (headers: WebhookHeaders, wanted = headerName): string | undefined => {
  if (headers === null || headers === undefined) return undefined
  if (typeof headers === "string") return wanted === headerName ? headers : undefined
  if ("get" in headers && typeof headers.get === "function") return headers.get(wanted) ?? undefined
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() !== wanted) continue
    if (typeof value === "string") return value
    // Joins repeated headers like `Headers` does.
    if (Array.isArray(value) && value.length > 0) return value.join(", ")
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

const hmacKey = (bytes: Uint8Array<ArrayBuffer>) =>
  crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"])

const keyOf = (secret: string) => hmacKey(utf8.encode(secret))

const latin1 = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0))

/** The headers of Standard Webhooks, signed with the secret's key; empty if it encodes no key. */
const standardHeaders = async (id: string, timestamp: string, body: string, secret: string) => {
  try {
    const key = await hmacKey(latin1(atob(secret.replace(/^whsec_/, ""))))
    const signature = await crypto.subtle.sign("HMAC", key, utf8.encode(`${id}.${timestamp}.${body}`))
    return {
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${btoa(String.fromCharCode(...new Uint8Array(signature)))}`
    }
  } catch {
    return {}
  }
}

const signedBytes = (text: string, body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => {
  const prefix = utf8.encode(text)
  const all = new Uint8Array(prefix.length + body.length)
  all.set(prefix)
  all.set(body, prefix.length)
  return all
}

const orderText = (timestamp: string, { paymentId, intentUrl }: WebhookOrder) =>
  `quittance-order\n${timestamp}\n${paymentId}\n${intentUrl}\n`

interface ReadSignature {
  readonly timestamp: string
  readonly hex: string
}

const readSignature = (header: string | undefined): ReadSignature | undefined => {
  const [, timestamp, hex] = /^t=(\d{1,15}),v1=([0-9a-f]{64})$/.exec(header ?? "") ?? []
  return timestamp === undefined || hex === undefined ? undefined : { timestamp, hex }
}

/** Compares in constant time and tries every secret, so the duration reveals nothing. */
const isSigned = async (
  signed: Uint8Array<ArrayBuffer>,
  hex: string,
  secret: string | ReadonlyArray<string>
): Promise<boolean> => {
  const secrets = typeof secret === "string" ? [secret] : secret
  if (secrets.includes("")) throw new WebhookVerificationError("no_secret")
  const matches = await Promise.all(
    secrets.map(async (candidate) =>
      crypto.subtle.verify("HMAC", await keyOf(candidate), hexBytes(hex), signed)
    )
  )
  return matches.includes(true)
}

const isEvent = (value: unknown): value is WebhookEvent =>
  typeof value === "object" &&
  value !== null &&
  "id" in value &&
  typeof value.id === "string" &&
  "type" in value &&
  typeof value.type === "string" &&
  Object.hasOwn(types, value.type)

const parseEvent = (body: Uint8Array): WebhookEvent => {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body))
    if (isEvent(value)) return value
  } catch {}
  throw new WebhookVerificationError("malformed_body")
}

/**
 * Returns the event if its signature matches one of the secrets and its timestamp is fresh.
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
  const read = readSignature(header)
  if (read === undefined) throw new WebhookVerificationError("malformed_header")
  if (!(await isSigned(signedBytes(`${read.timestamp}.`, body), read.hex, secret)))
    throw new WebhookVerificationError("no_match")

  const age = (options.now ?? Math.floor(Date.now() / 1000)) - Number(read.timestamp)
  if (age > pastSeconds) throw new WebhookVerificationError("too_old")
  if (age < -futureSeconds) throw new WebhookVerificationError("in_the_future")
  return parseEvent(body)
}

const orderOf = async (
  body: Uint8Array<ArrayBuffer>,
  headers: WebhookHeaders,
  secret: string | ReadonlyArray<string>
): Promise<WebhookOrder | null> => {
  const paymentId = headerOf(headers, paymentIdName)
  const intentUrl = headerOf(headers, intentUrlName)
  const header = headerOf(headers, orderSignatureName)
  if (paymentId === undefined && intentUrl === undefined && header === undefined) return null
  const read = readSignature(header)
  // The signature must carry the body's timestamp, whose age was checked.
  const sameTime = read?.timestamp === readSignature(headerOf(headers))?.timestamp
  if (paymentId === undefined || intentUrl === undefined || read === undefined || !sameTime)
    throw new WebhookVerificationError("order_not_signed")
  const order = { paymentId, intentUrl }
  if (!(await isSigned(signedBytes(orderText(read.timestamp, order), body), read.hex, secret)))
    throw new WebhookVerificationError("order_not_signed")
  return order
}

/**
 * Returns the event and its order if both are signed correctly. `order` is null if the delivery specifies
 * none, like a `test` event; in that case, ask the service with `payments.forEvent(event)`.
 *
 * @throws WebhookVerificationError with `reason`, whose message says how to fix it.
 * @example
 * const { event, order } = await verifyDelivery(await request.text(), request.headers, secret)
 */
export const verifyDelivery = async (
  rawBody: string | ArrayBuffer | Uint8Array,
  headers: Exclude<WebhookHeaders, string>,
  secret: string | ReadonlyArray<string>,
  options: VerifyWebhookOptions = {}
): Promise<{ readonly event: WebhookEvent; readonly order: WebhookOrder | null }> => {
  const event = await verifyWebhook(rawBody, headers, secret, options)
  return { event, order: await orderOf(bytesOf(rawBody), headers, secret) }
}

/** The recommended idempotency key of an event: `<type>:<id>` (docs/contract.md 6.3). */
export const idempotencyKey = (event: Pick<WebhookEvent, "type" | "id">): string =>
  `${event.type}:${event.id}`

/** A signed request for tests of a webhook endpoint: the body and headers that Quittance would send. */
export const signTestWebhook = async (
  event: WebhookEvent,
  secret: string,
  options: VerifyWebhookOptions & { readonly order?: WebhookOrder } = {}
): Promise<{ readonly body: string; readonly headers: Readonly<Record<string, string>> }> => {
  const body = JSON.stringify(event)
  const timestamp = String(options.now ?? Math.floor(Date.now() / 1000))
  const key = await keyOf(secret)
  const signed = async (text: string) => {
    const signature = await crypto.subtle.sign("HMAC", key, signedBytes(text, utf8.encode(body)))
    const hex = Array.from(new Uint8Array(signature), (byte) => byte.toString(16).padStart(2, "0")).join("")
    return `t=${timestamp},v1=${hex}`
  }
  // The service percent-encodes non-ASCII characters too.
  const order = options.order && {
    ...options.order,
    intentUrl: options.order.intentUrl.replace(/[^\x21-\x7e]+/gu, encodeURIComponent)
  }
  return {
    body,
    headers: {
      "content-type": "application/json",
      [headerName]: await signed(`${timestamp}.`),
      ...(await standardHeaders(event.id, timestamp, body, secret)),
      ...(order === undefined
        ? {}
        : {
            [paymentIdName]: order.paymentId,
            [intentUrlName]: order.intentUrl,
            [orderSignatureName]: await signed(orderText(timestamp, order))
          })
    }
  }
}
