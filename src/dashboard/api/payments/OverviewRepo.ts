// The figures of the overview by day.
import { Context, Effect, Layer, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Tenant } from "../../../domain/Merchant.ts"
import { type DayBounds, daysOf, type Period } from "../../../domain/Period.ts"
import { daysFrom, makeDaySums } from "../../../payments/books/DaySumsSql.ts"
import { isReceived } from "../../../payments/isReceivedSql.ts"

const Figures = Schema.Struct({
  /** Payments that settled in the day, without those that the chain no longer shows, and their sum in atomic USDC. */
  settled: Schema.Int,
  volume: Schema.BigIntFromString,
  /** Refunds that were proven in the day, without those that the chain no longer shows. */
  refunds: Schema.Int,
  refunded: Schema.BigIntFromString,
  /** Payments that were opened in the day, and the number of them that have settled since. */
  opened: Schema.Int,
  paid: Schema.Int,
  /** Payments that failed in the day and have not settled late. */
  failed: Schema.Int,
  /** Seconds from opening to settlement, for the day's last payments, at most 200. */
  seconds: Schema.Array(Schema.Int),
  /** For the day's last deliveries, at most 1,000. */
  delivered: Schema.Int,
  undelivered: Schema.Int
})
export type DayFigures = typeof Figures.Type

const counting = (sql: SqlClient.SqlClient, { env, merchantId }: Tenant, days: ReadonlyArray<DayBounds>) => {
  const ofTenant = sql`merchant_id = ${merchantId} AND env = ${env}`
  return sql`
    SELECT d.start_at, d.end_at, jsonb_build_object('settled', settled.count, 'volume', settled.volume,
      'refunds', back.count, 'refunded', back.volume, 'opened', opened.count, 'paid', paid.count, 'failed', failed.count,
      'seconds', coalesce(times.seconds, '{}'), 'delivered', sent.delivered, 'undelivered', sent.undelivered) AS figures
    FROM ${daysFrom(sql, days)}
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS count, coalesce(sum(amount), 0)::text AS volume FROM payments p
      WHERE ${ofTenant} AND status = 'settled' AND settled_at >= d.start_at AND settled_at < d.end_at
        AND ${isReceived(sql)}) settled
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS count, coalesce(sum(amount), 0)::text AS volume FROM refunds
      WHERE ${ofTenant} AND status = 'proven' AND dropped_at IS NULL
        AND proven_at >= d.start_at AND proven_at < d.end_at) back
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS count FROM payments
      WHERE ${ofTenant} AND created_at >= d.start_at AND created_at < d.end_at) opened
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS count FROM payments
      WHERE ${ofTenant} AND status = 'settled' AND created_at >= d.start_at AND created_at < d.end_at) paid
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS count FROM payments
      WHERE ${ofTenant} AND status = 'failed' AND failed_at >= d.start_at AND failed_at < d.end_at) failed
    CROSS JOIN LATERAL (
      SELECT array_agg(greatest(0, extract(epoch FROM settled_at - created_at))::int) AS seconds
      FROM (SELECT settled_at, created_at FROM payments
        WHERE ${ofTenant} AND status = 'settled' AND settled_at >= d.start_at AND settled_at < d.end_at
        ORDER BY settled_at DESC LIMIT 200) last) times
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE status = 'delivered')::int AS delivered,
        count(*) FILTER (WHERE status = 'failed')::int AS undelivered
      FROM (SELECT status FROM webhook_deliveries
        WHERE ${ofTenant} AND created_at >= d.start_at AND created_at < d.end_at
        ORDER BY created_at DESC, id DESC LIMIT 1000) last) sent`
}

export class OverviewRepo extends Context.Service<
  OverviewRepo,
  {
    readonly days: (
      tenant: Tenant,
      period: Period
    ) => Effect.Effect<ReadonlyArray<DayFigures & { readonly day: string }>>
  }
>()("quittance/dashboard/OverviewRepo") {
  static readonly layer: Layer.Layer<OverviewRepo, never, SqlClient.SqlClient> = Layer.effect(
    OverviewRepo,
    Effect.gen(function* () {
      const sums = yield* makeDaySums({ kind: "overview", figures: Figures, counting })
      return {
        days: Effect.fn("OverviewRepo.days")(function* (tenant, period) {
          const days = yield* sums(tenant, daysOf(period))
          return days.map(({ day, figures }) => ({ ...figures, day }))
        })
      }
    })
  )
}
