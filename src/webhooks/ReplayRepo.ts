// The SQL of replaying deliveries that failed permanently or were never sent to an endpoint.

import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Tenant, Uuid } from "../domain/Merchant.ts"

/** Deliveries queued per statement, so that it ends within the pool's time limit. */
const batchSize = 1_000

const decodeQueued = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ id: Uuid })))

export class ReplayRepo extends Context.Service<
  ReplayRepo,
  {
    /**
     * Queues one more attempt of each delivery that failed permanently since then, under its id and to the
     * current endpoint. Returns their number; 0 if there is no endpoint.
     */
    readonly replayFailed: (tenant: Tenant, since: Date, at: Date) => Effect.Effect<number>
    /** Like `replayFailed`, for settled payments that were never sent. */
    readonly replayUnsent: (tenant: Tenant, since: Date, at: Date) => Effect.Effect<number>
  }
>()("quittance/webhooks/ReplayRepo") {
  static readonly layer: Layer.Layer<ReplayRepo, never, SqlClient.SqlClient> = Layer.effect(
    ReplayRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const replay = (status: "failed" | "cancelled") =>
        Effect.fn("ReplayRepo.replay")(function* ({ merchantId, env }: Tenant, since: Date, at: Date) {
          const isReplayed =
            status === "failed"
              ? sql`d.status = 'failed'`
              : sql`d.status = 'cancelled' AND d.payment_id IS NOT NULL AND d.type = 'payment.settled'`
          let count = 0
          let last: string | undefined
          while (true) {
            // Pages forward, so that deliveries which fail again during the replay are not queued twice.
            const after =
              last === undefined
                ? sql``
                : sql`AND (d.created_at, d.id) > (SELECT created_at, id FROM webhook_deliveries WHERE id = ${last})`
            const queued = yield* decodeQueued(
              yield* sql`
                WITH replayable AS (
                  SELECT d.id, d.created_at, e.id AS endpoint_id FROM webhook_deliveries d
                  JOIN webhook_endpoints e ON e.merchant_id = d.merchant_id AND e.env = d.env AND e.deleted_at IS NULL
                  WHERE d.merchant_id = ${merchantId} AND d.env = ${env} AND ${isReplayed}
                    AND d.created_at >= ${since} ${after}
                  ORDER BY d.created_at, d.id LIMIT ${batchSize} FOR UPDATE OF d
                ), queued AS (
                  UPDATE webhook_deliveries d SET status = 'pending', resent_from = ${status},
                    endpoint_id = replayable.endpoint_id, due_at = ${at}, claim_id = NULL, interruptions = 0,
                    finished_at = NULL
                  FROM replayable WHERE d.id = replayable.id RETURNING d.id, d.created_at
                )
                SELECT id FROM queued ORDER BY created_at, id`
            )
            count += queued.length
            last = queued.at(-1)?.id
            if (queued.length < batchSize) return count
          }
        }, Effect.orDie)
      return ReplayRepo.of({ replayFailed: replay("failed"), replayUnsent: replay("cancelled") })
    })
  )
}
