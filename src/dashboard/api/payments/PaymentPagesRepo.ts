// The SQL of the overview and the payments' pages, on indexes.

import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Tenant } from "../../../domain/Merchant.ts"
import { Uuid } from "../../../domain/Merchant.ts"
import { orUnknown } from "../../../domain/orUnknown.ts"
import { AttemptMethod, PayerType, type Payment, type PaymentStatus } from "../../../domain/Payment.ts"
import { VerdictReason } from "../../../domain/VerdictReason.ts"
import { DeliveryAttempt, DeliveryStatus, EventType } from "../../../domain/Webhook.ts"
import { ownRows, PaymentRow, toPayment } from "../../../payments/PaymentRow.ts"
import { EpochMillis } from "../../../platform/database/EpochMillis.ts"
import { hexSql } from "../../../platform/database/hexSql.ts"
import { Replica } from "../../../platform/database/Replica.ts"
import { PaymentState } from "./Api.ts"
import { maxPending } from "./maxPending.ts"
import type { Search } from "./searchOf.ts"

export interface ListedPayment {
  readonly payment: Payment
  readonly state: PaymentState
}

/** `pending` excludes `incomplete`. */
type PaymentFilter = PaymentStatus | "incomplete"

export type PaymentSort = "newest" | "oldest" | "largest" | "smallest"

export interface ListedPage {
  readonly limit: number
  readonly status?: PaymentFilter
  readonly search?: Search
  /** Opened from this time on, and before `until`. */
  readonly since?: Date
  readonly until?: Date
  readonly sort?: PaymentSort
  readonly startingAfter?: string
}

/** The most payments that a prefix finds; if more match, some are left out. */
const maxResults = 1_000

const Counts = Schema.Struct({
  pending: Schema.Int,
  incomplete: Schema.Int,
  has_endpoint: Schema.Boolean
})
const decodeCounts = Schema.decodeUnknownEffect(Schema.Tuple([Counts]))
const ListedRow = Schema.Struct({ ...PaymentRow.fields, state: PaymentState })
const decodePayments = Schema.decodeUnknownEffect(Schema.Array(ListedRow), ownRows)

const DetailRow = Schema.Struct({
  ...ListedRow.fields,
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
export interface PaymentHistory
  extends ListedPayment,
    Omit<typeof DetailRow.Type, keyof typeof ListedRow.Type> {}

const millis = (column: string) => `(extract(epoch FROM ${column}) * 1000)::bigint::text`
const json = (select: string) => `coalesce((${select}), '[]')`

/** For EXISTS, Postgres may read the whole table into a hash; this looks the payment up by an index. */
const has = (rows: string) => `(SELECT true FROM ${rows} LIMIT 1) IS NOT NULL`

/** Somebody has announced, reported or signed something. */
const isSent = `(p.reported_at IS NOT NULL
  OR ${has("payment_attempts a WHERE a.payment_id = p.id")}
  OR ${has("payment_reports r WHERE r.payment_id = p.id")}
  OR ${has("x402_settlements s WHERE s.payment_id = p.id AND s.status = 'pending'")})`

const state = `CASE p.status
  WHEN 'pending' THEN CASE WHEN ${isSent} THEN 'pending' ELSE 'incomplete' END
  WHEN 'settled' THEN (SELECT CASE WHEN sum(r.amount) >= p.amount THEN 'refunded'
      WHEN sum(r.amount) > 0 THEN 'partly_refunded' ELSE 'settled' END
    FROM refunds r WHERE r.payment_id = p.id AND r.status = 'proven' AND r.dropped_at IS NULL)
  ELSE p.status END AS state`

const history = `p.*, ${state}, c.block_number::text AS block_number, c.log_position, c.dropped_at,
  ${json(`SELECT json_agg(json_build_object('at', ${millis("a.announced_at")}, 'payer', ${hexSql("a.payer_address")},
      'method', a.method) ORDER BY a.announced_at)
    FROM (SELECT announced_at, payer_address, method FROM payment_attempts
      WHERE payment_id = p.id ORDER BY announced_at DESC LIMIT 20) a`)} AS attempts,
  ${json(`SELECT json_agg(json_build_object('at', ${millis("r.reported_at")},
      'transactionId', ${hexSql("r.transaction_id")}, 'payer', ${hexSql("r.payer_address")},
      'payerType', r.payer_type) ORDER BY r.reported_at)
    FROM payment_reports r WHERE r.payment_id = p.id`)} AS reports,
  ${json(`SELECT json_agg(json_build_object('at', ${millis("v.at")}, 'reportedAt', ${millis("v.reported_at")},
      'transactionId', ${hexSql("v.transaction_id")}, 'payer', ${hexSql("v.payer_address")}, 'verdict', v.verdict,
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
  /** Written as a literal: with a parameter, Postgres plans the statement on a large table again each time. */
  const limitOf = (rows: number) => sql.literal(`LIMIT ${rows}`)
  const ofTenant = (tenant: Tenant) => sql`merchant_id = ${tenant.merchantId} AND env = ${tenant.env}`

  /** Compares complete values for equality, because a range would be planned again each time. */
  const within = <A extends string | Buffer>(
    column: string,
    { first, last }: { readonly first: A; readonly last: A }
  ) =>
    Buffer.from(first).equals(Buffer.from(last))
      ? sql`${sql(column)} = ${first}`
      : sql`${sql(column)} BETWEEN ${first} AND ${last}`

  /** Payments that match a prefix, found only by indexes. `hex` digits are the beginning of bytes. */
  const named = (tenant: Tenant, search: Search) => {
    switch (search.by) {
      case "refCode":
        return sql`SELECT id FROM payments WHERE ${ofTenant(tenant)} AND ${within("ref_code", search)}`
      case "intentUrl": {
        const prefix = [...search.prefix].slice(0, 300).join("")
        return sql`SELECT id FROM payments WHERE ${ofTenant(tenant)}
          AND left(intent_url, 300) ~>=~ ${prefix} AND left(intent_url, 300) ~<~ ${`${prefix}\u{10ffff}`}
          AND starts_with(intent_url, ${search.prefix})`
      }
      case "hex": {
        const begins = (column: string, bytes: number) =>
          within(column, {
            first: Buffer.from(search.digits.padEnd(2 * bytes, "0"), "hex"),
            last: Buffer.from(search.digits.padEnd(2 * bytes, "f"), "hex")
          })
        const paid = sql`SELECT id FROM payments WHERE ${ofTenant(tenant)} AND ${begins("transaction_id", 32)}
          UNION SELECT payment_id FROM payment_reports WHERE ${begins("transaction_id", 32)}`
        return search.digits.length > 40
          ? paid
          : sql`${paid} UNION SELECT id FROM payments WHERE ${ofTenant(tenant)} AND ${begins("payer_address", 20)}`
      }
      default:
        return undefined
    }
  }

  const isFound = (search: Search | undefined) => {
    switch (search?.by) {
      case undefined:
        return sql``
      case "id":
        return sql`AND p.id = ${search.id}`
      case "amount":
        return sql`AND p.amount = ${search.amount.toString()}::numeric`
      default:
        return sql``
    }
  }

  /** The status is a literal, because its frequency decides which index is read. */
  const isIn = (status: PaymentFilter | undefined) => {
    switch (status) {
      case undefined:
        return sql``
      case "incomplete":
        return sql`AND p.status = 'pending' AND NOT ${sql.literal(isSent)}`
      case "pending":
        return sql`AND p.status = 'pending' AND ${sql.literal(isSent)}`
      default:
        return sql`AND p.status = ${sql.literal(`'${status}'`)}`
    }
  }

  const sorts = {
    newest: {
      key: sql`p.created_at, p.id`,
      of: sql`last.created_at, last.id`,
      after: sql`<`,
      by: sql`p.created_at DESC, p.id DESC`
    },
    oldest: {
      key: sql`p.created_at, p.id`,
      of: sql`last.created_at, last.id`,
      after: sql`>`,
      by: sql`p.created_at, p.id`
    },
    largest: {
      key: sql`p.amount, p.created_at, p.id`,
      of: sql`last.amount, last.created_at, last.id`,
      after: sql`<`,
      by: sql`p.amount DESC, p.created_at DESC, p.id DESC`
    },
    smallest: {
      key: sql`p.amount, p.created_at, p.id`,
      of: sql`last.amount, last.created_at, last.id`,
      after: sql`>`,
      by: sql`p.amount, p.created_at, p.id`
    }
  } satisfies Readonly<Record<PaymentSort, unknown>>

  return {
    counts: Effect.fn("PaymentPagesRepo.counts")(function* (tenant: Tenant) {
      const [row] = yield* decodeCounts(
        yield* sql`
          SELECT waiting.pending, waiting.incomplete,
            EXISTS (SELECT 1 FROM webhook_endpoints
              WHERE ${ofTenant(tenant)} AND deleted_at IS NULL) AS has_endpoint
          FROM (
            SELECT count(*)::int AS pending, count(*) FILTER (WHERE NOT newest.sent)::int AS incomplete
            FROM (
              SELECT ${sql.literal(isSent)} AS sent FROM payments p
              WHERE p.merchant_id = ${tenant.merchantId} AND p.env = ${tenant.env} AND p.status = 'pending'
              ORDER BY p.created_at DESC, p.id DESC ${limitOf(maxPending)}) newest) waiting`
      )
      return row
    }, Effect.orDie),

    list: Effect.fn("PaymentPagesRepo.list")(function* (tenant: Tenant, page: ListedPage) {
      const { search, since, startingAfter, until } = page
      const sort = sorts[page.sort ?? "newest"]
      const candidates = search === undefined ? undefined : named(tenant, search)
      // Looks each up by its key, whatever the planner expects of a prefix.
      const among =
        candidates === undefined
          ? sql`payments p`
          : sql`(SELECT id FROM (${candidates}) named ${limitOf(maxResults)}) found
              CROSS JOIN LATERAL (SELECT * FROM payments WHERE id = found.id OFFSET 0) p`
      // The frequency of an amount, or the length of a period, decides which index is read.
      const limit =
        search?.by === "amount" || since !== undefined || until !== undefined
          ? sql`LIMIT ${page.limit}`
          : limitOf(page.limit)
      const after =
        startingAfter === undefined
          ? sql``
          : sql`AND (${sort.key}) ${sort.after} (
              SELECT ${sort.of} FROM payments last
              WHERE last.id = ${startingAfter} AND last.merchant_id = ${tenant.merchantId} AND last.env = ${tenant.env})`
      const rows = yield* decodePayments(
        yield* sql`
          SELECT p.*, ${sql.literal(state)} FROM ${among}
          WHERE p.merchant_id = ${tenant.merchantId} AND p.env = ${tenant.env} ${isIn(page.status)} ${isFound(search)}
            ${since === undefined ? sql`` : sql`AND p.created_at >= ${since}`}
            ${until === undefined ? sql`` : sql`AND p.created_at < ${until}`} ${after}
          ORDER BY ${sort.by} ${limit}`
      )
      return rows.map((row): ListedPayment => ({ payment: toPayment(row), state: row.state }))
    }, Effect.orDie),

    find: Effect.fn("PaymentPagesRepo.find")(function* (tenant: Tenant, id: string) {
      const [row] = yield* decodeDetails(
        yield* sql`
          SELECT ${sql.literal(history)} FROM payments p LEFT JOIN claimed_transfers c ON c.payment_id = p.id
          WHERE p.id = ${id} AND p.merchant_id = ${tenant.merchantId} AND p.env = ${tenant.env}`
      )
      return Option.map(
        Option.fromUndefinedOr(row),
        (row): PaymentHistory => ({ ...row, payment: toPayment(row) })
      )
    }, Effect.orDie)
  }
})

export class PaymentPagesRepo extends Context.Service<
  PaymentPagesRepo,
  {
    /** Counts of pending payments. */
    readonly counts: (tenant: Tenant) => Effect.Effect<typeof Counts.Type>
    /** A page of payments. If more than 1,000 match a prefix, some are left out. */
    readonly list: (tenant: Tenant, page: ListedPage) => Effect.Effect<ReadonlyArray<ListedPayment>>
    readonly find: (tenant: Tenant, id: string) => Effect.Effect<Option.Option<PaymentHistory>>
  }
>()("quittance/dashboard/PaymentPagesRepo") {
  static readonly layer: Layer.Layer<PaymentPagesRepo, never, SqlClient.SqlClient> = Layer.effect(
    PaymentPagesRepo,
    Effect.gen(function* () {
      const onPrimary = yield* make
      const replica = yield* Replica
      if (replica === undefined) return onPrimary
      const onReplica = yield* Effect.provideService(make, SqlClient.SqlClient, replica.sql)
      return {
        counts: (tenant) => replica.read(onReplica.counts(tenant), onPrimary.counts(tenant)),
        list: (...query) => replica.read(onReplica.list(...query), onPrimary.list(...query)),
        find: (...query) => replica.read(onReplica.find(...query), onPrimary.find(...query))
      }
    })
  )
}
