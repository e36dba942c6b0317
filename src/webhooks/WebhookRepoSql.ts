// WebhookRepo on Postgres.
import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Env } from "../domain/Chain.ts"
import { MerchantId, Uuid } from "../domain/Merchant.ts"
import { PaymentId } from "../domain/Payment.ts"
import { Attempt, type Delivery, DeliveryStatus, type Endpoint, EventType } from "../domain/Webhook.ts"
import type { Tenant } from "../payments/PaymentRepo.ts"
import { type AttemptResult, type ClaimedDelivery, WebhookRepo } from "./WebhookRepo.ts"

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

const ClaimedRow = Schema.Struct({
  id: Uuid,
  merchant_id: MerchantId,
  env: Env,
  claim_id: Uuid,
  type: EventType,
  body: Schema.Uint8Array,
  attempt: Schema.Int,
  interruptions: Schema.Int,
  endpoint_id: Schema.NullOr(Uuid),
  url: Schema.NullOr(Schema.String),
  secret_kid: Schema.NullOr(Schema.String),
  secret_ciphertext: Schema.NullOr(Schema.Uint8Array)
})

const toClaimed = (row: typeof ClaimedRow.Type): ClaimedDelivery => ({
  id: row.id,
  merchantId: row.merchant_id,
  env: row.env,
  claimId: row.claim_id,
  type: row.type,
  body: row.body,
  attempt: row.attempt,
  interruptions: row.interruptions,
  target:
    row.endpoint_id === null || row.url === null || row.secret_kid === null || row.secret_ciphertext === null
      ? Option.none()
      : Option.some({
          endpointId: row.endpoint_id,
          url: row.url,
          secret: { kid: row.secret_kid, ciphertext: row.secret_ciphertext }
        })
})

const DeliveryRow = Schema.Struct({
  id: Uuid,
  type: EventType,
  payment_id: Schema.NullOr(PaymentId),
  status: DeliveryStatus,
  created_at: Schema.Date,
  attempts: Schema.Array(
    Schema.Struct({
      ...Attempt.fields,
      startedAt: Schema.FiniteFromString.pipe(Schema.decodeTo(Schema.DateFromMillis))
    })
  )
})

const toDelivery = ({ payment_id, created_at, ...row }: typeof DeliveryRow.Type): Delivery => ({
  ...row,
  paymentId: payment_id,
  createdAt: created_at
})

const decodeEndpoints = Schema.decodeUnknownEffect(Schema.Array(EndpointRow))
const decodeClaimed = Schema.decodeUnknownEffect(Schema.Array(ClaimedRow))
const decodeDeliveries = Schema.decodeUnknownEffect(Schema.Array(DeliveryRow))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const endpointColumns = sql.literal(
    "id, merchant_id, env, url, listening, failing, secret_last_four, last_delivered_at, verified_at, created_at, updated_at"
  )
  const claimedColumns = sql.literal(
    "d.id, d.merchant_id, d.env, d.claim_id, d.type, d.body, d.attempts + 1 AS attempt, d.interruptions, e.id AS endpoint_id, e.url, e.secret_kid, e.secret_ciphertext"
  )
  const deliveryColumns = sql.literal(
    `d.id, d.type, d.payment_id, d.status, d.created_at, coalesce((
      SELECT json_agg(json_build_object('number', a.number,
        'startedAt', (extract(epoch FROM a.started_at) * 1000)::bigint::text, 'durationMs', a.duration_ms,
        'responseStatus', a.response_status, 'failure', a.failure) ORDER BY a.number)
      FROM webhook_attempts a WHERE a.delivery_id = d.id), '[]') AS attempts`
  )
  const firstEndpoint = (rows: ReadonlyArray<unknown>) =>
    Effect.map(decodeEndpoints(rows), ([row]) =>
      row === undefined ? Option.none<Endpoint>() : Option.some(toEndpoint(row))
    )
  const firstClaimed = (rows: ReadonlyArray<unknown>) =>
    Effect.map(decodeClaimed(rows), ([row]) =>
      row === undefined ? Option.none<ClaimedDelivery>() : Option.some(toClaimed(row))
    )
  const ofTenant = (tenant: Tenant) => sql`merchant_id = ${tenant.merchantId} AND env = ${tenant.env}`

  return WebhookRepo.of({
    findEndpoint: Effect.fn("WebhookRepo.findEndpoint")(function* (tenant) {
      return yield* firstEndpoint(
        yield* sql`
          SELECT ${endpointColumns} FROM webhook_endpoints WHERE ${ofTenant(tenant)} AND deleted_at IS NULL`
      )
    }, Effect.orDie),

    createEndpoint: Effect.fn("WebhookRepo.createEndpoint")(function* (tenant, endpoint, at) {
      return yield* firstEndpoint(
        yield* sql`
          INSERT INTO webhook_endpoints
            (id, merchant_id, env, url, secret_kid, secret_ciphertext, secret_last_four, created_at, updated_at)
          VALUES (${endpoint.id}, ${tenant.merchantId}, ${tenant.env}, ${endpoint.url}, ${endpoint.secret.kid},
            ${endpoint.secret.ciphertext}, ${endpoint.secretLastFour}, ${at}, ${at})
          ON CONFLICT (merchant_id, env) WHERE deleted_at IS NULL DO NOTHING
          RETURNING ${endpointColumns}`
      )
    }, Effect.orDie),

    changeUrl: Effect.fn("WebhookRepo.changeUrl")(function* (tenant, url, at) {
      return yield* firstEndpoint(
        yield* sql`
          UPDATE webhook_endpoints
          SET url = ${url}, verified_at = NULL, failing = false, listening = false, updated_at = ${at}
          WHERE ${ofTenant(tenant)} AND deleted_at IS NULL
          RETURNING ${endpointColumns}`
      )
    }, Effect.orDie),

    replaceSecret: Effect.fn("WebhookRepo.replaceSecret")(function* (tenant, endpointId, secret, at) {
      return yield* firstEndpoint(
        yield* sql`
          UPDATE webhook_endpoints
          SET secret_kid = ${secret.secret.kid}, secret_ciphertext = ${secret.secret.ciphertext},
            secret_last_four = ${secret.secretLastFour}, updated_at = ${at}
          WHERE id = ${endpointId} AND ${ofTenant(tenant)} AND deleted_at IS NULL
          RETURNING ${endpointColumns}`
      )
    }, Effect.orDie),

    deleteEndpoint: Effect.fn("WebhookRepo.deleteEndpoint")(function* (tenant, at) {
      const rows = yield* sql`
        WITH deleted AS (
          UPDATE webhook_endpoints SET deleted_at = ${at}, updated_at = ${at}
          WHERE ${ofTenant(tenant)} AND deleted_at IS NULL
          RETURNING merchant_id, env
        ), cancelled AS (
          UPDATE webhook_deliveries d SET status = 'cancelled', due_at = NULL, claim_id = NULL, finished_at = ${at}
          FROM deleted WHERE d.merchant_id = deleted.merchant_id AND d.env = deleted.env AND d.status = 'pending'
        )
        SELECT 1 AS done FROM deleted`
      return rows.length > 0
    }, Effect.orDie),

    enqueueSettled: Effect.fn("WebhookRepo.enqueueSettled")(function* (tenant, paymentId, delivery, at) {
      yield* sql`
        INSERT INTO webhook_deliveries
          (id, merchant_id, env, payment_id, type, body, status, due_at, created_at, finished_at)
        SELECT ${delivery.id}::uuid, ${tenant.merchantId}::uuid, ${tenant.env}, ${paymentId}::uuid,
          'payment.settled', ${delivery.body}::bytea,
          CASE WHEN active THEN 'pending' ELSE 'cancelled' END,
          CASE WHEN active THEN ${at}::timestamptz END, ${at}::timestamptz,
          CASE WHEN active THEN NULL ELSE ${at}::timestamptz END
        FROM (SELECT EXISTS (
          SELECT 1 FROM webhook_endpoints WHERE ${ofTenant(tenant)} AND deleted_at IS NULL
        ) AS active) endpoint`
    }, Effect.orDie),

    claimTest: Effect.fn("WebhookRepo.claimTest")(function* (tenant, delivery, claim) {
      return yield* firstClaimed(
        yield* sql`
          WITH e AS (
            SELECT * FROM webhook_endpoints WHERE ${ofTenant(tenant)} AND deleted_at IS NULL
          ), d AS (
            INSERT INTO webhook_deliveries
              (id, merchant_id, env, type, body, status, due_at, claim_id, created_at)
            SELECT ${delivery.id}::uuid, e.merchant_id, e.env, 'test', ${delivery.body}::bytea, 'pending',
              ${claim.leaseUntil}::timestamptz, ${claim.claimId}::uuid, ${claim.at}::timestamptz
            FROM e RETURNING *
          ), attempt AS (
            INSERT INTO webhook_attempts (delivery_id, number, started_at)
            SELECT id, 1, ${claim.at}::timestamptz FROM d
          )
          SELECT ${claimedColumns} FROM d, e`
      )
    }, Effect.orDie),

    claimResend: Effect.fn("WebhookRepo.claimResend")(function* (tenant, deliveryId, claim) {
      return yield* firstClaimed(
        yield* sql`
          WITH d AS (
            UPDATE webhook_deliveries SET status = 'pending', due_at = ${claim.leaseUntil},
              claim_id = ${claim.claimId}, finished_at = NULL
            WHERE id = ${deliveryId} AND ${ofTenant(tenant)} AND status <> 'pending'
              AND EXISTS (SELECT 1 FROM webhook_endpoints WHERE ${ofTenant(tenant)} AND deleted_at IS NULL)
            RETURNING *
          ), attempt AS (
            INSERT INTO webhook_attempts (delivery_id, number, manual, started_at)
            SELECT id, attempts + 1, true, ${claim.at}::timestamptz FROM d
          )
          SELECT ${claimedColumns}
          FROM d JOIN webhook_endpoints e
            ON e.merchant_id = d.merchant_id AND e.env = d.env AND e.deleted_at IS NULL`
      )
    }, Effect.orDie),

    claimDue: Effect.fnUntraced(function* (claim) {
      // A lease that ran out is due again with its old claim id still on it: that attempt was interrupted.
      const rows = yield* sql`
        WITH tenants AS (
          SELECT DISTINCT merchant_id, env FROM webhook_deliveries WHERE due_at <= ${claim.at}
            AND NOT (merchant_id::text || ' ' || env) = ANY(${claim.busy.map((one) => `${one.merchantId} ${one.env}`)}::text[])
        ), due AS (
          SELECT picked.id FROM tenants CROSS JOIN LATERAL (
            SELECT id, due_at FROM webhook_deliveries
            WHERE merchant_id = tenants.merchant_id AND env = tenants.env AND due_at <= ${claim.at}
            ORDER BY due_at LIMIT ${claim.perEndpoint} FOR UPDATE SKIP LOCKED
          ) picked
          ORDER BY picked.due_at LIMIT ${claim.limit}
        ), d AS (
          UPDATE webhook_deliveries SET due_at = ${claim.leaseUntil},
            interruptions = interruptions + (claim_id IS NOT NULL)::integer, claim_id = ${claim.claimId}
          WHERE id IN (SELECT id FROM due)
          RETURNING *
        ), attempt AS (
          INSERT INTO webhook_attempts (delivery_id, number, started_at)
          SELECT id, attempts + 1, ${claim.at}::timestamptz FROM d
          ON CONFLICT (delivery_id, number) DO UPDATE SET started_at = excluded.started_at
        )
        SELECT ${claimedColumns}
        FROM d LEFT JOIN webhook_endpoints e
          ON e.merchant_id = d.merchant_id AND e.env = d.env AND e.deleted_at IS NULL`
      return (yield* decodeClaimed(rows)).map(toClaimed)
    }, Effect.orDie),

    finish: Effect.fnUntraced(function* (result) {
      return (yield* finishStatement(result)).length > 0
    }, Effect.orDie),

    release: Effect.fn("WebhookRepo.release")(function* (claimed, at) {
      yield* sql`
        UPDATE webhook_deliveries SET due_at = ${at}, claim_id = NULL
        WHERE id = ANY(${claimed.map((one) => one.id)}::uuid[])
          AND claim_id = ANY(${claimed.map((one) => one.claimId)}::uuid[]) AND status = 'pending'`
    }, Effect.orDie),

    findDelivery: Effect.fn("WebhookRepo.findDelivery")(function* (tenant, id) {
      const rows = yield* sql`
        SELECT ${deliveryColumns} FROM webhook_deliveries d
        WHERE d.id = ${id} AND d.merchant_id = ${tenant.merchantId} AND d.env = ${tenant.env}`
      const [row] = yield* decodeDeliveries(rows)
      return row === undefined ? Option.none<Delivery>() : Option.some(toDelivery(row))
    }, Effect.orDie),

    listDeliveries: Effect.fn("WebhookRepo.listDeliveries")(function* (tenant, limit) {
      const rows = yield* sql`
        SELECT ${deliveryColumns} FROM webhook_deliveries d
        WHERE d.merchant_id = ${tenant.merchantId} AND d.env = ${tenant.env}
        ORDER BY d.created_at DESC, d.id DESC LIMIT ${limit}`
      return (yield* decodeDeliveries(rows)).map(toDelivery)
    }, Effect.orDie),

    prune: Effect.fn("WebhookRepo.prune")(function* (before) {
      const rows = yield* sql`
        DELETE FROM webhook_attempts a USING webhook_deliveries d
        WHERE d.id = a.delivery_id AND d.status <> 'pending' AND a.started_at < ${before}
        RETURNING a.number`
      return rows.length
    }, Effect.orDie)
  })

  function finishStatement({ claimed, ...result }: AttemptResult) {
    const ok = result.status === "delivered"
    const answered = result.responseStatus !== null
    const target = Option.getOrNull(claimed.target)
    // The endpoint row is touched only where something changes (or a second has passed), so that
    // a burst to one endpoint does not queue on its row.
    return sql`
      WITH d AS (
        UPDATE webhook_deliveries SET
          status = ${result.status}, due_at = ${result.dueAt}, claim_id = NULL,
          attempts = ${claimed.attempt}, interruptions = 0,
          finished_at = ${result.status === "pending" ? null : result.at}
        WHERE id = ${claimed.id} AND claim_id = ${claimed.claimId}
        RETURNING id, merchant_id, env
      ), attempt AS (
        UPDATE webhook_attempts a SET duration_ms = ${result.durationMs}, response_status = ${result.responseStatus},
          failure = ${result.failure}, response_body = ${result.responseBody}
        FROM d WHERE a.delivery_id = d.id AND a.number = ${claimed.attempt}
      ), endpoint AS (
        UPDATE webhook_endpoints e SET listening = ${answered}, failing = ${!ok},
          last_delivered_at = CASE WHEN ${ok} THEN ${result.at}::timestamptz ELSE last_delivered_at END,
          verified_at = CASE WHEN ${ok} THEN coalesce(verified_at, ${result.at}::timestamptz) ELSE verified_at END
        FROM d
        WHERE e.id = ${target?.endpointId ?? null}::uuid AND e.url = ${target?.url ?? null}
          AND (e.listening <> ${answered} OR e.failing <> ${!ok} OR (${ok} AND (
            e.verified_at IS NULL OR e.last_delivered_at IS NULL
              OR e.last_delivered_at < ${result.at}::timestamptz - interval '1 second')))
      ), alert AS (
        INSERT INTO alerts (id, merchant_id, env, kind, subject, message, created_at)
        SELECT gen_random_uuid(), merchant_id, env, 'webhook_exhausted', id::text,
          'A webhook delivery failed for good. Repair the receiver, then resend it.', ${result.at}::timestamptz
        FROM d WHERE ${result.status === "failed"}
        ON CONFLICT (kind, subject) WHERE acknowledged_at IS NULL DO NOTHING
      )
      SELECT id FROM d`
  }
})

export const layerSql: Layer.Layer<WebhookRepo, never, SqlClient.SqlClient> = Layer.suspend(() =>
  Layer.effect(WebhookRepo, make)
)
