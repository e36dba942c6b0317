// The rows of endpoints, leases and deliveries as SQL returns them, and their domain shapes.
import { Effect, Option, Schema } from "effect"
import { Env } from "../../domain/Chain.ts"
import { MerchantId, Uuid } from "../../domain/Merchant.ts"
import { PaymentId } from "../../domain/Payment.ts"
import {
  type Delivery,
  DeliveryAttempt,
  DeliveryStatus,
  type Endpoint,
  EventType
} from "../../domain/Webhook.ts"
import type { Sealed } from "../../platform/SecretBox.ts"
import { endpointTrustMillis } from "./endpointTrustMillis.ts"
import type { LeasedDelivery } from "./WebhookStore.ts"

const EndpointRow = Schema.Struct({
  id: Uuid,
  merchant_id: MerchantId,
  env: Env,
  url: Schema.String,
  listening: Schema.Boolean,
  failing: Schema.Boolean,
  secret_last_four: Schema.String,
  last_delivered_at: Schema.NullOr(Schema.Date),
  verified_at: Schema.NullOr(Schema.Date),
  created_at: Schema.Date,
  updated_at: Schema.Date
})

/** The columns of `EndpointRow`. */
export const endpointColumns =
  "id, merchant_id, env, url, listening, failing, secret_last_four, last_delivered_at, verified_at, created_at, updated_at"

const toEndpoint = (row: typeof EndpointRow.Type): Endpoint => ({
  id: row.id,
  merchantId: row.merchant_id,
  env: row.env,
  url: row.url,
  health: row.failing ? "failing" : row.verified_at === null ? "unverified" : "healthy",
  listening: row.listening,
  secretLastFour: row.secret_last_four,
  lastDeliveredAt: row.last_delivered_at,
  verifiedAt: row.verified_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at
})

const LeasedRow = Schema.Struct({
  id: Uuid,
  merchant_id: MerchantId,
  env: Env,
  claim_id: Uuid,
  due_at: Schema.Date,
  type: EventType,
  body: Schema.Uint8Array,
  payment_id: Schema.NullOr(PaymentId),
  intent_url: Schema.NullOr(Schema.String),
  attempt: Schema.Int,
  interruptions: Schema.Int,
  resent_from: Schema.NullOr(DeliveryStatus),
  endpoint_id: Uuid,
  url: Schema.String,
  secret_kid: Schema.String,
  secret_ciphertext: Schema.Uint8Array,
  is_proven: Schema.Boolean,
  was_due_at: Schema.Date
})

/** The columns of `LeasedRow` except `was_due_at`, from the delivery `d` and its endpoint `e`. */
export const leasedColumns = `d.id, d.merchant_id, d.env, d.claim_id, d.due_at, d.type, d.body, d.payment_id,
  (SELECT p.intent_url FROM payments p WHERE p.id = d.payment_id) AS intent_url,
  d.attempts + 1 AS attempt, d.interruptions, d.resent_from, d.endpoint_id, e.url, e.secret_kid, e.secret_ciphertext,
  NOT e.failing AND e.verified_at IS NOT NULL AND e.last_delivered_at IS NOT NULL
    AND e.last_delivered_at > now() - interval '${endpointTrustMillis} milliseconds' AS is_proven`

const toLeased = (row: typeof LeasedRow.Type, secret: Sealed): LeasedDelivery => ({
  id: row.id,
  merchantId: row.merchant_id,
  env: row.env,
  leaseId: row.claim_id,
  leaseUntil: row.due_at,
  wasDueAt: row.was_due_at,
  type: row.type,
  body: row.body,
  order:
    row.payment_id === null || row.intent_url === null
      ? null
      : { paymentId: row.payment_id, intentUrl: row.intent_url },
  attempt: row.attempt,
  interruptions: row.interruptions,
  resentFrom: row.resent_from,
  isProven: row.is_proven,
  target: {
    endpointId: row.endpoint_id,
    url: row.url,
    secret
  }
})

const DeliveryRow = Schema.Struct({
  id: Uuid,
  type: EventType,
  payment_id: Schema.NullOr(PaymentId),
  status: DeliveryStatus,
  created_at: Schema.Date,
  attempts: Schema.Array(
    Schema.Struct({
      ...DeliveryAttempt.fields,
      startedAt: Schema.FiniteFromString.pipe(Schema.decodeTo(Schema.DateFromMillis))
    })
  )
})

/** The columns of `DeliveryRow`, from the delivery `d`. */
export const deliveryColumns = `d.id, d.type, d.payment_id, d.status, d.created_at, coalesce((
  SELECT json_agg(json_build_object('number', a.number, 'manual', a.manual,
    'startedAt', (extract(epoch FROM a.started_at) * 1000)::bigint::text, 'durationMs', a.duration_ms,
    'responseStatus', a.response_status, 'failure', a.failure) ORDER BY a.number)
  FROM webhook_attempts a WHERE a.delivery_id = d.id), '[]') AS attempts`

const toDelivery = ({ payment_id, created_at, ...row }: typeof DeliveryRow.Type): Delivery => ({
  ...row,
  paymentId: payment_id,
  createdAt: created_at
})

const DeliveryWithBodyRow = Schema.Struct({ ...DeliveryRow.fields, body: Schema.Uint8Array })

const decodeWithBody = Schema.decodeUnknownEffect(Schema.Array(DeliveryWithBodyRow))
const decodeEndpoints = Schema.decodeUnknownEffect(Schema.Array(EndpointRow))
const decodeLeased = Schema.decodeUnknownEffect(Schema.Array(LeasedRow))
const decodeDeliveries = Schema.decodeUnknownEffect(Schema.Array(DeliveryRow))

export const firstEndpoint = (rows: ReadonlyArray<unknown>) =>
  Effect.map(decodeEndpoints(rows), ([row]) => Option.map(Option.fromUndefinedOr(row), toEndpoint))

/** Deliveries of one lease to one endpoint share its secret, so that it is decrypted once. */
export const allLeased = (rows: ReadonlyArray<unknown>) =>
  Effect.map(decodeLeased(rows), (all) => {
    const secrets = new Map<string, Sealed>()
    return all.map((row) => {
      const secret = secrets.get(row.endpoint_id) ?? {
        kid: row.secret_kid,
        ciphertext: row.secret_ciphertext
      }
      secrets.set(row.endpoint_id, secret)
      return toLeased(row, secret)
    })
  })

export const firstLeased = (rows: ReadonlyArray<unknown>) =>
  Effect.map(allLeased(rows), ([leased]) => Option.fromUndefinedOr(leased))

export const allDeliveries = (rows: ReadonlyArray<unknown>) =>
  Effect.map(decodeDeliveries(rows), (all) => all.map(toDelivery))

export const firstDelivery = (rows: ReadonlyArray<unknown>) =>
  Effect.map(allDeliveries(rows), ([delivery]) => Option.fromUndefinedOr(delivery))

export const firstWithBody = (rows: ReadonlyArray<unknown>) =>
  Effect.map(decodeWithBody(rows), ([row]) =>
    Option.map(Option.fromUndefinedOr(row), ({ body, ...delivery }) => ({
      delivery: toDelivery(delivery),
      body
    }))
  )
