// Webhook endpoints, deliveries and the messages they carry (docs/contract.md 2.3 and 6).
import { Record, Schema, Struct } from "effect"
import { Env, TransactionHash } from "./Chain.ts"
import { MerchantId, Uuid } from "./Merchant.ts"
import { PaymentId } from "./Payment.ts"
import { TokenChange } from "./TokenChange.ts"

const SettledEvent = Schema.Struct({
  id: Uuid.annotate({ description: "The delivery's id, the same in every attempt and resend." }),
  type: Schema.Literal("payment.settled"),
  livemode: Schema.Boolean,
  transactionId: TransactionHash,
  tokenChanges: Schema.Array(TokenChange)
}).annotate({ identifier: "PaymentSettledEvent" })

const TestEvent = Schema.Struct({
  id: Uuid,
  type: Schema.Literal("test"),
  livemode: Schema.Boolean
}).annotate({ identifier: "TestEvent" })

/** All event types. The events feed and the OpenAPI document are generated from this table. */
export const events = {
  "payment.settled": {
    body: SettledEvent,
    /** True if the delivery's headers contain a payment and its order. */
    belongsToPayment: true,
    summary: "A payment has settled",
    description:
      "Ship on this event, once for each `<type>:<id>`: it is delivered again if the response is lost."
  },
  test: {
    body: TestEvent,
    belongsToPayment: false,
    summary: "A test",
    description: "Somebody has asked for a test delivery. It has no order."
  }
} as const
export const EventType = Schema.Literals(Struct.keys(events))
export type EventType = typeof EventType.Type

/** The JSON of a delivery. */
export const WebhookBody = Schema.Union(Record.values(events).map(({ body }) => body))

/** `unverified`: no 2xx since the URL was set. `failing`: the last attempt failed. */
export const EndpointHealth = Schema.Literals(["unverified", "healthy", "failing"])
export type EndpointHealth = typeof EndpointHealth.Type

export const DeliveryStatus = Schema.Literals(["pending", "delivered", "failed", "cancelled"])
export type DeliveryStatus = typeof DeliveryStatus.Type

/** A merchant's webhook endpoint for one environment. Its signing secret is stored encrypted. */
export const Endpoint = Schema.Struct({
  id: Uuid,
  merchantId: MerchantId,
  env: Env,
  url: Schema.String,
  health: EndpointHealth,
  /** True if the URL responded to the latest attempt. */
  listening: Schema.Boolean,
  secretLastFour: Schema.String,
  lastDeliveredAt: Schema.NullOr(Schema.Date),
  verifiedAt: Schema.NullOr(Schema.Date),
  createdAt: Schema.Date,
  updatedAt: Schema.Date
})
export type Endpoint = typeof Endpoint.Type

/**
 * Reasons why an attempt failed: no DNS result (`dns`), a forbidden address or URL (`blocked`), no connection
 * (`connect`), no trusted TLS handshake (`tls`), a timeout (`timeout`), a response that is not HTTP (`response`), a
 * status other than 2xx (`status`), or the service stopped during it (`interrupted`).
 */
export const AttemptFailure = Schema.Literals([
  "dns",
  "blocked",
  "connect",
  "tls",
  "timeout",
  "response",
  "status",
  "interrupted"
])
export type AttemptFailure = typeof AttemptFailure.Type

export const DeliveryAttempt = Schema.Struct({
  number: Schema.Int,
  /** True if a person requested the attempt. */
  manual: Schema.Boolean,
  startedAt: Schema.Date,
  /** Null while the attempt runs, and if a crash interrupted it. */
  durationMs: Schema.NullOr(Schema.Int),
  responseStatus: Schema.NullOr(Schema.Int),
  failure: Schema.NullOr(AttemptFailure)
})
export type DeliveryAttempt = typeof DeliveryAttempt.Type

export const Delivery = Schema.Struct({
  /** The payload's `id`, the same in every attempt and resend. */
  id: Uuid,
  type: EventType,
  paymentId: Schema.NullOr(PaymentId),
  status: DeliveryStatus,
  attempts: Schema.Array(DeliveryAttempt),
  createdAt: Schema.Date
})
export type Delivery = typeof Delivery.Type

const bytes = (event: unknown) => new TextEncoder().encode(JSON.stringify(event))

/** The body of `payment.settled`, built once and stored. */
export const settledEvent = (event: {
  readonly id: string
  readonly livemode: boolean
  readonly transactionId: string
  readonly tokenChanges: ReadonlyArray<TokenChange>
}): Uint8Array =>
  bytes({
    id: event.id,
    type: "payment.settled",
    livemode: event.livemode,
    transactionId: event.transactionId,
    tokenChanges: event.tokenChanges.map(({ amountAtomic, chainId, receiver, tokenAddress }) => ({
      amountAtomic,
      chainId,
      receiver,
      tokenAddress
    }))
  })

/** The body of a test event. `livemode` is false even for live endpoints, because no money is concerned. */
export const testEvent = (id: string): Uint8Array => bytes({ id, type: "test", livemode: false })

/** The webhook of a settlement, stored in the same statement. */
export interface SettledDelivery {
  readonly id: string
  readonly body: Uint8Array
}
