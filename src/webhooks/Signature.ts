// Signs a delivery so that the endpoint can prove who sent it and when: the header of docs/contract.md 6.2
// (Stripe's construction) and the three headers of Standard Webhooks, from one secret.
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"

const prefix = "whsec_"

/** Bun's own hasher, because `createHmac` creates a stream each time. */
const hmacSha256 = (key: string | Uint8Array) => new Bun.CryptoHasher("sha256", key)

/** A new signing secret: `whsec_` and the base64 of 32 random bytes. Needs `SecureRandom`. */
export const makeWebhookSecret = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  const bytes = yield* random.randomBytes(32)
  return Redacted.make(`${prefix}${Buffer.from(bytes).toString("base64")}`, { label: "webhook secret" })
})

/** The last four characters, which distinguish secrets. */
export const secretLastFour = (secret: Redacted.Redacted<string>): string => Redacted.value(secret).slice(-4)

/** The order of a delivery. The body's form is fixed, so the order goes into headers. */
export interface SignedOrder {
  readonly paymentId: string
  readonly intentUrl: string
}

/** The signed content: one delivery at one moment. */
export interface Signable {
  /** The delivery's id, the same in every attempt. */
  readonly id: string
  /** Unix seconds. */
  readonly timestamp: number
  /** The exact bytes that are sent. */
  readonly body: Uint8Array
  /** Absent from a test event. */
  readonly order?: SignedOrder | undefined
}

/**
 * The value of `x-service-signature`: `t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.body">`, keyed with the
 * whole secret string as UTF-8 (docs/contract.md 6.2).
 */
export const serviceSignature = (
  { timestamp, body }: Pick<Signable, "timestamp" | "body">,
  secret: string
): string => {
  const hmac = hmacSha256(secret).update(`${timestamp}.`).update(body)
  return `t=${timestamp},v1=${hmac.digest("hex")}`
}

/**
 * The value of `webhook-signature`: `v1,<base64 HMAC-SHA256 of "id.timestamp.body">`, keyed with the bytes
 * that the secret encodes after `whsec_` (Standard Webhooks).
 */
export const standardSignature = ({ id, timestamp, body }: Signable, secret: string): string => {
  const key = Buffer.from(secret.startsWith(prefix) ? secret.slice(prefix.length) : secret, "base64")
  const hmac = hmacSha256(key).update(`${id}.${timestamp}.`).update(body)
  return `v1,${hmac.digest("base64")}`
}

/** Longer order headers are left out. */
const maxHeaderLength = 4096
const headerSafe = (url: string) => url.toWellFormed().replace(/[^\x21-\x7e]+/gu, encodeURIComponent)

/**
 * The value of `quittance-order-signature`: `t=<unix seconds>,v1=<hex HMAC-SHA256>` over the line
 * `quittance-order`, the lines of timestamp, payment id and URL, and the body, keyed with the whole secret
 * string. Signed bodies never begin with those letters, so neither signature is valid for the other.
 */
export const orderSignature = (
  { timestamp, body, order }: { readonly order: SignedOrder } & Pick<Signable, "timestamp" | "body">,
  secret: string
): string => {
  const lines = `quittance-order\n${timestamp}\n${order.paymentId}\n${order.intentUrl}\n`
  return `t=${timestamp},v1=${hmacSha256(secret).update(lines).update(body).digest("hex")}`
}

/** The headers that specify the order, signed like the body. */
export interface OrderHeaders {
  readonly "quittance-payment-id": string
  readonly "quittance-intent-url": string
  readonly "quittance-order-signature": string
}

const orderHeaders = (
  { order, ...signable }: Signable,
  secret: string
): OrderHeaders | Record<never, never> => {
  if (order === undefined) return {}
  const headerOrder = { paymentId: order.paymentId, intentUrl: headerSafe(order.intentUrl) }
  // Servers may reject longer headers, and the event must arrive.
  if (headerOrder.intentUrl.length > maxHeaderLength) return {}
  return {
    "quittance-payment-id": headerOrder.paymentId,
    "quittance-intent-url": headerOrder.intentUrl,
    "quittance-order-signature": orderSignature({ ...signable, order: headerOrder }, secret)
  }
}

/** The headers that prove a delivery. */
export interface SignatureHeaders extends Partial<OrderHeaders> {
  readonly "x-service-signature": string
  readonly "webhook-id": string
  readonly "webhook-timestamp": string
  readonly "webhook-signature": string
}

/** All signature headers of one delivery at one moment. */
export const signatureHeaders = (
  signable: Signable,
  secret: Redacted.Redacted<string>
): SignatureHeaders => ({
  "x-service-signature": serviceSignature(signable, Redacted.value(secret)),
  "webhook-id": signable.id,
  "webhook-timestamp": String(signable.timestamp),
  "webhook-signature": standardSignature(signable, Redacted.value(secret)),
  ...orderHeaders(signable, Redacted.value(secret))
})
