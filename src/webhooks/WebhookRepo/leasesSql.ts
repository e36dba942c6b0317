// The queue in SQL: leases of deliveries, and outcomes under those leases. Each is one statement, however many
// deliveries it leases or records.

import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Tenant, Uuid } from "../../domain/Merchant.ts"
import { plusMillis } from "../../domain/plusMillis.ts"
import { DeliveryStatus } from "../../domain/Webhook.ts"
import { waitingEndpoints } from "../../platform/workers/waitingEndpointsSql.ts"
import { cancelBatchSize } from "./cancelBatchSize.ts"
import { endpointTrustMillis } from "./endpointTrustMillis.ts"
import { allLeased, firstLeased, leasedColumns } from "./WebhookRows.ts"
import type { AttemptResult, WebhookStore } from "./WebhookStore.ts"

const decodeFinished = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ id: Uuid, status: DeliveryStatus }))
)

/** A result in the shape of the statement's `results`. */
const toRecord = ({ delivery, ...result }: AttemptResult) => ({
  id: delivery.id,
  claim_id: delivery.leaseId,
  attempt: delivery.attempt,
  url: delivery.target.url,
  at: result.at,
  duration_ms: result.durationMs,
  response_status: result.responseStatus,
  failure: result.failure,
  response_body: result.responseBody === null ? null : Buffer.from(result.responseBody).toString("hex"),
  request_head: result.requestHead,
  status: result.status,
  due_at: result.dueAt
})

/** The part of WebhookRepo that leases, finishes and releases. */
export const leasesSql = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal(leasedColumns)
  const endpointOf = (tenant: Tenant) => sql`
    SELECT * FROM webhook_endpoints
    WHERE merchant_id = ${tenant.merchantId} AND env = ${tenant.env} AND deleted_at IS NULL`

  const leaseTest: WebhookStore["leaseTest"] = Effect.fn("WebhookRepo.leaseTest")(function* (
    tenant,
    delivery,
    lease
  ) {
    return yield* firstLeased(
      yield* sql`
        WITH e AS (${endpointOf(tenant)}), d AS (
          INSERT INTO webhook_deliveries
            (id, merchant_id, env, endpoint_id, type, body, status, due_at, claim_id, created_at)
          SELECT ${delivery.id}::uuid, e.merchant_id, e.env, e.id, 'test', ${delivery.body}::bytea, 'pending',
            ${lease.leaseUntil}::timestamptz, ${lease.leaseId}::uuid, ${lease.at}::timestamptz
          FROM e RETURNING *
        ), attempt AS (
          INSERT INTO webhook_attempts (delivery_id, number, manual, started_at)
          SELECT id, 1, true, ${lease.at}::timestamptz FROM d
        )
        SELECT ${columns}, ${lease.at}::timestamptz AS was_due_at FROM d, e`
    )
  }, Effect.orDie)

  const leaseResend: WebhookStore["leaseResend"] = Effect.fn("WebhookRepo.leaseResend")(function* (
    tenant,
    deliveryId,
    lease
  ) {
    return yield* firstLeased(
      yield* sql`
        WITH e AS (${endpointOf(tenant)}), d AS (
          UPDATE webhook_deliveries d SET status = 'pending', resent_from = d.status, endpoint_id = e.id,
            due_at = ${lease.leaseUntil}, claim_id = ${lease.leaseId}, claimed_by = NULL, interruptions = 0,
            finished_at = NULL
          FROM e
          WHERE d.id = ${deliveryId} AND d.merchant_id = e.merchant_id AND d.env = e.env AND d.status <> 'pending'
          RETURNING d.*
        ), attempt AS (
          INSERT INTO webhook_attempts (delivery_id, number, manual, started_at)
          SELECT id, attempts + 1, true, ${lease.at}::timestamptz FROM d
          ON CONFLICT (delivery_id, number) DO UPDATE SET manual = true, started_at = excluded.started_at,
            duration_ms = NULL, response_status = NULL, failure = NULL, response_body = NULL, request_head = NULL
        )
        SELECT ${columns}, ${lease.at}::timestamptz AS was_due_at FROM d, e`
    )
  }, Effect.orDie)

  const leaseDue: WebhookStore["leaseDue"] = Effect.fnUntraced(function* (lease) {
    // A delivery whose lease expired is due again with its old lease's id. Every plan looks up an array of ids
    // in a primary key. The other arrays are inlined, so each lease gets its own plan: a cached plan from
    // when the table was small would scan the whole table.
    const provenSince = plusMillis(lease.at, -endpointTrustMillis)
    const long = lease.queueStarts.map(({ endpointId }) => endpointId)
    const rows = yield* sql`
      WITH RECURSIVE ${waitingEndpoints(sql, long)}, queues AS (
        SELECT endpoint_id, due_at, '-infinity'::timestamptz AS start FROM waiting
        UNION ALL
        SELECT long.id, d.due_at, long.start
        FROM unnest(${long}::uuid[], ${lease.queueStarts.map(({ from }) => from.toISOString())}::text[]::timestamptz[]) AS long (id, start)
        CROSS JOIN LATERAL (
          SELECT due_at FROM webhook_deliveries
          WHERE endpoint_id = long.id AND due_at >= long.start ORDER BY due_at LIMIT 1
        ) d
      ), endpoint_queues AS (
        SELECT e.id, queues.start, e.deleted_at IS NOT NULL AS gone,
          coalesce(nullif(capacities.accepts, -1) = 1, NOT e.failing AND e.verified_at IS NOT NULL AND e.last_delivered_at IS NOT NULL
            AND e.last_delivered_at > ${provenSince}) AS proven,
          CASE WHEN e.deleted_at IS NULL THEN coalesce(capacities.capacity, ${lease.perEndpoint}::integer)
            ELSE ${cancelBatchSize}::integer END AS capacity
        FROM queues JOIN webhook_endpoints e ON e.id = queues.endpoint_id
        LEFT JOIN unnest(${lease.capacities.map(({ endpointId }) => endpointId)}::uuid[],
          ${lease.capacities.map(({ capacity }) => capacity)}::integer[],
          ${lease.capacities.map(({ accepts }) => (accepts === null ? -1 : Number(accepts)))}::integer[]) AS capacities (id, capacity, accepts) ON capacities.id = e.id
        WHERE queues.due_at <= ${lease.at}
      ), due_deliveries AS (
        SELECT open.id, open.due_at, endpoint_queues.gone, endpoint_queues.proven FROM endpoint_queues CROSS JOIN LATERAL (
          SELECT id, due_at FROM webhook_deliveries
          WHERE endpoint_id = endpoint_queues.id AND due_at >= endpoint_queues.start AND due_at <= ${lease.at}
          ORDER BY due_at LIMIT endpoint_queues.capacity FOR UPDATE SKIP LOCKED
        ) open
      ), leasable AS (
        SELECT id, due_at FROM (
          SELECT *, row_number() OVER (PARTITION BY proven ORDER BY due_at) AS rank FROM due_deliveries WHERE NOT gone
        ) ranked
        WHERE proven OR rank <= ${lease.limitUnproven}
        ORDER BY proven DESC, due_at LIMIT ${lease.limit}
      ), cancelled AS (
        UPDATE webhook_deliveries SET due_at = NULL, claim_id = NULL, resent_from = NULL, finished_at = ${lease.at},
          status = coalesce(resent_from, 'cancelled')
        WHERE id = ANY (ARRAY(SELECT id FROM due_deliveries WHERE gone))
        RETURNING id
      ), interrupted AS (
        UPDATE webhook_attempts SET failure = 'interrupted'
        WHERE delivery_id = ANY (ARRAY(SELECT id FROM cancelled)) AND duration_ms IS NULL
      ), d AS (
        UPDATE webhook_deliveries SET due_at = ${lease.leaseUntil}, claimed_by = ${lease.leasedBy},
          interruptions = interruptions + (claim_id IS NOT NULL)::integer, claim_id = ${lease.leaseId}
        WHERE id = ANY (ARRAY(SELECT id FROM leasable))
        RETURNING *
      ), attempt AS (
        INSERT INTO webhook_attempts (delivery_id, number, started_at)
        SELECT id, attempts + 1, ${lease.at}::timestamptz FROM d
        ON CONFLICT (delivery_id, number) DO UPDATE SET started_at = excluded.started_at, failure = NULL
      )
      SELECT ${columns}, leasable.due_at AS was_due_at
      FROM d JOIN leasable ON leasable.id = d.id JOIN webhook_endpoints e ON e.id = d.endpoint_id`
    return yield* allLeased(rows)
  }, Effect.orDie)

  const finish: WebhookStore["finish"] = Effect.fnUntraced(function* (results) {
    // An endpoint's row is written only if something changes or a second has passed, so that a burst does not
    // rewrite it. Rows are written in id order, so that instances do not deadlock. An attempt to a former URL
    // says nothing about the current one.
    const rows = yield* sql`
      WITH results AS (
        SELECT * FROM json_to_recordset(${JSON.stringify(results.map(toRecord))}::text::json) AS r (
          id uuid, claim_id uuid, attempt integer, url text, at timestamptz, duration_ms integer,
          response_status integer, failure text, response_body text, request_head text, status text, due_at timestamptz)
      ), finished_deliveries AS (
        UPDATE webhook_deliveries d SET
          status = CASE WHEN r.status = 'pending' AND e.deleted_at IS NOT NULL THEN 'cancelled' ELSE r.status END,
          due_at = CASE WHEN e.deleted_at IS NULL THEN r.due_at END,
          finished_at = CASE WHEN r.status <> 'pending' OR e.deleted_at IS NOT NULL THEN r.at END,
          attempts = r.attempt, claim_id = NULL, resent_from = NULL
        FROM results r, webhook_endpoints e
        WHERE d.id = r.id AND d.claim_id = r.claim_id AND e.id = d.endpoint_id
        RETURNING d.id, r.claim_id, d.merchant_id, d.env, d.endpoint_id, d.status
      ), attempt AS (
        UPDATE webhook_attempts a SET duration_ms = r.duration_ms, response_status = r.response_status,
          failure = r.failure, response_body = decode(r.response_body, 'hex'),
          request_head = r.request_head
        FROM finished_deliveries d JOIN results r USING (id, claim_id) WHERE a.delivery_id = d.id AND a.number = r.attempt
      ), latest AS (
        SELECT d.endpoint_id, r.url,
          (array_agg(r.response_status IS NOT NULL ORDER BY r.at DESC))[1] AS listening,
          (array_agg(r.failure IS NOT NULL ORDER BY r.at DESC))[1] AS failing,
          max(r.at) FILTER (WHERE r.failure IS NULL) AS delivered_at
        FROM finished_deliveries d JOIN results r USING (id, claim_id) GROUP BY d.endpoint_id, r.url
      ), locked AS (
        SELECT e.id, latest.* FROM webhook_endpoints e
        JOIN latest ON latest.endpoint_id = e.id AND latest.url = e.url
        WHERE e.listening <> latest.listening OR e.failing <> latest.failing OR (latest.delivered_at IS NOT NULL
          AND (e.verified_at IS NULL OR e.last_delivered_at IS NULL
            OR e.last_delivered_at < latest.delivered_at - interval '1 second'))
        ORDER BY e.id FOR NO KEY UPDATE OF e
      ), endpoint AS (
        UPDATE webhook_endpoints e SET listening = locked.listening, failing = locked.failing,
          last_delivered_at = coalesce(locked.delivered_at, e.last_delivered_at),
          verified_at = coalesce(e.verified_at, locked.delivered_at)
        FROM locked WHERE e.id = locked.id
      ), alert AS (
        INSERT INTO alerts (id, merchant_id, env, kind, subject, message, created_at)
        SELECT gen_random_uuid(), d.merchant_id, d.env, 'webhook_exhausted', d.id::text,
          'A webhook delivery failed, and the service no longer retries it. Fix your endpoint, then resend the delivery.', r.at
        FROM finished_deliveries d JOIN results r USING (id, claim_id) WHERE d.status = 'failed'
        ON CONFLICT (kind, subject) WHERE acknowledged_at IS NULL DO NOTHING
      ), resolved AS (
        -- Sent again and delivered, so the alert needs no action.
        UPDATE alerts a SET acknowledged_at = r.at FROM finished_deliveries d JOIN results r USING (id, claim_id)
        WHERE d.status = 'delivered' AND r.attempt > 1 AND a.kind = 'webhook_exhausted' AND a.subject = d.id::text
          AND a.acknowledged_at IS NULL
      )
      SELECT id, status FROM finished_deliveries`
    return yield* decodeFinished(rows)
  }, Effect.orDie)

  const release: WebhookStore["release"] = Effect.fn("WebhookRepo.release")(function* (leases, at) {
    yield* sql`
      UPDATE webhook_deliveries d SET due_at = ${at}, claim_id = NULL
      FROM unnest(${leases.map(({ id }) => id)}::uuid[], ${leases.map(({ leaseId }) => leaseId)}::uuid[]) AS held (id, claim_id)
      WHERE d.id = held.id AND d.claim_id = held.claim_id`
  }, Effect.orDie)

  return { leaseTest, leaseResend, leaseDue, finish, release }
})
