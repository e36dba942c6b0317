// Sums of a merchant's days. A finished day is summed once and stored. The triggers of migration 0007 record later
// changes to it, and the next read sums it again.
import { Array as Arr, Effect, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { Tenant } from "../../domain/Merchant.ts"
import type { DayBounds } from "../../domain/Period.ts"
import { LongReads } from "../../platform/database/LongReads.ts"
import { Replica } from "../../platform/database/Replica.ts"

/** Twice the margin of the triggers: no running transaction has changed such a day without a record. */
const margin = "interval '2 hours'"
/** Days per statement. While a week is summed, late changes to the merchant's payments wait. */
const daysTogether = 7

/** Rows `d (start_at, end_at)`. The SELECTs hide the number of days from the planner, which would replan each request. */
export const daysFrom = (sql: SqlClient.SqlClient, days: ReadonlyArray<DayBounds>): Statement.Fragment => sql`
  unnest((SELECT ${days.map(({ start }) => start)}::timestamptz[]), (SELECT ${days.map(({ end }) => end)}::timestamptz[]))
    AS d (start_at, end_at)`

export interface DaySumsOptions<A> {
  /** The name in the triggers of migration 0007. */
  readonly kind: "overview" | "transfers"
  /** A change of its shape needs a migration that deletes the stored figures. */
  readonly figures: Schema.Codec<A, unknown>
  /** Selects `start_at`, `end_at` and `figures`, a jsonb, of each day. */
  readonly counting: (
    sql: SqlClient.SqlClient,
    tenant: Tenant,
    days: ReadonlyArray<DayBounds>
  ) => Statement.Fragment
}

/** Each day with its figures, in the order of the days. */
export type DaySums<A> = <D extends DayBounds>(
  tenant: Tenant,
  days: ReadonlyArray<D>
) => Effect.Effect<ReadonlyArray<D & { readonly figures: A }>>

export const makeDaySums = <A>({
  counting,
  figures,
  kind
}: DaySumsOptions<A>): Effect.Effect<DaySums<A>, never, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const context = yield* Effect.context<SqlClient.SqlClient>()
    const pool = yield* SqlClient.SqlClient
    const reads = yield* LongReads
    const replica = yield* Replica
    const decodeStored = Schema.decodeUnknownEffect(
      Schema.Array(
        Schema.Struct({ start_at: Schema.Date, is_over: Schema.Boolean, figures: Schema.NullOr(figures) })
      )
    )
    const decodeCounted = Schema.decodeUnknownEffect(
      Schema.Array(Schema.Struct({ start_at: Schema.Date, figures }))
    )
    const ofDay = (sql: SqlClient.SqlClient, alias: string, { env, merchantId }: Tenant) => {
      const row = sql.literal(alias)
      return sql`${row}.merchant_id = ${merchantId} AND ${row}.env = ${env} AND ${row}.kind = ${kind}
        AND ${row}.start_at = d.start_at AND ${row}.end_at = d.end_at`
    }

    const stored = Effect.fnUntraced(function* (tenant: Tenant, days: ReadonlyArray<DayBounds>) {
      return yield* decodeStored(
        yield* pool`
          SELECT d.start_at, d.end_at < now() - ${pool.literal(margin)} AS is_over, s.figures
          FROM ${daysFrom(pool, days)}
          LEFT JOIN day_sums s ON ${ofDay(pool, "s", tenant)}
            AND NOT EXISTS (SELECT FROM day_sum_changes c WHERE ${ofDay(pool, "c", tenant)})`
      )
    }, Effect.orDie)

    const count = (sql: SqlClient.SqlClient, tenant: Tenant, days: ReadonlyArray<DayBounds>) =>
      Effect.flatMap(sql`${counting(sql, tenant, days)}`, decodeCounted).pipe(Effect.orDie)

    const store = Effect.fnUntraced(function* (
      sql: SqlClient.SqlClient,
      tenant: Tenant,
      days: ReadonlyArray<DayBounds>
    ) {
      const { env, merchantId } = tenant
      // Waits for changes in progress. Later changes wait until the sums are stored.
      yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${`day sums ${merchantId} ${env}`}, 0))`
      return yield* decodeCounted(
        yield* sql`
          WITH counted AS MATERIALIZED (${counting(sql, tenant, days)}), stored AS (
            INSERT INTO day_sums (merchant_id, env, kind, start_at, end_at, figures)
            SELECT ${merchantId}, ${env}, ${kind}, start_at, end_at, figures FROM counted
            ON CONFLICT (merchant_id, env, kind, start_at, end_at) DO UPDATE SET figures = EXCLUDED.figures
          ), summed AS (
            DELETE FROM day_sum_changes c USING counted d WHERE ${ofDay(sql, "c", tenant)}
          )
          SELECT start_at, figures FROM counted`
      )
    }, Effect.orDie)

    return (tenant, days) =>
      Effect.gen(function* () {
        const figuresByStart = new Map<number, A>()
        const over = new Set<number>()
        for (const row of yield* stored(tenant, days)) {
          if (row.figures !== null) figuresByStart.set(row.start_at.getTime(), row.figures)
          if (row.is_over) over.add(row.start_at.getTime())
        }
        const missing = days.filter(({ start }) => !figuresByStart.has(start.getTime()))
        const past = missing.filter(({ start }) => over.has(start.getTime()))
        const present = missing.filter(({ start }) => !over.has(start.getTime()))
        // Each week is stored separately, even if a later one takes too long.
        for (const some of Arr.chunksOf(past, daysTogether))
          for (const row of yield* reads.run(tenant.merchantId, (sql) =>
            sql.withTransaction(store(sql, tenant, some)).pipe(Effect.catchTag("SqlError", Effect.die))
          ))
            figuresByStart.set(row.start_at.getTime(), row.figures)
        for (const some of Arr.chunksOf(present, daysTogether)) {
          const onPrimary = reads.run(tenant.merchantId, (sql) => count(sql, tenant, some))
          const rows = yield* replica === undefined
            ? onPrimary
            : replica.read(count(replica.sql, tenant, some), onPrimary)
          for (const row of rows) figuresByStart.set(row.start_at.getTime(), row.figures)
        }
        return days.flatMap((day) => {
          const figures = figuresByStart.get(day.start.getTime())
          return figures === undefined ? [] : [{ ...day, figures }]
        })
      }).pipe(Effect.provideContext(context))
  })
