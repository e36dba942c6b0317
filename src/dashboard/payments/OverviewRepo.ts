// The figures of the overview by day. Days that are over are counted once an hour: payments settle now and never in
// the past.
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Replica } from "../../database/Replica.ts"
import { BoundedMap } from "../../domain/BoundedMap.ts"
import type { Tenant } from "../../domain/Merchant.ts"

/** A day of the merchant's calendar. */
export interface DayBounds {
  readonly day: string
  readonly start: Date
  readonly end: Date
}

const Figures = Schema.Struct({
  /** Payments that settled in the day, and their sum in atomic USDC. */
  settled: Schema.Int,
  volume: Schema.BigIntFromString,
  /** Refunds that were proven in the day. */
  refunds: Schema.Int,
  refunded: Schema.BigIntFromString,
  /** Payments that were opened in the day, and those of them that have settled since. */
  opened: Schema.Int,
  paid: Schema.Int,
  /** Seconds from opening to settlement of the last payments of the day, 200 at most. */
  seconds: Schema.Array(Schema.Int),
  /** Of the last deliveries of the day, 1,000 at most. */
  delivered: Schema.Int,
  undelivered: Schema.Int
})
export type DayFigures = typeof Figures.Type

const decode = Schema.decodeUnknownEffect(Schema.Array(Figures))

const make = (sql: SqlClient.SqlClient) => ({
  days: Effect.fn("OverviewRepo.days")(function* (tenant: Tenant, days: ReadonlyArray<DayBounds>) {
    const ofTenant = sql`merchant_id = ${tenant.merchantId} AND env = ${tenant.env}`
    const starts = days.map(({ start }) => start.toISOString())
    const ends = days.map(({ end }) => end.toISOString())
    return yield* decode(
      yield* sql`
        SELECT settled.count AS settled, settled.volume, back.count AS refunds, back.volume AS refunded,
          opened.count AS opened, paid.count AS paid, coalesce(times.seconds, '{}') AS seconds,
          sent.delivered, sent.undelivered
        FROM unnest(${starts}::timestamptz[], ${ends}::timestamptz[]) WITH ORDINALITY AS d (start_at, end_at, number)
        CROSS JOIN LATERAL (
          SELECT count(*)::int AS count, coalesce(sum(amount), 0)::text AS volume FROM payments
          WHERE ${ofTenant} AND status = 'settled' AND settled_at >= start_at AND settled_at < end_at) settled
        CROSS JOIN LATERAL (
          SELECT count(*)::int AS count, coalesce(sum(amount), 0)::text AS volume FROM refunds
          WHERE ${ofTenant} AND status = 'proven' AND proven_at >= start_at AND proven_at < end_at) back
        CROSS JOIN LATERAL (
          SELECT count(*)::int AS count FROM payments
          WHERE ${ofTenant} AND created_at >= start_at AND created_at < end_at) opened
        CROSS JOIN LATERAL (
          SELECT count(*)::int AS count FROM payments
          WHERE ${ofTenant} AND status = 'settled' AND created_at >= start_at AND created_at < end_at) paid
        CROSS JOIN LATERAL (
          SELECT array_agg(greatest(0, extract(epoch FROM settled_at - created_at))::int) AS seconds
          FROM (SELECT settled_at, created_at FROM payments
            WHERE ${ofTenant} AND status = 'settled' AND settled_at >= start_at AND settled_at < end_at
            ORDER BY settled_at DESC LIMIT 200) last) times
        CROSS JOIN LATERAL (
          SELECT count(*) FILTER (WHERE status = 'delivered')::int AS delivered,
            count(*) FILTER (WHERE status = 'failed')::int AS undelivered
          FROM (SELECT status FROM webhook_deliveries
            WHERE ${ofTenant} AND created_at >= start_at AND created_at < end_at
            ORDER BY created_at DESC, id DESC LIMIT 1000) last) sent
        ORDER BY number`
    )
  }, Effect.orDie)
})

const hour = 3_600_000

/** One figure of each day, those of closed days from memory. */
const remembering = (count: ReturnType<typeof make>["days"]) => {
  const known = new BoundedMap<string, { readonly until: number; readonly figures: DayFigures }>(4_000)
  return Effect.fnUntraced(function* (tenant: Tenant, days: ReadonlyArray<DayBounds>) {
    const now = (yield* DateTime.nowAsDate).getTime()
    const keyOf = ({ end, start }: DayBounds) =>
      `${tenant.merchantId} ${tenant.env} ${start.getTime()} ${end.getTime()}`
    const fresh = (day: DayBounds) => {
      const found = known.get(keyOf(day))
      return found === undefined || found.until < now ? undefined : found.figures
    }
    const missing = days.filter((day) => fresh(day) === undefined)
    const counted = missing.length === 0 ? [] : yield* count(tenant, missing)
    const newly = new Map(missing.map((day, index) => [day.day, counted[index]]))
    for (const day of missing) {
      const figures = newly.get(day.day)
      // Yesterday's payments may still settle.
      if (figures !== undefined && day.end.getTime() < now - 24 * hour)
        known.set(keyOf(day), { until: now + hour, figures })
    }
    return days.flatMap((day) => {
      const figures = newly.get(day.day) ?? fresh(day)
      return figures === undefined ? [] : [{ ...figures, day: day.day }]
    })
  })
}

export class OverviewRepo extends Context.Service<
  OverviewRepo,
  {
    readonly days: (
      tenant: Tenant,
      days: ReadonlyArray<DayBounds>
    ) => Effect.Effect<ReadonlyArray<DayFigures & { readonly day: string }>>
  }
>()("quittance/dashboard/OverviewRepo") {
  static readonly layer: Layer.Layer<OverviewRepo, never, SqlClient.SqlClient> = Layer.effect(
    OverviewRepo,
    Effect.gen(function* () {
      const here = make(yield* SqlClient.SqlClient)
      const replica = yield* Replica
      if (replica === undefined) return { days: remembering(here.days) }
      const there = make(replica.sql)
      return {
        days: remembering((tenant, days) => replica.read(there.days(tenant, days), here.days(tenant, days)))
      }
    })
  )
}
