// The SQL of the books: pages of what a period holds, in the order of time, and its sums.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { AddressBytes, toBytes } from "../../chain/ChainBytes.ts"
import type { Address } from "../../domain/Chain.ts"
import type { MerchantId, Tenant } from "../../domain/Merchant.ts"
import { networks } from "../../domain/networks.ts"
import { type Period, TimeZone } from "../../domain/Period.ts"
import { isReceived } from "../isReceivedSql.ts"

export type ExportKind = "payments" | "refunds" | "transfers"

/** A row's columns as texts; where the next page begins. */
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

const Sum = Schema.Struct({ sum: Schema.BigIntFromString, count: Schema.Int })
const Sums = Schema.Struct({ payments: Sum, unexplained: Sum, handled: Sum, refunds: Sum, other: Sum })
export type BookSums = typeof Sums.Type
const decodeSums = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ side: Schema.String, sum: Schema.BigIntFromString, count: Schema.Int }))
)
const decodeBalances = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({ address: AddressBytes, block_number: Schema.BigInt, balance: Schema.BigIntFromString })
  )
)
const decodeZones = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ time_zone: Schema.String })))
/** An earlier release kept some in which no day begins. */
const isTimeZone = Schema.is(TimeZone)
const decodeMoved = Schema.decodeUnknownEffect(
  Schema.Tuple([Schema.Struct({ moved: Schema.BigIntFromString })])
)
const decodeAddresses = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ address: AddressBytes })))
const decodeKept = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ address: AddressBytes, since: Schema.Date }))
)
const decodeSince = Schema.decodeUnknownEffect(
  Schema.Tuple([Schema.Struct({ since: Schema.NullOr(Schema.Date) })])
)

/** An address of the merchant, and since when what moves there is in the books. */
export interface KeptAddress {
  readonly address: Address
  readonly since: Date
}

/** Shown of what neither a payment nor a refund explains. */
const listedOthers = 200

const hex = (column: string) => `'0x' || encode(${column}, 'hex')`

const paymentCells = `json_build_object('id', p.id, 'reference', p.ref_code, 'order', p.intent_url,
  'amount', p.amount::text, 'payer', ${hex("p.payer_address")}, 'receiver', ${hex("p.receiver")},
  'transaction', ${hex("p.transaction_id")}, 'payerType', p.payer_type,
  'openedAt', (extract(epoch FROM p.created_at) * 1000)::bigint::text,
  'at', (extract(epoch FROM p.settled_at) * 1000)::bigint::text,
  'refunded', coalesce((SELECT sum(r.amount) FROM refunds r
    WHERE r.payment_id = p.id AND r.status = 'proven' AND r.dropped_at IS NULL), 0)::text)`

const refundCells = `json_build_object('id', r.id, 'payment', r.payment_id, 'reference', p.ref_code,
  'incomingTransfer', r.transfer_id, 'amount', r.amount::text, 'recipient', ${hex("r.recipient")},
  'sender', ${hex("r.sender")}, 'transaction', ${hex("r.transaction_id")}, 'reason', r.reason,
  'by', r.created_by, 'createdAt', (extract(epoch FROM r.created_at) * 1000)::bigint::text,
  'at', (extract(epoch FROM r.proven_at) * 1000)::bigint::text)`

/** What a transfer is in the books. */
const incomingKind = `CASE WHEN t.payment_id IS NOT NULL THEN 'payment' WHEN t.handled_at IS NOT NULL
  AND t.attached_to IS NULL THEN 'handled' ELSE 'unexplained' END`
const transferCells = (direction: "in" | "out", kind: string, more: string) =>
  `json_build_object('direction', '${direction}', 'kind', ${kind}, 'amount', t.amount::text,
  'from', ${hex("t.payer")}, 'to', ${hex("t.receiver")}, 'transaction', ${hex("t.transaction_id")},
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

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const text = sql.literal
  const ofTenant = (alias: string, { env, merchantId }: Tenant) =>
    sql`${text(alias)}.merchant_id = ${merchantId} AND ${text(alias)}.env = ${env}`
  const claimOfOutgoing = sql`
    LEFT JOIN claimed_transfers c ON c.chain_id = t.chain_id AND c.transaction_id = t.transaction_id
      AND c.payer = t.payer AND c.receiver = t.receiver AND c.amount = t.amount AND c.ordinal = t.ordinal
      AND c.refund_id IS NOT NULL`

  /** Since when both directions of an address are written down. */
  const keptFrom = sql`
    greatest(watched_since, (SELECT created_at FROM effect_sql_migrations WHERE migration_id = 14))`

  /** From `after` on: the column alone bounds the index, the key tells rows of one instant apart. */
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
          FROM outgoing_transfers t ${claimOfOutgoing} LEFT JOIN refunds r ON r.id = c.refund_id
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

    sums: Effect.fn("BooksRepo.sums")(function* (tenant: Tenant, start: Date, end: Date) {
      const rows = yield* decodeSums(
        yield* sql`
          SELECT ${text(incomingKind)} AS side, sum(t.amount)::text AS sum, count(*)::int AS count
          FROM incoming_transfers t
          WHERE ${ofTenant("t", tenant)} AND t.dropped_at IS NULL
            AND t.block_time >= ${start} AND t.block_time < ${end}
          GROUP BY 1
          UNION ALL
          SELECT CASE WHEN c.refund_id IS NULL THEN 'other' ELSE 'refunds' END, sum(t.amount)::text, count(*)::int
          FROM outgoing_transfers t ${claimOfOutgoing}
          WHERE ${ofTenant("t", tenant)} AND t.dropped_at IS NULL
            AND t.block_time >= ${start} AND t.block_time < ${end}
          GROUP BY 1`
      )
      const of = (side: string) => rows.find((row) => row.side === side) ?? { sum: 0n, count: 0 }
      const sums: BookSums = {
        payments: of("payment"),
        unexplained: of("unexplained"),
        handled: of("handled"),
        refunds: of("refunds"),
        other: of("other")
      }
      return sums
    }, Effect.orDie),

    kept: Effect.fn("BooksRepo.kept")(function* ({ env, merchantId }: Tenant) {
      return yield* decodeKept(
        yield* sql`
          -- A block's time is that of its beginning, and it is read seconds later.
          SELECT address, ${keptFrom} - interval '2 seconds' AS since FROM merchant_receivers
          WHERE merchant_id = ${merchantId} AND env = ${env}`
      )
    }, Effect.orDie),

    moved: Effect.fn("BooksRepo.moved")(function* (
      tenant: Tenant,
      addresses: ReadonlyArray<KeptAddress>,
      start: Date,
      end: Date
    ) {
      const { env, merchantId } = tenant
      const came = yield* decodeAddresses(
        yield* sql`
          SELECT address FROM merchant_receivers
          WHERE env = ${env} AND merchant_id = ${merchantId} AND since > watched_since`
      )
      const movedAt = (of: Statement.Fragment, at: ReadonlyArray<KeptAddress>) => {
        const within = sql`${of} AND t.dropped_at IS NULL AND t.block_time >= ${start} AND t.block_time < ${end}
          AND t.block_time >= own.since`
        const own = sql`
          JOIN unnest(${at.map(({ address }) => toBytes(address))}::bytea[],
            ${at.map(({ since }) => since)}::timestamptz[]) AS own (address, since)`
        return sql`
          SELECT t.amount FROM incoming_transfers t ${own} ON own.address = t.receiver WHERE ${within}
          UNION ALL
          SELECT -t.amount FROM outgoing_transfers t ${own} ON own.address = t.payer WHERE ${within}`
      }
      // Of all other merchants, by the period: what an address brought while it was theirs stays in their books.
      const others =
        came.length === 0
          ? sql``
          : sql`UNION ALL ${movedAt(
              sql`t.merchant_id = ANY (ARRAY(SELECT id FROM merchants WHERE id <> ${merchantId})) AND t.env = ${env}`,
              addresses.filter((one) => came.some(({ address }) => address === one.address))
            )}`
      const [{ moved }] = yield* decodeMoved(
        yield* sql`
          SELECT coalesce(sum(amount), 0)::text AS moved
          FROM (${movedAt(ofTenant("t", tenant), addresses)} ${others}) moved`
      )
      return moved
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
              FROM outgoing_transfers t ${claimOfOutgoing} LEFT JOIN refunds r ON r.id = c.refund_id
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
          SELECT min(${keptFrom}) AS since FROM merchant_receivers
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
    keepBalance: Effect.fn("BooksRepo.keepBalance")(function* (
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
})

export class BooksRepo extends Context.Service<
  BooksRepo,
  {
    /** The next rows of a period, in the order of time. */
    readonly page: (
      kind: ExportKind,
      tenant: Tenant,
      period: Period,
      after: PageEnd | undefined,
      limit: number
    ) => Effect.Effect<ReadonlyArray<BookRow>>
    /** What came to the receivers and left them, by what explains it. */
    readonly sums: (tenant: Tenant, start: Date, end: Date) => Effect.Effect<BookSums>
    /** The merchant's addresses, present and past. */
    readonly kept: (tenant: Tenant) => Effect.Effect<ReadonlyArray<KeptAddress>>
    /**
     * What came to these addresses of the merchant less what left them, each since it is kept: also what is in
     * another merchant's books, who had an address before, or whose payment names it.
     */
    readonly moved: (
      tenant: Tenant,
      addresses: ReadonlyArray<KeptAddress>,
      start: Date,
      end: Date
    ) => Effect.Effect<bigint>
    /** Transfers that neither a payment nor a refund explains, the oldest first, and whether there are more. */
    readonly others: (
      tenant: Tenant,
      period: Period
    ) => Effect.Effect<{ readonly rows: ReadonlyArray<BookRow>; readonly hasMore: boolean }>
    readonly timeZone: (merchantId: MerchantId) => Effect.Effect<string>
    readonly changeTimeZone: (merchantId: MerchantId, timeZone: string) => Effect.Effect<void>
    /** Up to which block of the chain, and its time, transfers are in the books. */
    readonly readUntil: (
      tenant: Tenant
    ) => Effect.Effect<Option.Option<{ readonly block: bigint; readonly at: Date }>>
    /** Since when what comes to the merchant's receivers, and leaves them, is written down. */
    readonly keptSince: (tenant: Tenant) => Effect.Effect<Date | null>
    /** What addresses held at an instant, as far as it was read. */
    readonly balances: (
      tenant: Tenant,
      addresses: ReadonlyArray<Address>,
      at: Date
    ) => Effect.Effect<Map<Address, bigint>>
    readonly keepBalance: (
      tenant: Tenant,
      address: Address,
      at: Date,
      read: { readonly block: bigint; readonly balance: bigint }
    ) => Effect.Effect<void>
  }
>()("quittance/payments/BooksRepo") {
  static readonly layer: Layer.Layer<BooksRepo, never, SqlClient.SqlClient> = Layer.effect(BooksRepo, make)
}
