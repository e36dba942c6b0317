// The SQL of waiting work: deliveries, reports, blocks, settlements, transfers, open alerts.
import { Context, Data, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { AlertKind } from "../../domain/AlertKind.ts"
import type { Env } from "../../domain/Chain.ts"
import { networks } from "../../domain/networks.ts"
import { isNoticeable } from "../../payments/isNoticeableSql.ts"
import { causeOf } from "../../platform/database/migrate.ts"
import { sqlStateOf } from "../../platform/database/sqlStateOf.ts"
import { Networks } from "../../platform/Networks.ts"
import type { Queue } from "../../platform/workers/DueWork.ts"
import { dueTimes, EarliestDue, earliestDue } from "../../platform/workers/earliestDueSql.ts"
import { waitingEndpoints } from "../../platform/workers/waitingEndpointsSql.ts"

const Row = Schema.Struct({
  ...EarliestDue.fields,
  mail_failing_since: Schema.NullOr(Schema.Date),
  mail_error: Schema.NullOr(Schema.String),
  post_error: Schema.NullOr(Schema.String),
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
  /** The time since which a queue's oldest row has been due; queues without a due row are absent. */
  readonly dueSince: ReadonlyMap<Queue, Date>
  /** The last error of a queue's oldest failed row, for the queues that store it. */
  readonly errors: ReadonlyMap<Queue, string>
  /** Time of the newest block whose transfers were read, by open or closing network; undefined before the first. */
  readonly readUntil: ReadonlyMap<Env, Date | undefined>
  /** Open alerts by kind that can be closed for everybody: none of transfers, nor of one member. */
  readonly alerts: ReadonlyMap<string, number>
}

/** The waiting work cannot be measured. `message` is the cause in the database's words, with the locked tables. */
export class BacklogUnread extends Data.TaggedError("BacklogUnread")<{
  readonly message: string
  readonly sqlState: string
}> {}

export class BacklogRepo extends Context.Service<
  BacklogRepo,
  { readonly read: (at: Date) => Effect.Effect<Backlog, BacklogUnread> }
>()("quittance/app/BacklogRepo") {
  static readonly layer: Layer.Layer<BacklogRepo, never, SqlClient.SqlClient> = Layer.effect(
    BacklogRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { executing } = yield* Networks
      /** Reads wait only for exclusive locks. A waiting one counts, because reads queue behind it. */
      const locks = sql`
        SELECT DISTINCT format('%s is locked by process %s', l.relation::regclass, l.pid) AS lock
        FROM pg_locks l JOIN pg_class c ON c.oid = l.relation AND c.relkind = 'r'
        JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
        WHERE l.mode = 'AccessExclusiveLock'`.pipe(
        Effect.map((rows) => rows.map(({ lock }) => String(lock))),
        Effect.orElseSucceed(() => [])
      )
      const unread = Effect.fnUntraced(function* (error: unknown) {
        return yield* new BacklogUnread({
          message: [causeOf(error), ...(yield* locks)].join("; "),
          sqlState: SqlError.isSqlError(error) ? sqlStateOf(error) : ""
        })
      })
      /** Not every session has a lock_timeout of its own. */
      const measured = <A, E>(work: Effect.Effect<A, E>) =>
        sql`SELECT set_config('lock_timeout', '1s', true)`.pipe(
          Effect.andThen(work),
          sql.withTransaction,
          Effect.catch(unread)
        )
      return BacklogRepo.of({
        read: Effect.fn("BacklogRepo.read")(function* (at) {
          const [counts] = yield* sql`
            WITH RECURSIVE ${waitingEndpoints(sql)}
            SELECT ${earliestDue(sql)},
              -- Failed mail that waits for its next attempt, if the server has accepted no mail since it was queued.
              -- No mail is retried for two days, so the bound on created_at only lets an index find that mail.
              (SELECT min(created_at) FROM mails WHERE due_at IS NOT NULL AND error IS NOT NULL AND NOT EXISTS (
                SELECT FROM mails sent
                WHERE sent.due_at IS NULL AND sent.created_at > mails.created_at - interval '2 days'
                  AND sent.sent_at > mails.created_at)) AS mail_failing_since,
              (SELECT error FROM mails WHERE due_at IS NOT NULL AND error IS NOT NULL
                ORDER BY created_at LIMIT 1) AS mail_error,
              (SELECT error FROM alert_posts WHERE due_at IS NOT NULL AND error IS NOT NULL
                ORDER BY due_at LIMIT 1) AS post_error,
              (SELECT count(*)::int FROM webhook_deliveries WHERE due_at IS NOT NULL) AS delivery_count,
              (SELECT count(*)::int FROM payment_reports WHERE next_check_at IS NOT NULL) AS report_count,
              (SELECT count(*)::int FROM claimed_transfers WHERE watch_at IS NOT NULL) AS block_count,
              (SELECT count(*)::int FROM x402_settlements WHERE next_look_at IS NOT NULL) AS x402_count,
              (SELECT count(*)::int FROM incoming_transfers
                WHERE payment_id IS NULL AND handled_at IS NULL AND dropped_at IS NULL
                  AND ${isNoticeable(sql)}) AS transfer_count,
              (SELECT coalesce(jsonb_object_agg(chain_id, block_time), '{}') FROM chain_cursors) AS read_until,
              (SELECT coalesce(jsonb_object_agg(kind, open), '{}') FROM (
                -- A member's own alerts about their merchant are excluded, and transfers are counted above.
                SELECT kind, count(*) AS open FROM alerts
                WHERE acknowledged_at IS NULL AND kind <> 'incoming_transfer'
                  AND (user_id IS NULL OR merchant_id IS NULL)
                GROUP BY kind
              ) AS kinds) AS alerts`
          const row = yield* Schema.decodeUnknownEffect(Row)(counts)
          return {
            queues: {
              deliveries: row.delivery_count,
              reports: row.report_count,
              blocks: row.block_count,
              x402: row.x402_count,
              transfers: row.transfer_count
            },
            dueSince: new Map([
              ...[...dueTimes(row)].filter(([, since]) => since <= at),
              ...(row.mail_failing_since === null ? [] : [["mails", row.mail_failing_since] as const])
            ]),
            errors: new Map([
              ...(row.mail_error === null ? [] : [["mails", row.mail_error] as const]),
              ...(row.post_error === null ? [] : [["alert posts", row.post_error] as const])
            ]),
            readUntil: new Map(
              executing.map((env) => [env, row.read_until[String(networks[env].chainId)]] as const)
            ),
            alerts: new Map(AlertKind.literals.map((kind) => [kind, row.alerts[kind] ?? 0]))
          }
        }, measured)
      })
    })
  )
}
