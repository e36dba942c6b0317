// The SQL of the overview and the payments' pages, on indexes.

import { Cache, Context, Effect, Exit, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { toBytes } from "../../chain/ChainBytes.ts"
import { EpochMillis } from "../../database/EpochMillis.ts"
import { Replica } from "../../database/Replica.ts"
import type { TransactionHash } from "../../domain/Chain.ts"
import type { Tenant } from "../../domain/Merchant.ts"
import { Uuid } from "../../domain/Merchant.ts"
import { orUnknown } from "../../domain/orUnknown.ts"
import { AttemptMethod, PayerType, type Payment, type PaymentStatus } from "../../domain/Payment.ts"
import { VerdictReason } from "../../domain/VerdictReason.ts"
import { DeliveryAttempt, DeliveryStatus, EventType } from "../../domain/Webhook.ts"
import { ownRows, PaymentRow, toPayment } from "../../payments/PaymentRow.ts"

/** What a person typed to find a payment by. */
export type Search =
  | { readonly by: "id"; readonly id: string }
  | { readonly by: "refCode"; readonly refCode: string }
  | { readonly by: "transaction"; readonly transactionId: TransactionHash }

const SettledDay = Schema.Struct({ day: Schema.String, count: Schema.Int, volume: Schema.String })
const decodeDays = Schema.decodeUnknownEffect(Schema.Array(SettledDay))
const Counts = Schema.Struct({ pending: Schema.Int, failed: Schema.Int, has_endpoint: Schema.Boolean })
const decodeCounts = Schema.decodeUnknownEffect(Schema.Tuple([Counts]))
const decodePayments = Schema.decodeUnknownEffect(Schema.Array(PaymentRow), ownRows)

const DetailRow = Schema.Struct({
  ...PaymentRow.fields,
  failed_at: Schema.NullOr(Schema.Date),
  failed_earlier_at: Schema.NullOr(Schema.Date),
  block_number: Schema.NullOr(Schema.String),
  log_position: Schema.NullOr(Schema.Int),
  dropped_at: Schema.NullOr(Schema.Date),
  attempts: Schema.Array(Schema.Struct({ at: EpochMillis, payer: Schema.String, method: AttemptMethod })),
  reports: Schema.Array(
    Schema.Struct({
      at: EpochMillis,
      transactionId: Schema.String,
      payer: Schema.String,
      payerType: PayerType
    })
  ),
  verdicts: Schema.Array(
    Schema.Struct({
      at: EpochMillis,
      reportedAt: EpochMillis,
      transactionId: Schema.String,
      payer: Schema.String,
      verdict: orUnknown(VerdictReason),
      expected: Schema.NullOr(Schema.String),
      actual: Schema.NullOr(Schema.String)
    })
  ),
  deliveries: Schema.Array(
    Schema.Struct({
      id: Uuid,
      type: EventType,
      status: DeliveryStatus,
      attempts: Schema.Array(Schema.Struct({ ...DeliveryAttempt.fields, startedAt: EpochMillis }))
    })
  )
})
const decodeDetails = Schema.decodeUnknownEffect(Schema.Array(DetailRow), ownRows)

/** A payment with its whole history. */
export interface PaymentHistory extends Omit<typeof DetailRow.Type, keyof typeof PaymentRow.Type> {
  readonly payment: ReturnType<typeof toPayment>
}

const millis = (column: string) => `(extract(epoch FROM ${column}) * 1000)::bigint::text`
const hex = (column: string) => `'0x' || encode(${column}, 'hex')`
const json = (select: string) => `coalesce((${select}), '[]')`

const history = `p.*, c.block_number::text AS block_number, c.log_position, c.dropped_at,
  ${json(`SELECT json_agg(json_build_object('at', ${millis("a.announced_at")}, 'payer', ${hex("a.payer_address")},
      'method', a.method) ORDER BY a.announced_at)
    FROM (SELECT announced_at, payer_address, method FROM payment_attempts
      WHERE payment_id = p.id ORDER BY announced_at DESC LIMIT 20) a`)} AS attempts,
  ${json(`SELECT json_agg(json_build_object('at', ${millis("r.reported_at")},
      'transactionId', ${hex("r.transaction_id")}, 'payer', ${hex("r.payer_address")},
      'payerType', r.payer_type) ORDER BY r.reported_at)
    FROM payment_reports r WHERE r.payment_id = p.id`)} AS reports,
  ${json(`SELECT json_agg(json_build_object('at', ${millis("v.at")}, 'reportedAt', ${millis("v.reported_at")},
      'transactionId', ${hex("v.transaction_id")}, 'payer', ${hex("v.payer_address")}, 'verdict', v.verdict,
      'expected', v.expected, 'actual', v.actual) ORDER BY v.at)
    FROM payment_verdicts v WHERE v.payment_id = p.id`)} AS verdicts,
  ${json(`SELECT json_agg(json_build_object('id', d.id, 'type', d.type, 'status', d.status, 'attempts',
      ${json(`SELECT json_agg(json_build_object('number', a.number, 'manual', a.manual,
          'startedAt', ${millis("a.started_at")}, 'durationMs', a.duration_ms,
          'responseStatus', a.response_status, 'failure', a.failure) ORDER BY a.number)
        FROM webhook_attempts a WHERE a.delivery_id = d.id`)}) ORDER BY d.created_at)
    FROM webhook_deliveries d WHERE d.payment_id = p.id`)} AS deliveries`

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ofTenant = (tenant: Tenant) => sql`merchant_id = ${tenant.merchantId} AND env = ${tenant.env}`

  const found = (search: Search) => {
    switch (search.by) {
      case "id":
        return sql`AND id = ${search.id}`
      case "refCode":
        return sql`AND ref_code = ${search.refCode}`
      case "transaction": {
        const bytes = toBytes(search.transactionId)
        return sql`AND id IN (
          SELECT id FROM payments WHERE transaction_id = ${bytes}
          UNION SELECT payment_id FROM payment_reports WHERE transaction_id = ${bytes})`
      }
    }
  }

  return {
    settledDays: Effect.fn("PaymentPagesRepo.settledDays")(function* (
      tenant: Tenant,
      from: Date,
      days: number
    ) {
      return yield* decodeDays(
        yield* sql`
          SELECT to_char(from_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, settled.count, settled.volume
          FROM (SELECT ${from}::timestamptz + n * interval '24 hours' AS from_at
            FROM generate_series(0, ${days - 1}::integer) n) days
          CROSS JOIN LATERAL (
            SELECT count(*)::int AS count, coalesce(sum(amount), 0)::text AS volume FROM payments
            WHERE ${ofTenant(tenant)} AND status = 'settled'
              AND settled_at >= from_at AND settled_at < from_at + interval '24 hours') settled
          ORDER BY from_at`
      )
    }, Effect.orDie),

    counts: Effect.fn("PaymentPagesRepo.counts")(function* (tenant: Tenant, from: Date) {
      const [row] = yield* decodeCounts(
        yield* sql`
          SELECT
            (SELECT count(*)::int FROM payments WHERE ${ofTenant(tenant)} AND status = 'pending') AS pending,
            (SELECT count(*)::int FROM payments
              WHERE ${ofTenant(tenant)} AND status = 'failed' AND failed_at >= ${from}) AS failed,
            EXISTS (SELECT 1 FROM webhook_endpoints
              WHERE ${ofTenant(tenant)} AND deleted_at IS NULL) AS has_endpoint`
      )
      return row
    }, Effect.orDie),

    list: Effect.fn("PaymentPagesRepo.list")(function* (
      tenant: Tenant,
      page: {
        readonly limit: number
        readonly status?: PaymentStatus
        readonly search?: Search
        readonly startingAfter?: string
      }
    ) {
      const status = page.status === undefined ? sql`` : sql`AND status = ${page.status}`
      const search = page.search === undefined ? sql`` : found(page.search)
      const after =
        page.startingAfter === undefined
          ? sql``
          : sql`AND (created_at, id) < (
              SELECT last.created_at, last.id FROM payments last
              WHERE last.id = ${page.startingAfter} AND last.merchant_id = ${tenant.merchantId})`
      const rows = yield* decodePayments(
        yield* sql`
          SELECT * FROM payments WHERE ${ofTenant(tenant)} ${status} ${search} ${after}
          ORDER BY created_at DESC, id DESC LIMIT ${page.limit}`
      )
      return rows.map(toPayment)
    }, Effect.orDie),

    find: Effect.fn("PaymentPagesRepo.find")(function* (tenant: Tenant, id: string) {
      const [row] = yield* decodeDetails(
        yield* sql`
          SELECT ${sql.literal(history)} FROM payments p LEFT JOIN claimed_transfers c ON c.payment_id = p.id
          WHERE p.id = ${id} AND p.merchant_id = ${tenant.merchantId} AND p.env = ${tenant.env}`
      )
      return Option.map(
        Option.fromUndefinedOr(row),
        (one): PaymentHistory => ({ ...one, payment: toPayment(one) })
      )
    }, Effect.orDie)
  }
})

type Repo = PaymentPagesRepo["Service"]

const dayMillis = 24 * 3_600_000

/**
 * Payments settle now and never in the past, so the days before yesterday are counted once an hour:
 * counting 90,000 settlements takes a third of the page's time or more.
 */
const withClosedDays = Effect.fnUntraced(function* (repo: Repo) {
  const closed = yield* Cache.makeWith(
    ({ tenant, from, days }: { readonly tenant: Tenant; readonly from: number; readonly days: number }) =>
      repo.settledDays(tenant, new Date(from), days),
    { capacity: 1000, timeToLive: (exit) => (Exit.isSuccess(exit) ? "1 hour" : 0) }
  )
  const settledDays: Repo["settledDays"] = Effect.fnUntraced(function* (tenant, from, days) {
    const [before, latest] = yield* Effect.all(
      [
        Cache.get(closed, { tenant, from: from.getTime(), days: days - 2 }),
        repo.settledDays(tenant, new Date(from.getTime() + (days - 2) * dayMillis), 2)
      ],
      { concurrency: 2 }
    )
    return [...before, ...latest]
  })
  return { ...repo, settledDays }
})

export class PaymentPagesRepo extends Context.Service<
  PaymentPagesRepo,
  {
    /**
     * Settlements by day since `from`, a midnight of UTC. A range of the index for each day costs less
     * than half of grouping all of it.
     */
    readonly settledDays: (
      tenant: Tenant,
      from: Date,
      days: number
    ) => Effect.Effect<ReadonlyArray<typeof SettledDay.Type>>
    /** Failures since `from`; what is pending. */
    readonly counts: (tenant: Tenant, from: Date) => Effect.Effect<typeof Counts.Type>
    /** Newest first. */
    readonly list: (
      tenant: Tenant,
      page: {
        readonly limit: number
        readonly status?: PaymentStatus
        readonly search?: Search
        readonly startingAfter?: string
      }
    ) => Effect.Effect<ReadonlyArray<Payment>>
    readonly find: (tenant: Tenant, id: string) => Effect.Effect<Option.Option<PaymentHistory>>
  }
>()("quittance/dashboard/PaymentPagesRepo") {
  static readonly layer: Layer.Layer<PaymentPagesRepo, never, SqlClient.SqlClient> = Layer.effect(
    PaymentPagesRepo,
    Effect.gen(function* () {
      const here = yield* make
      const replica = yield* Replica
      if (replica === undefined) return yield* withClosedDays(here)
      const there = yield* Effect.provideService(make, SqlClient.SqlClient, replica.sql)
      return yield* withClosedDays({
        settledDays: (...asked) => replica.read(there.settledDays(...asked), here.settledDays(...asked)),
        counts: (...asked) => replica.read(there.counts(...asked), here.counts(...asked)),
        list: (...asked) => replica.read(there.list(...asked), here.list(...asked)),
        find: (...asked) => replica.read(there.find(...asked), here.find(...asked))
      })
    })
  )
}
