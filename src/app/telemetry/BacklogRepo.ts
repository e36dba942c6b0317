// The SQL of what waits: deliveries, reports, blocks, settlements, transfers, open alerts.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AlertKind } from "../../domain/AlertKind.ts"
import type { Env } from "../../domain/Chain.ts"
import { networks } from "../../domain/networks.ts"
import { isNoticeable } from "../../payments/isNoticeableSql.ts"
import { Networks } from "../../platform/Networks.ts"
import type { Queue } from "../../platform/workers/DueWork.ts"
import { dueTimes, EarliestDue, earliestDue } from "../../platform/workers/earliestDueSql.ts"
import { waitingEndpoints } from "../../platform/workers/waitingEndpointsSql.ts"

const Row = Schema.Struct({
  ...EarliestDue.fields,
  delivery_count: Schema.Int,
  report_count: Schema.Int,
  block_count: Schema.Int,
  x402_count: Schema.Int,
  transfer_count: Schema.Int,
  read_until: Schema.Record(Schema.String, Schema.DateFromString),
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
  /** Since when the oldest row of a queue has been due; queues without a row that is due are left out. */
  readonly dueSince: ReadonlyMap<Queue, Date>
  /** Time of the newest block whose transfers have been read, by network that executes; undefined before the first. */
  readonly readUntil: ReadonlyMap<Env, Date | undefined>
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
      const { executing } = yield* Networks
      return BacklogRepo.of({
        read: Effect.fn("BacklogRepo.read")(function* (at) {
          const [found] = yield* sql`
            WITH RECURSIVE ${waitingEndpoints(sql)}
            SELECT ${earliestDue(sql)},
              (SELECT count(*)::int FROM webhook_deliveries WHERE due_at IS NOT NULL) AS delivery_count,
              (SELECT count(*)::int FROM payment_reports WHERE next_check_at IS NOT NULL) AS report_count,
              (SELECT count(*)::int FROM claimed_transfers WHERE watch_at IS NOT NULL) AS block_count,
              (SELECT count(*)::int FROM x402_settlements WHERE next_look_at IS NOT NULL) AS x402_count,
              (SELECT count(*)::int FROM incoming_transfers
                WHERE payment_id IS NULL AND handled_at IS NULL AND dropped_at IS NULL
                  AND ${isNoticeable(sql)}) AS transfer_count,
              (SELECT coalesce(jsonb_object_agg(chain_id, block_time), '{}') FROM chain_cursors) AS read_until,
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
              deliveries: row.delivery_count,
              reports: row.report_count,
              blocks: row.block_count,
              x402: row.x402_count,
              transfers: row.transfer_count
            },
            dueSince: new Map([...dueTimes(row)].filter(([, since]) => since <= at)),
            readUntil: new Map(
              executing.map((env) => [env, row.read_until[String(networks[env].chainId)]] as const)
            ),
            alerts: new Map(AlertKind.literals.map((kind) => [kind, row.alerts[kind] ?? 0]))
          }
        }, Effect.orDie)
      })
    })
  )
}
