// The SQL of settled payments that were not sent to any endpoint: none was registered when they settled, or
// it was deleted before it accepted them.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Tenant } from "../domain/Merchant.ts"
import { plusMillis } from "../domain/plusMillis.ts"

/** Counts at most this many. */
const maxCount = 1_000
/** Deliveries count as unsent only after this time, because the endpoint may be being replaced. */
const graceMillis = 60_000

const decodeCounts = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ count: Schema.Int })))

export class UnsentRepo extends Context.Service<
  UnsentRepo,
  {
    /** The number of unsent settled payments, up to 1,000. */
    readonly count: (tenant: Tenant) => Effect.Effect<number>
    /**
     * Raises an alert for each merchant and environment that has unsent payments since a person acknowledged
     * the last alert, and closes it once all are sent. Skips merchants that never had an endpoint.
     */
    readonly raiseAlerts: (at: Date) => Effect.Effect<void>
  }
>()("quittance/webhooks/UnsentRepo") {
  static readonly layer: Layer.Layer<UnsentRepo, never, SqlClient.SqlClient> = Layer.effect(
    UnsentRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return UnsentRepo.of({
        count: Effect.fn("UnsentRepo.count")(function* ({ env, merchantId }) {
          const [row] = yield* decodeCounts(
            yield* sql`
              SELECT count(*)::int AS count FROM (
                SELECT 1 FROM webhook_deliveries
                WHERE merchant_id = ${merchantId} AND env = ${env} AND status = 'cancelled'
                  AND payment_id IS NOT NULL AND type = 'payment.settled' LIMIT ${maxCount}
              ) unsent`
          )
          return row?.count ?? 0
        }, Effect.orDie),
        raiseAlerts: Effect.fn("UnsentRepo.raiseAlerts")(function* (at) {
          yield* sql`
            WITH tenants AS (
              SELECT merchant_id, env, merchant_id || ' ' || env AS subject,
                coalesce((
                  SELECT max(acknowledged_at) FROM alerts
                  WHERE kind = 'settlements_unsent' AND subject = merchant_id || ' ' || env
                    AND acknowledged_by IS NOT NULL), '-infinity') AS acknowledged_at
              FROM webhook_endpoints GROUP BY merchant_id, env
            ), unsent AS (
              SELECT t.*, counted.count FROM tenants t CROSS JOIN LATERAL (
                SELECT count(*)::int AS count FROM (
                  SELECT 1 FROM webhook_deliveries d
                  WHERE d.merchant_id = t.merchant_id AND d.env = t.env AND d.status = 'cancelled'
                    AND d.payment_id IS NOT NULL AND d.type = 'payment.settled'
                    AND d.created_at > t.acknowledged_at - interval '7 days'
                    AND d.finished_at > t.acknowledged_at AND d.finished_at <= ${plusMillis(at, -graceMillis)}
                  LIMIT ${maxCount}
                ) newest
              ) counted
            ), resolved AS (
              UPDATE alerts a SET acknowledged_at = ${at} FROM unsent
              WHERE unsent.count = 0 AND a.kind = 'settlements_unsent' AND a.subject = unsent.subject
                AND a.acknowledged_at IS NULL
            )
            INSERT INTO alerts (id, merchant_id, env, kind, subject, message, created_at)
            SELECT gen_random_uuid(), merchant_id, env, 'settlements_unsent', subject,
              CASE WHEN count = 1 THEN '1 settled payment was'
                WHEN count = ${maxCount} THEN '${sql.literal(maxCount.toLocaleString("en"))} or more settled payments were'
                ELSE count || ' settled payments were' END
              || ' not reported to your server, because no webhook endpoint was registered. Register an endpoint and send the events under Webhooks in the dashboard, or acknowledge this alert if your server already knows.',
              ${at}
            FROM unsent WHERE count > 0
            ON CONFLICT (kind, subject) WHERE acknowledged_at IS NULL
            DO UPDATE SET message = excluded.message WHERE alerts.message <> excluded.message`
        }, Effect.orDie)
      })
    })
  )
}
