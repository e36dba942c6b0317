// The SQL of replaying permanently failed deliveries after their receiver was repaired.

import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Tenant } from "../domain/Merchant.ts"

export class ReplayRepo extends Context.Service<
  ReplayRepo,
  {
    /**
     * Queues one more attempt of each delivery that failed permanently since then, under its id and to the
     * endpoint of today. Answers how many; 0 where there is no endpoint.
     */
    readonly replayFailed: (tenant: Tenant, since: Date, at: Date) => Effect.Effect<number>
  }
>()("quittance/webhooks/ReplayRepo") {
  static readonly layer: Layer.Layer<ReplayRepo, never, SqlClient.SqlClient> = Layer.effect(
    ReplayRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return ReplayRepo.of({
        replayFailed: Effect.fn("ReplayRepo.replayFailed")(function* ({ merchantId, env }, since, at) {
          const rows = yield* sql`
            UPDATE webhook_deliveries d SET status = 'pending', resent_from = 'failed', endpoint_id = e.id,
              due_at = ${at}, claim_id = NULL, interruptions = 0, finished_at = NULL
            FROM webhook_endpoints e
            WHERE e.merchant_id = ${merchantId} AND e.env = ${env} AND e.deleted_at IS NULL
              AND d.merchant_id = e.merchant_id AND d.env = e.env
              AND d.status = 'failed' AND d.created_at >= ${since}
            RETURNING d.id`
          return rows.length
        }, Effect.orDie)
      })
    })
  )
}
