// WebhookRepo on Postgres: endpoints and views. Leases and outcomes are in separate files.

import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Tenant } from "../../domain/Merchant.ts"
import { plusMillis } from "../../domain/plusMillis.ts"
import { rerouteMillis } from "../rerouteMillis.ts"
import { cancelBatchSize } from "./cancelBatchSize.ts"
import { eventsSql } from "./eventsSql.ts"
import { leasesSql } from "./leasesSql.ts"
import {
  allDeliveries,
  deliveryColumns,
  endpointColumns,
  firstDelivery,
  firstEndpoint,
  firstWithBody
} from "./WebhookRows.ts"
import type { WebhookStore } from "./WebhookStore.ts"
import { workersSql } from "./workersSql.ts"

/** Deliveries that one statement moves to a new endpoint. The rest is offered as unsent payments. */
const followingBatchSize = 10_000

export const makeWebhookRepoSql: Effect.Effect<WebhookStore, never, SqlClient.SqlClient> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient
    const leases = yield* leasesSql
    const workers = yield* workersSql
    const events = yield* eventsSql

    const endpoint = sql.literal(endpointColumns)
    const delivery = sql.literal(deliveryColumns)
    const ofTenant = (tenant: Tenant) => sql`merchant_id = ${tenant.merchantId} AND env = ${tenant.env}`

    return {
      ...leases,
      ...workers,
      ...events,

      findEndpoint: Effect.fn("WebhookRepo.findEndpoint")(function* (tenant) {
        return yield* firstEndpoint(
          yield* sql`SELECT ${endpoint} FROM webhook_endpoints WHERE ${ofTenant(tenant)} AND deleted_at IS NULL`
        )
      }, Effect.orDie),

      createEndpoint: Effect.fn("WebhookRepo.createEndpoint")(function* (tenant, { secret, ...created }, at) {
        return yield* firstEndpoint(
          yield* sql`
          WITH created AS (
            INSERT INTO webhook_endpoints
              (id, merchant_id, env, url, secret_kid, secret_ciphertext, secret_last_four, created_at, updated_at)
            VALUES (${created.id}, ${tenant.merchantId}, ${tenant.env}, ${created.url}, ${secret.kid},
              ${secret.ciphertext}, ${created.secretLastFour}, ${at}, ${at})
            ON CONFLICT (merchant_id, env) WHERE deleted_at IS NULL DO NOTHING
            RETURNING ${endpoint}
          ), deleted_endpoints AS (
            SELECT id FROM webhook_endpoints
            WHERE ${ofTenant(tenant)} AND deleted_at >= ${plusMillis(at, -rerouteMillis)}
          ), rerouted_deliveries AS (
            UPDATE webhook_deliveries d SET status = 'pending', endpoint_id = created.id, due_at = ${at},
              finished_at = NULL, interruptions = 0
            FROM created WHERE d.id = ANY (ARRAY(
              SELECT id FROM webhook_deliveries
              WHERE ${ofTenant(tenant)} AND status = 'cancelled' AND payment_id IS NOT NULL
                AND endpoint_id = ANY (ARRAY(SELECT id FROM deleted_endpoints))
              ORDER BY created_at, id LIMIT ${followingBatchSize} FOR UPDATE SKIP LOCKED
            ) || ARRAY(
              -- In a long queue, some deliveries were not cancelled because they have not come due since.
              SELECT id FROM webhook_deliveries
              WHERE endpoint_id = ANY (ARRAY(SELECT id FROM deleted_endpoints)) AND due_at IS NOT NULL AND claim_id IS NULL
                AND payment_id IS NOT NULL AND resent_from IS NULL
              ORDER BY due_at LIMIT ${followingBatchSize} FOR UPDATE SKIP LOCKED))
          )
          SELECT ${endpoint} FROM created`
        )
      }, Effect.orDie),

      changeUrl: Effect.fn("WebhookRepo.changeUrl")(function* (tenant, url, at) {
        return yield* firstEndpoint(
          yield* sql`
          UPDATE webhook_endpoints
          SET url = ${url}, verified_at = NULL, failing = false, listening = false, updated_at = ${at}
          WHERE ${ofTenant(tenant)} AND deleted_at IS NULL
          RETURNING ${endpoint}`
        )
      }, Effect.orDie),

      replaceSecret: Effect.fn("WebhookRepo.replaceSecret")(function* (tenant, endpointId, replaced, at) {
        return yield* firstEndpoint(
          yield* sql`
          UPDATE webhook_endpoints
          SET secret_kid = ${replaced.secret.kid}, secret_ciphertext = ${replaced.secret.ciphertext},
            secret_last_four = ${replaced.secretLastFour}, updated_at = ${at}
          WHERE id = ${endpointId} AND ${ofTenant(tenant)} AND deleted_at IS NULL
          RETURNING ${endpoint}`
        )
      }, Effect.orDie),

      deleteEndpoint: Effect.fn("WebhookRepo.deleteEndpoint")(function* (tenant, at) {
        // A delivery can stay with a deleted endpoint if this snapshot misses its settlement or its finish,
        // or if the queue is long; `leaseDue` cancels it when it comes due. Skips locked rows: waiting
        // could deadlock, because the worker that finishes them may wait for the endpoint's row.
        const rows = yield* sql`
        WITH deleted AS (
          UPDATE webhook_endpoints SET deleted_at = ${at}, updated_at = ${at}
          WHERE ${ofTenant(tenant)} AND deleted_at IS NULL
          RETURNING id
        ), cancelled AS (
          UPDATE webhook_deliveries d SET due_at = NULL, resent_from = NULL, finished_at = ${at},
            status = coalesce(d.resent_from, 'cancelled')
          WHERE id = ANY (ARRAY(
            SELECT id FROM webhook_deliveries
            WHERE endpoint_id = (SELECT id FROM deleted) AND due_at IS NOT NULL AND status = 'pending'
              AND claim_id IS NULL
            ORDER BY due_at LIMIT ${cancelBatchSize} FOR UPDATE SKIP LOCKED))
        )
        SELECT id FROM deleted`
        return rows.length > 0
      }, Effect.orDie),

      enqueueSettled: Effect.fn("WebhookRepo.enqueueSettled")(function* (tenant, paymentId, queued, at) {
        yield* sql`
        INSERT INTO webhook_deliveries
          (id, merchant_id, env, endpoint_id, payment_id, type, body, status, due_at, created_at, finished_at)
        SELECT ${queued.id}::uuid, ${tenant.merchantId}::uuid, ${tenant.env}, e.id, ${paymentId}::uuid,
          'payment.settled', ${queued.body}::bytea,
          CASE WHEN e.id IS NULL THEN 'cancelled' ELSE 'pending' END,
          CASE WHEN e.id IS NULL THEN NULL ELSE ${at}::timestamptz END, ${at}::timestamptz,
          CASE WHEN e.id IS NULL THEN ${at}::timestamptz END
        FROM (SELECT 1) one LEFT JOIN webhook_endpoints e
          ON e.merchant_id = ${tenant.merchantId} AND e.env = ${tenant.env} AND e.deleted_at IS NULL`
      }, Effect.orDie),

      findDelivery: Effect.fn("WebhookRepo.findDelivery")(function* (tenant, id) {
        return yield* firstDelivery(
          yield* sql`
          SELECT ${delivery} FROM webhook_deliveries d
          WHERE d.id = ${id} AND d.merchant_id = ${tenant.merchantId} AND d.env = ${tenant.env}`
        )
      }, Effect.orDie),

      findOfPayment: Effect.fn("WebhookRepo.findOfPayment")(function* (tenant, paymentId) {
        return yield* firstWithBody(
          yield* sql`
          SELECT ${delivery}, d.body FROM webhook_deliveries d
          WHERE d.payment_id = ${paymentId} AND d.type = 'payment.settled' AND d.merchant_id = ${tenant.merchantId}
            AND d.env = ${tenant.env}`
        )
      }, Effect.orDie),

      listDeliveries: Effect.fn("WebhookRepo.listDeliveries")(function* (tenant, limit) {
        return yield* allDeliveries(
          yield* sql`
          SELECT ${delivery} FROM webhook_deliveries d
          WHERE d.merchant_id = ${tenant.merchantId} AND d.env = ${tenant.env}
          ORDER BY d.created_at DESC, d.id DESC LIMIT ${limit}`
        )
      }, Effect.orDie),

      prune: Effect.fn("WebhookRepo.prune")(function* (before, limit) {
        const rows = yield* sql`
        DELETE FROM webhook_attempts WHERE (delivery_id, number) IN (
          SELECT a.delivery_id, a.number FROM webhook_attempts a
          -- The delivery may be gone with a detached partition.
          WHERE a.started_at < ${before} AND NOT EXISTS (
            SELECT 1 FROM webhook_deliveries d WHERE d.id = a.delivery_id AND d.status = 'pending')
          ORDER BY a.started_at LIMIT ${limit}
        )
        RETURNING number`
        return rows.length
      }, Effect.orDie)
    }
  }
)
