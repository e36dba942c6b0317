// The SQL of what waits: deliveries, reports, blocks, settlements, transfers, open alerts.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AlertKind } from "../../domain/AlertKind.ts"

const Row = Schema.Struct({
  deliveries: Schema.Int,
  overdue_seconds: Schema.Finite,
  reports: Schema.Int,
  blocks: Schema.Int,
  x402: Schema.Int,
  transfers: Schema.Int,
  unread_seconds: Schema.Finite,
  alerts: Schema.Record(Schema.String, Schema.Int)
})

export interface Backlog {
  /** Jobs by queue. */
  readonly queues: {
    readonly deliveries: number
    readonly reports: number
    readonly blocks: number
    readonly x402: number
    /** Incoming transfers that are neither claimed nor handled. */
    readonly transfers: number
  }
  /** Age of the newest block whose transfers have been read, in seconds; 0 before the first. */
  readonly unreadSeconds: number
  /** How late the most overdue delivery is, in seconds. */
  readonly overdueSeconds: number
  /** Open alerts of each kind that somebody can close for all: none of transfers, nor of one member. */
  readonly alerts: ReadonlyMap<string, number>
}

export class BacklogRepo extends Context.Service<
  BacklogRepo,
  { readonly read: (at: Date) => Effect.Effect<Backlog> }
>()("quittance/app/BacklogRepo") {
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
              (SELECT count(*)::int FROM incoming_transfers
                WHERE payment_id IS NULL AND handled_at IS NULL AND dropped_at IS NULL) AS transfers,
              (SELECT coalesce(greatest(0, max(extract(epoch FROM ${at}::timestamptz - block_time))), 0)::float8
                FROM chain_cursors) AS unread_seconds,
              (SELECT coalesce(jsonb_object_agg(kind, open), '{}') FROM (
                -- What a member is told of its merchant is the member's alone, and transfers are the queue above.
                SELECT kind, count(*) AS open FROM alerts
                WHERE acknowledged_at IS NULL AND kind <> 'incoming_transfer'
                  AND (user_id IS NULL OR merchant_id IS NULL)
                GROUP BY kind
              ) AS kinds) AS alerts`
          const row = yield* Schema.decodeUnknownEffect(Row)(found)
          return {
            queues: {
              deliveries: row.deliveries,
              reports: row.reports,
              blocks: row.blocks,
              x402: row.x402,
              transfers: row.transfers
            },
            unreadSeconds: row.unread_seconds,
            overdueSeconds: row.overdue_seconds,
            alerts: new Map(AlertKind.literals.map((kind) => [kind, row.alerts[kind] ?? 0]))
          }
        }, Effect.orDie)
      })
    })
  )
}
