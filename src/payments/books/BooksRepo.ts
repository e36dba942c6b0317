// The SQL of the books: pages of a period's rows in order of time, and its sums.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AddressBytes, toBytes } from "../../chain/ChainBytes.ts"
import type { Address } from "../../domain/Chain.ts"
import type { MerchantId, Tenant } from "../../domain/Merchant.ts"
import { networks } from "../../domain/networks.ts"
import { type Period, TimeZone } from "../../domain/Period.ts"
import { hexSql } from "../../platform/database/hexSql.ts"
import { LongReads } from "../../platform/database/LongReads.ts"
import { isReceived } from "../isReceivedSql.ts"
import { type BookAddress, type BookSums, makeTransferSums, type ReadUntil } from "./TransferSumsSql.ts"
import { incomingKind, joinRefundClaim } from "./transferKindsSql.ts"

export type ExportKind = "payments" | "refunds" | "transfers"

/** A row's columns as texts, with the position at which the next page begins. */
const Row = Schema.Struct({
  at: Schema.Date,
  key: Schema.String,
  cells: Schema.Record(Schema.String, Schema.NullOr(Schema.String))
})
export type BookRow = typeof Row.Type
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))

export interface PageEnd {
  readonly at: Date
  readonly key: string
}

const decodeBalances = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({ address: AddressBytes, block_number: Schema.BigInt, balance: Schema.BigIntFromString })
  )
)
const decodeZones = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ time_zone: Schema.String })))
/** An earlier release stored some time zones that are no longer valid. */
const isTimeZone = Schema.is(TimeZone)
const decodeBookAddresses = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ address: AddressBytes, since: Schema.Date }))
)
const decodeSince = Schema.decodeUnknownEffect(
  Schema.Tuple([Schema.Struct({ since: Schema.NullOr(Schema.Date) })])
)

/** The number of listed transfers that neither a payment nor a refund explains. */
const listedOthers = 200

const paymentCells = `json_build_object('id', p.id, 'reference', p.ref_code, 'order', p.intent_url,
  'amount', p.amount::text, 'payer', ${hexSql("p.payer_address")}, 'receiver', ${hexSql("p.receiver")},
  'transaction', ${hexSql("p.transaction_id")}, 'payerType', p.payer_type,
  'openedAt', (extract(epoch FROM p.created_at) * 1000)::bigint::text,
  'at', (extract(epoch FROM p.settled_at) * 1000)::bigint::text,
  'refunded', coalesce((SELECT sum(r.amount) FROM refunds r
    WHERE r.payment_id = p.id AND r.status = 'proven' AND r.dropped_at IS NULL), 0)::text)`

const refundCells = `json_build_object('id', r.id, 'payment', r.payment_id, 'reference', p.ref_code,
  'incomingTransfer', r.transfer_id, 'amount', r.amount::text, 'recipient', ${hexSql("r.recipient")},
  'sender', ${hexSql("r.sender")}, 'transaction', ${hexSql("r.transaction_id")}, 'reason', r.reason,
  'by', r.created_by, 'createdAt', (extract(epoch FROM r.created_at) * 1000)::bigint::text,
  'at', (extract(epoch FROM r.proven_at) * 1000)::bigint::text)`

const transferCells = (direction: "in" | "out", kind: string, more: string) =>
  `json_build_object('direction', '${direction}', 'kind', ${kind}, 'amount', t.amount::text,
  'from', ${hexSql("t.payer")}, 'to', ${hexSql("t.receiver")}, 'transaction', ${hexSql("t.transaction_id")},
  'block', t.block_number::text, 'at', (extract(epoch FROM t.block_time) * 1000)::bigint::text, ${more})`
const incomingCells = transferCells(
  "in",
  incomingKind,
  "'reference', p.ref_code, 'refund', NULL, 'note', t.note, 'by', t.handled_by"
)
const outgoingCells = transferCells(
  "out",
  "CASE WHEN c.refund_id IS NULL THEN 'other' ELSE 'refund' END",
  "'reference', NULL, 'refund', c.refund_id, 'note', r.reason, 'by', r.created_by"
)
const incomingKey = "'in ' || t.id::text"
const outgoingKey =
  "'out ' || encode(t.transaction_id || t.payer || t.receiver, 'hex') || ' ' || t.amount::text || ' ' || t.ordinal"

const make = (sql: SqlClient.SqlClient) => {
  const text = sql.literal
  const ofTenant = (alias: string, { env, merchantId }: Tenant) =>
    sql`${text(alias)}.merchant_id = ${merchantId} AND ${text(alias)}.env = ${env}`
  /** Rows after `after`. The time column bounds the index scan; the key distinguishes rows of the same instant. */
  const within = (column: string, key: string, { end, start }: Period, after: PageEnd | undefined) => sql`
    ${text(column)} >= ${after?.at ?? start}::timestamptz AND ${text(column)} < ${end}::timestamptz
    AND (${text(column)}, ${text(key)}) > (${after?.at ?? new Date(0)}::timestamptz, ${after?.key ?? ""}::text)`

  const pages = {
    payments: (tenant: Tenant, period: Period, after: PageEnd | undefined, limit: number) => sql`
      SELECT p.settled_at AS at, p.id::text AS key, ${text(paymentCells)} AS cells FROM payments p
      WHERE ${ofTenant("p", tenant)} AND p.status = 'settled' AND ${isReceived(sql)}
        AND ${within("p.settled_at", "p.id::text", period, after)}
      ORDER BY p.settled_at, p.id::text LIMIT ${limit}`,
    refunds: (tenant: Tenant, period: Period, after: PageEnd | undefined, limit: number) => sql`
      SELECT r.proven_at AS at, r.id::text AS key, ${text(refundCells)} AS cells
      FROM refunds r LEFT JOIN payments p ON p.id = r.payment_id
      WHERE ${ofTenant("r", tenant)} AND r.status = 'proven' AND r.dropped_at IS NULL
        AND ${within("r.proven_at", "r.id::text", period, after)}
      ORDER BY r.proven_at, r.id::text LIMIT ${limit}`,
    transfers: (tenant: Tenant, period: Period, after: PageEnd | undefined, limit: number) => sql`
      SELECT at, key, cells FROM (
        (SELECT t.block_time AS at, ${text(incomingKey)} AS key, ${text(incomingCells)} AS cells
          FROM incoming_transfers t LEFT JOIN payments p ON p.id = t.payment_id
          WHERE ${ofTenant("t", tenant)} AND t.dropped_at IS NULL
            AND ${within("t.block_time", incomingKey, period, after)}
          ORDER BY t.block_time, ${text(incomingKey)} LIMIT ${limit})
        UNION ALL
        (SELECT t.block_time, ${text(outgoingKey)}, ${text(outgoingCells)}
          FROM outgoing_transfers t ${text(joinRefundClaim)} LEFT JOIN refunds r ON r.id = c.refund_id
          WHERE ${ofTenant("t", tenant)} AND t.dropped_at IS NULL
            AND ${within("t.block_time", outgoingKey, period, after)}
          ORDER BY t.block_time, ${text(outgoingKey)} LIMIT ${limit})
      ) moved ORDER BY at, key LIMIT ${limit}`
  }

  return {
    page: Effect.fn("BooksRepo.page")(function* (
      kind: ExportKind,
      tenant: Tenant,
      period: Period,
      after: PageEnd | undefined,
      limit: number
    ) {
      return yield* decodeRows(yield* pages[kind](tenant, period, after, limit))
    }, Effect.orDie),

    addresses: Effect.fn("BooksRepo.addresses")(function* ({ env, merchantId }: Tenant) {
      return yield* decodeBookAddresses(
        yield* sql`
          -- A block has the time of its beginning, and is read seconds later.
          SELECT address, watched_since - interval '2 seconds' AS since FROM merchant_receivers
          WHERE merchant_id = ${merchantId} AND env = ${env}`
      )
    }, Effect.orDie),

    others: Effect.fn("BooksRepo.others")(function* (tenant: Tenant, { end, start }: Period) {
      const rows = yield* decodeRows(
        yield* sql`
          SELECT at, key, cells FROM (
            (SELECT t.block_time AS at, ${text(incomingKey)} AS key, ${text(incomingCells)} AS cells
              FROM incoming_transfers t LEFT JOIN payments p ON p.id = t.payment_id
              WHERE ${ofTenant("t", tenant)} AND t.dropped_at IS NULL AND t.payment_id IS NULL
                AND t.block_time >= ${start} AND t.block_time < ${end}
              ORDER BY t.block_time LIMIT ${listedOthers + 1})
            UNION ALL
            (SELECT t.block_time, ${text(outgoingKey)}, ${text(outgoingCells)}
              FROM outgoing_transfers t ${text(joinRefundClaim)} LEFT JOIN refunds r ON r.id = c.refund_id
              WHERE ${ofTenant("t", tenant)} AND t.dropped_at IS NULL AND c.refund_id IS NULL
                AND t.block_time >= ${start} AND t.block_time < ${end}
              ORDER BY t.block_time LIMIT ${listedOthers + 1})
          ) moved ORDER BY at, key LIMIT ${listedOthers + 1}`
      )
      return { rows: rows.slice(0, listedOthers), hasMore: rows.length > listedOthers }
    }, Effect.orDie),

    timeZone: Effect.fn("BooksRepo.timeZone")(function* (merchantId: MerchantId) {
      const [row] = yield* decodeZones(yield* sql`SELECT time_zone FROM merchants WHERE id = ${merchantId}`)
      return row !== undefined && isTimeZone(row.time_zone) ? row.time_zone : "UTC"
    }, Effect.orDie),
    changeTimeZone: Effect.fn("BooksRepo.changeTimeZone")(function* (
      merchantId: MerchantId,
      timeZone: string
    ) {
      yield* sql`UPDATE merchants SET time_zone = ${timeZone} WHERE id = ${merchantId}`
    }, Effect.orDie),

    readUntil: Effect.fn("BooksRepo.readUntil")(function* (tenant: Tenant) {
      const [row] = yield* Schema.decodeUnknownEffect(
        Schema.Array(Schema.Struct({ block_number: Schema.BigInt, block_time: Schema.Date }))
      )(
        yield* sql`
          SELECT block_number, block_time FROM chain_cursors WHERE chain_id = ${networks[tenant.env].chainId}`
      )
      return Option.map(Option.fromUndefinedOr(row), (cursor) => ({
        block: cursor.block_number,
        at: cursor.block_time
      }))
    }, Effect.orDie),

    keptSince: Effect.fn("BooksRepo.keptSince")(function* (tenant: Tenant) {
      const [{ since }] = yield* decodeSince(
        yield* sql`
          SELECT min(watched_since) AS since FROM merchant_receivers
          WHERE merchant_id = ${tenant.merchantId} AND env = ${tenant.env}`
      )
      return since
    }, Effect.orDie),

    balances: Effect.fn("BooksRepo.balances")(function* (
      tenant: Tenant,
      addresses: ReadonlyArray<Address>,
      at: Date
    ) {
      const rows = yield* decodeBalances(
        yield* sql`
          SELECT address, block_number, balance::text AS balance FROM receiver_balances
          WHERE env = ${tenant.env} AND address = ANY(${addresses.map(toBytes)}::bytea[]) AND at = ${at}`
      )
      return new Map(rows.map((row): [Address, bigint] => [row.address, row.balance]))
    }, Effect.orDie),
    storeBalance: Effect.fn("BooksRepo.storeBalance")(function* (
      tenant: Tenant,
      address: Address,
      at: Date,
      read: { readonly block: bigint; readonly balance: bigint }
    ) {
      yield* sql`
        INSERT INTO receiver_balances (env, address, at, block_number, balance)
        VALUES (${tenant.env}, ${toBytes(address)}, ${at}, ${read.block.toString()}::bigint,
          ${read.balance.toString()}::numeric)
        ON CONFLICT DO NOTHING`
    }, Effect.orDie)
  }
}

export class BooksRepo extends Context.Service<
  BooksRepo,
  {
    /** The next rows of a period, in order of time. */
    readonly page: (
      kind: ExportKind,
      tenant: Tenant,
      period: Period,
      after: PageEnd | undefined,
      limit: number
    ) => Effect.Effect<ReadonlyArray<BookRow>>
    /** Transfers to and from the receivers, grouped by what explains them. */
    readonly sums: (tenant: Tenant, period: Period) => Effect.Effect<BookSums>
    /** The merchant's addresses, current and former. */
    readonly addresses: (tenant: Tenant) => Effect.Effect<ReadonlyArray<BookAddress>>
    /**
     * Transfers to these addresses of the merchant less those from them, since each was recorded. Includes transfers
     * in another merchant's books, by a former owner or a payment that names the address.
     */
    readonly moved: (
      tenant: Tenant,
      addresses: ReadonlyArray<BookAddress>,
      period: Period,
      until: ReadUntil
    ) => Effect.Effect<bigint>
    /** Transfers that neither a payment nor a refund explains, oldest first, and whether there are more. */
    readonly others: (
      tenant: Tenant,
      period: Period
    ) => Effect.Effect<{ readonly rows: ReadonlyArray<BookRow>; readonly hasMore: boolean }>
    readonly timeZone: (merchantId: MerchantId) => Effect.Effect<string>
    readonly changeTimeZone: (merchantId: MerchantId, timeZone: string) => Effect.Effect<void>
    /** The block up to which transfers are in the books, with its time. */
    readonly readUntil: (tenant: Tenant) => Effect.Effect<Option.Option<ReadUntil>>
    /** The time since which transfers to and from the merchant's receivers are recorded. */
    readonly keptSince: (tenant: Tenant) => Effect.Effect<Date | null>
    /** Balances of addresses at an instant, as far as they have been read. */
    readonly balances: (
      tenant: Tenant,
      addresses: ReadonlyArray<Address>,
      at: Date
    ) => Effect.Effect<Map<Address, bigint>>
    readonly storeBalance: (
      tenant: Tenant,
      address: Address,
      at: Date,
      read: { readonly block: bigint; readonly balance: bigint }
    ) => Effect.Effect<void>
  }
>()("quittance/payments/BooksRepo") {
  static readonly layer: Layer.Layer<BooksRepo, never, SqlClient.SqlClient> = Layer.effect(
    BooksRepo,
    Effect.gen(function* () {
      const context = yield* Effect.context<SqlClient.SqlClient>()
      const reads = yield* LongReads
      const pool = make(Context.get(context, SqlClient.SqlClient))
      const long = <A>(
        { merchantId }: Tenant,
        read: (repo: typeof pool) => Effect.Effect<A>
      ): Effect.Effect<A> =>
        reads.run(merchantId, (sql) => read(make(sql))).pipe(Effect.provideContext(context))
      return {
        ...pool,
        ...(yield* makeTransferSums),
        others: (tenant, period) => long(tenant, (repo) => repo.others(tenant, period))
      }
    })
  )
}
