// The SQL of notifications: pending alerts, weekly summaries, and their recipients.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Env } from "../domain/Chain.ts"
import { Locale } from "../domain/Locale.ts"
import { MerchantId, Uuid } from "../domain/Merchant.ts"
import { envs, isTest } from "../domain/networks.ts"
import { isNoticeable } from "../payments/isNoticeableSql.ts"
import { isReceived } from "../payments/isReceivedSql.ts"

const GroupRow = Schema.Struct({
  merchant_id: Schema.NullOr(MerchantId),
  env: Schema.NullOr(Env),
  kind: Schema.String
})
const decodeGroups = Schema.decodeUnknownEffect(Schema.Array(GroupRow))
const decodeNotified = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ waits_until: Schema.Date })))
const AlertRow = Schema.Struct({
  id: Uuid,
  merchant: Schema.NullOr(Schema.String),
  message: Schema.String
})
const decodeAlerts = Schema.decodeUnknownEffect(Schema.Array(AlertRow))

const NotificationRecipient = Schema.Struct({ email: Schema.String, locale: Locale })
export type NotificationRecipient = typeof NotificationRecipient.Type
const decodeRecipients = Schema.decodeUnknownEffect(Schema.Array(NotificationRecipient))

const WeekRow = Schema.Struct({
  merchant_id: MerchantId,
  merchant: Schema.String,
  started: Schema.Date,
  ended: Schema.Date,
  first_day: Schema.String,
  last_day: Schema.String,
  time_zone: Schema.String,
  isFull: Schema.Boolean
})
export type Week = typeof WeekRow.Type
const decodeWeeks = Schema.decodeUnknownEffect(Schema.Array(WeekRow))
const EnvironmentTotalsRow = Schema.Struct({
  env: Env,
  settled: Schema.BigIntFromString,
  payments: Schema.Int,
  refunded: Schema.BigIntFromString,
  refunds: Schema.Int,
  alerts: Schema.Int
})
export type EnvironmentTotals = typeof EnvironmentTotalsRow.Type
const decodeTotals = Schema.decodeUnknownEffect(Schema.Array(EnvironmentTotalsRow))

const PreferencesRow = Schema.Struct({
  notified_alerts: Schema.Literals(["all", "live", "none"]),
  notified_weekly: Schema.Boolean
})
const decodePreferences = Schema.decodeUnknownEffect(Schema.Array(PreferencesRow))
/** Alerts of one kind, of one merchant and environment or of the whole service. */
interface PendingAlerts {
  readonly merchantId: MerchantId | null
  readonly merchant: string | null
  readonly env: Env | null
  /** Newest first. */
  readonly messages: readonly [string, ...ReadonlyArray<string>]
  readonly recipients: ReadonlyArray<NotificationRecipient>
}

/** Further alerts of the same kind are grouped for this long after a notification. */
const groupedFor = "1 hour"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  /** Members of a merchant who chose alerts of this environment; for service-wide alerts, the operators. */
  const recipientsOf = Effect.fnUntraced(function* (merchantId: MerchantId | null, env: Env | null) {
    return yield* decodeRecipients(
      merchantId === null
        ? yield* sql`SELECT email, locale FROM users WHERE operator ORDER BY id`
        : yield* sql`
            SELECT u.email, u.locale FROM merchant_members m JOIN users u ON u.id = m.user_id
            WHERE m.merchant_id = ${merchantId}
              AND m.notified_alerts = ANY (${env !== null && isTest(env) ? ["all"] : ["all", "live"]}::text[])
            ORDER BY u.id`
    )
  })

  const notifyGroup = Effect.fnUntraced(function* <R>(
    { env, kind, merchant_id }: typeof GroupRow.Type,
    at: Date,
    notify: (alerts: PendingAlerts) => Effect.Effect<void, never, R>
  ) {
    const name = [merchant_id ?? "service", env ?? "all", kind].join("/")
    yield* sql`
      INSERT INTO notified_groups (name, notified_at) VALUES (${name}, '-infinity') ON CONFLICT DO NOTHING`
    // Locks the group's row until the end, so that two instances never notify of one group at the same time.
    const [group] = yield* decodeNotified(
      yield* sql`
        SELECT greatest(notified_at, '1970-01-01') + ${groupedFor}::interval AS waits_until FROM notified_groups
        WHERE name = ${name} FOR UPDATE SKIP LOCKED`
    )
    if (group === undefined) return
    const isDue = sql`kind = ${kind} AND merchant_id IS NOT DISTINCT FROM ${merchant_id}::uuid
      AND env IS NOT DISTINCT FROM ${env}::text AND notify_at <= ${at} AND user_id IS NULL`
    if (group.waits_until > at) {
      yield* sql`UPDATE alerts SET notify_at = ${group.waits_until} WHERE ${isDue}`
      return
    }
    const alerts = yield* decodeAlerts(
      yield* sql`
        WITH notified AS (
          UPDATE alerts SET notify_at = NULL WHERE ${isDue} RETURNING id, merchant_id, message, created_at
        )
        SELECT t.id, m.name AS merchant, t.message FROM notified t LEFT JOIN merchants m ON m.id = t.merchant_id
        ORDER BY t.created_at DESC, t.id DESC`
    )
    const [newest, ...others] = alerts
    if (newest === undefined) return
    yield* notify({
      merchantId: merchant_id,
      merchant: newest.merchant,
      env,
      messages: [newest.message, ...others.map(({ message }) => message)],
      recipients: yield* recipientsOf(merchant_id, env)
    })
    yield* sql`
      INSERT INTO alert_posts (hook_id, alert_id, due_at, alerts)
      SELECT id, ${newest.id}, ${at}, ${alerts.length}
      FROM alert_hooks WHERE merchant_id = ${merchant_id}::uuid AND env = ${env}
      ON CONFLICT DO NOTHING`
    yield* sql`UPDATE notified_groups SET notified_at = ${at} WHERE name = ${name}`
  })

  return NotificationRepo.of({
    notifyAlerts: (at, limit, notify) =>
      Effect.gen(function* () {
        // The audit log has already mailed alerts that concern one person.
        yield* sql`UPDATE alerts SET notify_at = NULL WHERE notify_at <= ${at} AND user_id IS NOT NULL`
        const groups = yield* decodeGroups(
          yield* sql`
            SELECT merchant_id, env, kind FROM alerts WHERE notify_at <= ${at}
            GROUP BY merchant_id, env, kind ORDER BY min(notify_at) LIMIT ${limit}`
        )
        for (const group of groups) yield* sql.withTransaction(notifyGroup(group, at, notify))
        return groups.length === limit
      }).pipe(Effect.orDie),

    notifyWeeks: (at, limit, notify) =>
      sql
        .withTransaction(
          Effect.gen(function* () {
            const rows = yield* decodeWeeks(
              yield* sql`
                WITH zones AS MATERIALIZED (SELECT lower(name) AS key, name FROM pg_timezone_names)
                SELECT id AS merchant_id, name AS merchant, time_zone, summary_until IS NOT NULL AS "isFull",
                  coalesce(summary_until, monday AT TIME ZONE time_zone) AS started,
                  monday AT TIME ZONE time_zone AS ended,
                  to_char(coalesce(summary_until AT TIME ZONE time_zone, monday), 'YYYY-MM-DD') AS first_day,
                  to_char(monday - interval '1 day', 'YYYY-MM-DD') AS last_day
                FROM (
                  SELECT *, date_trunc('week', ${at}::timestamptz AT TIME ZONE time_zone) AS monday FROM (
                    -- An unknown time zone would fail the whole query, so such a merchant uses UTC.
                    SELECT id, name, summary_until, coalesce(
                      (SELECT z.name FROM zones z WHERE z.key = lower(m.time_zone) LIMIT 1), 'UTC') AS time_zone
                    FROM merchants m WHERE summary_at <= ${at} ORDER BY summary_at LIMIT ${limit}
                    FOR NO KEY UPDATE SKIP LOCKED
                  ) held
                ) due`
            )
            for (const week of rows) {
              const { ended, merchant_id, started, time_zone } = week
              // In a merchant's first week, the summary would be incomplete.
              if (week.isFull) {
                const totals = yield* decodeTotals(
                  yield* sql`
                    SELECT e.env, coalesce(p.volume, 0)::text AS settled, coalesce(p.count, 0)::int AS payments,
                      coalesce(r.volume, 0)::text AS refunded, coalesce(r.count, 0)::int AS refunds,
                      -- Counted as on the pages: transfers count separately, until they are matched or handled.
                      (SELECT count(*)::int FROM alerts a WHERE a.merchant_id = ${merchant_id} AND a.env = e.env
                        AND a.acknowledged_at IS NULL AND a.user_id IS NULL AND a.kind <> 'incoming_transfer')
                        + (SELECT count(*)::int FROM incoming_transfers t
                          WHERE t.merchant_id = ${merchant_id} AND t.env = e.env AND t.payment_id IS NULL
                            AND t.dropped_at IS NULL AND t.handled_at IS NULL AND t.kind IS NOT NULL
                            AND ${isNoticeable(sql)}) AS alerts
                    FROM unnest(${envs.toReversed()}::text[]) e (env)
                    LEFT JOIN LATERAL (
                      SELECT sum(amount) AS volume, count(*) AS count FROM payments p
                      WHERE merchant_id = ${merchant_id} AND env = e.env AND status = 'settled'
                        AND settled_at >= ${started} AND settled_at < ${ended} AND ${isReceived(sql)}
                    ) p ON true
                    LEFT JOIN LATERAL (
                      SELECT sum(amount) AS volume, count(*) AS count FROM refunds
                      WHERE merchant_id = ${merchant_id} AND env = e.env AND status = 'proven'
                        AND dropped_at IS NULL AND proven_at >= ${started} AND proven_at < ${ended}
                    ) r ON true`
                )
                const recipients = yield* decodeRecipients(
                  yield* sql`
                    SELECT u.email, u.locale FROM merchant_members m JOIN users u ON u.id = m.user_id
                    WHERE m.merchant_id = ${merchant_id} AND m.notified_weekly ORDER BY u.id`
                )
                yield* notify(week, totals, recipients)
              }
              yield* sql`
                UPDATE merchants SET summary_until = ${ended}, summary_at =
                  (date_trunc('week', ${at}::timestamptz AT TIME ZONE ${time_zone}::text) + interval '7 days 8 hours')
                  AT TIME ZONE ${time_zone}::text
                WHERE id = ${merchant_id}`
            }
            return rows.length === limit
          })
        )
        .pipe(Effect.orDie),

    preferences: Effect.fn("NotificationRepo.preferences")(function* (merchantId, userId) {
      const [row] = yield* decodePreferences(
        yield* sql`
          SELECT notified_alerts, notified_weekly FROM merchant_members
          WHERE merchant_id = ${merchantId} AND user_id = ${userId}`
      )
      return Option.map(Option.fromUndefinedOr(row), ({ notified_alerts, notified_weekly }) => ({
        alerts: notified_alerts,
        weekly: notified_weekly
      }))
    }, Effect.orDie),

    setPreferences: Effect.fn("NotificationRepo.setPreferences")(function* (merchantId, userId, preferences) {
      yield* sql`
        UPDATE merchant_members SET notified_alerts = ${preferences.alerts}, notified_weekly = ${preferences.weekly}
        WHERE merchant_id = ${merchantId} AND user_id = ${userId}`
    }, Effect.orDie)
  })
})

export class NotificationRepo extends Context.Service<
  NotificationRepo,
  {
    /**
     * Passes pending alerts to `notify`, grouped: the first alert of a kind at once, later ones together, at
     * most once an hour. Stores that in the same transaction, so everything that `notify` queues is queued
     * exactly once. True if more may wait.
     */
    readonly notifyAlerts: <R>(
      at: Date,
      limit: number,
      notify: (alerts: PendingAlerts) => Effect.Effect<void, never, R>
    ) => Effect.Effect<boolean, never, R>
    /**
     * Like `notifyAlerts`, with each merchant's activity since its last summary, on Mondays at 08:00 in its time zone.
     */
    readonly notifyWeeks: <R>(
      at: Date,
      limit: number,
      notify: (
        week: Week,
        totals: ReadonlyArray<EnvironmentTotals>,
        recipients: ReadonlyArray<NotificationRecipient>
      ) => Effect.Effect<void, never, R>
    ) => Effect.Effect<boolean, never, R>
    readonly preferences: (
      merchantId: MerchantId,
      userId: string
    ) => Effect.Effect<Option.Option<{ readonly alerts: "all" | "live" | "none"; readonly weekly: boolean }>>
    readonly setPreferences: (
      merchantId: MerchantId,
      userId: string,
      preferences: { readonly alerts: "all" | "live" | "none"; readonly weekly: boolean }
    ) => Effect.Effect<void>
  }
>()("quittance/notifications/NotificationRepo") {
  static readonly layer: Layer.Layer<NotificationRepo, never, SqlClient.SqlClient> = Layer.effect(
    NotificationRepo,
    make
  )
}
