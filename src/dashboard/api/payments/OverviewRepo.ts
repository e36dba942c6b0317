// The figures of the overview by day. What days that are over saw is counted once an hour: payments settle and fail
// now and never in the past.
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { BoundedMap } from "../../../domain/BoundedMap.ts"
import type { Tenant } from "../../../domain/Merchant.ts"
import { isReceived } from "../../../payments/isReceivedSql.ts"
import { Replica } from "../../../platform/database/Replica.ts"

/** A day of the merchant's calendar. */
export interface DayBounds {
  readonly day: string
  readonly start: Date
  readonly end: Date
}

/** What happened within the day: final once it is over. */
const Happened = Schema.Struct({
  /** Payments that settled in the day, less those that the chain no longer shows, and their sum in atomic USDC. */
  settled: Schema.Int,
  volume: Schema.BigIntFromString,
  /** Refunds that were proven in the day, less those that the chain no longer shows. */
  refunds: Schema.Int,
  refunded: Schema.BigIntFromString,
  /** Payments that were opened in the day. */
  opened: Schema.Int,
  /** Seconds from opening to settlement of the last payments of the day, 200 at most. */
  seconds: Schema.Array(Schema.Int)
})
/** What may change after the day. */
const Since = Schema.Struct({
  /** Of the payments that were opened in the day, those that have settled. */
  paid: Schema.Int,
  /** Payments that failed in the day and have not settled late. */
  failed: Schema.Int,
  /** Of the last deliveries of the day, 1,000 at most. */
  delivered: Schema.Int,
  undelivered: Schema.Int
})
export type DayFigures = typeof Happened.Type & typeof Since.Type

const decode = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ ...Since.fields, happened: Schema.NullOr(Happened) }))
)

/** A day to count: whole, or what has come of it alone. */
type Counting = DayBounds & { readonly isHappenedKnown: boolean }

const make = (sql: SqlClient.SqlClient) => ({
  days: Effect.fn("OverviewRepo.days")(function* (tenant: Tenant, days: ReadonlyArray<Counting>) {
    const ofTenant = sql`merchant_id = ${tenant.merchantId} AND env = ${tenant.env}`
    const starts = days.map(({ start }) => start)
    const ends = days.map(({ end }) => end)
    const known = days.map(({ isHappenedKnown }) => isHappenedKnown)
    const rows = yield* decode(
      yield* sql`
        SELECT paid.count AS paid, failed.count AS failed, sent.delivered, sent.undelivered,
          CASE WHEN NOT is_known THEN jsonb_build_object('settled', settled.count, 'volume', settled.volume,
            'refunds', back.count, 'refunded', back.volume, 'opened', opened.count,
            'seconds', coalesce(times.seconds, '{}')) END AS happened
        -- By SELECT: a plan that saw how many days there are would be made anew for each request.
        FROM unnest((SELECT ${starts}::timestamptz[]), (SELECT ${ends}::timestamptz[]), (SELECT ${known}::boolean[]))
          WITH ORDINALITY AS d (start_at, end_at, is_known, number)
        CROSS JOIN LATERAL (
          SELECT count(*)::int AS count, coalesce(sum(amount), 0)::text AS volume FROM payments p
          WHERE NOT is_known AND ${ofTenant} AND status = 'settled' AND settled_at >= start_at AND settled_at < end_at
            AND ${isReceived(sql)}) settled
        CROSS JOIN LATERAL (
          SELECT count(*)::int AS count, coalesce(sum(amount), 0)::text AS volume FROM refunds
          WHERE NOT is_known AND ${ofTenant} AND status = 'proven' AND dropped_at IS NULL
            AND proven_at >= start_at AND proven_at < end_at) back
        CROSS JOIN LATERAL (
          SELECT count(*)::int AS count FROM payments
          WHERE NOT is_known AND ${ofTenant} AND created_at >= start_at AND created_at < end_at) opened
        CROSS JOIN LATERAL (
          SELECT array_agg(greatest(0, extract(epoch FROM settled_at - created_at))::int) AS seconds
          FROM (SELECT settled_at, created_at FROM payments
            WHERE NOT is_known AND ${ofTenant} AND status = 'settled' AND settled_at >= start_at AND settled_at < end_at
            ORDER BY settled_at DESC LIMIT 200) last) times
        CROSS JOIN LATERAL (
          SELECT count(*)::int AS count FROM payments
          WHERE ${ofTenant} AND status = 'settled' AND created_at >= start_at AND created_at < end_at) paid
        CROSS JOIN LATERAL (
          SELECT count(*)::int AS count FROM payments
          WHERE ${ofTenant} AND status = 'failed' AND failed_at >= start_at AND failed_at < end_at) failed
        CROSS JOIN LATERAL (
          SELECT count(*) FILTER (WHERE status = 'delivered')::int AS delivered,
            count(*) FILTER (WHERE status = 'failed')::int AS undelivered
          FROM (SELECT status FROM webhook_deliveries
            WHERE ${ofTenant} AND created_at >= start_at AND created_at < end_at
            ORDER BY created_at DESC, id DESC LIMIT 1000) last) sent
        ORDER BY number`
    )
    return rows.map(({ happened, ...since }) => ({ happened, since }))
  }, Effect.orDie)
})

const hour = 3_600_000

/** One figure of each day, what is final from memory. */
const remembering = (count: ReturnType<typeof make>["days"]) => {
  const known = new BoundedMap<
    string,
    { readonly until: number; readonly happened: typeof Happened.Type; readonly since?: typeof Since.Type }
  >(4_000)
  return Effect.fnUntraced(function* (tenant: Tenant, days: ReadonlyArray<DayBounds>) {
    const now = (yield* DateTime.nowAsDate).getTime()
    const keyOf = ({ end, start }: DayBounds) =>
      `${tenant.merchantId} ${tenant.env} ${start.getTime()} ${end.getTime()}`
    const kept = days.map((day) => {
      const found = known.get(keyOf(day))
      return found === undefined || found.until < now ? undefined : found
    })
    const missing = days.flatMap((day, index) =>
      kept[index]?.since === undefined ? [{ ...day, isHappenedKnown: kept[index] !== undefined }] : []
    )
    const counted = missing.length === 0 ? [] : yield* count(tenant, missing)
    const byDay = new Map(missing.map(({ day }, index) => [day, counted[index]]))
    return days.flatMap((day, index) => {
      const found = kept[index]
      const row = byDay.get(day.day)
      const happened = row?.happened ?? found?.happened
      const since = row?.since ?? found?.since
      if (happened === undefined || since === undefined) return []
      const end = day.end.getTime()
      // What commits while a day ends is of that day; yesterday's payments may still settle.
      if (row !== undefined && end < now - hour)
        known.set(keyOf(day), {
          until: found?.until ?? now + hour,
          happened,
          ...(end < now - 24 * hour ? { since } : {})
        })
      return [{ ...happened, ...since, day: day.day }]
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
