// The SQL of what waits: deliveries, reports, blocks, settlements, open alerts.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { alertKinds } from "../alerts/Alerts.ts"

const Row = Schema.Struct({
  deliveries: Schema.Int,
  overdue_seconds: Schema.Finite,
  reports: Schema.Int,
  blocks: Schema.Int,
  x402: Schema.Int,
  alerts: Schema.Record(Schema.String, Schema.Int)
})

export interface Backlog {
  /** Jobs by queue. */
  readonly queues: {
    readonly deliveries: number
    readonly reports: number
    readonly blocks: number
    readonly x402: number
  }
  /** How late the most overdue delivery is, in seconds. */
  readonly overdueSeconds: number
  /** Open alerts of each kind. */
  readonly alerts: ReadonlyMap<string, number>
}

export class BacklogRepo extends Context.Service<
  BacklogRepo,
  { readonly read: (at: Date) => Effect.Effect<Backlog> }
>()("quittance/telemetry/BacklogRepo") {
  static readonly layer: Layer.Layer<BacklogRepo, never, SqlClient.SqlClient> = Layer.effect(
    BacklogRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return BacklogRepo.of({
        read: Effect.fn("BacklogRepo.read")(function* (at) {
          const [found] = yield* sql`
            SELECT (SELECT count(*)::int FROM webhook_deliveries WHERE due_at IS NOT NULL) AS deliveries,
              (SELECT coalesce(greatest(0, extract(epoch FROM ${at}::timestamptz - min(due_at))), 0)::float8
                FROM webhook_deliveries WHERE due_at IS NOT NULL) AS overdue_seconds,
              (SELECT count(*)::int FROM payment_reports WHERE next_check_at IS NOT NULL) AS reports,
              (SELECT count(*)::int FROM claimed_transfers WHERE watch_at IS NOT NULL) AS blocks,
              (SELECT count(*)::int FROM x402_settlements WHERE next_look_at IS NOT NULL) AS x402,
              (SELECT coalesce(jsonb_object_agg(kind, open), '{}') FROM (
                SELECT kind, count(*) AS open FROM alerts WHERE acknowledged_at IS NULL GROUP BY kind
              ) AS kinds) AS alerts`
          const row = yield* Schema.decodeUnknownEffect(Row)(found)
          return {
            queues: { deliveries: row.deliveries, reports: row.reports, blocks: row.blocks, x402: row.x402 },
            overdueSeconds: row.overdue_seconds,
            alerts: new Map(alertKinds.map((kind) => [kind, row.alerts[kind] ?? 0]))
          }
        }, Effect.orDie)
      })
    })
  )
}
