// Sums per day of the transfers to and from a merchant's receivers.
import { Effect, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { AddressBytes, toBytes } from "../../chain/ChainBytes.ts"
import { Address } from "../../domain/Chain.ts"
import type { Tenant } from "../../domain/Merchant.ts"
import { type DayBounds, daysOf, type Period, todayIn } from "../../domain/Period.ts"
import { LongReads } from "../../platform/database/LongReads.ts"
import { daysFrom, makeDaySums } from "./DaySumsSql.ts"
import { incomingKind, joinRefundClaim } from "./transferKindsSql.ts"

export interface Sum {
  /** Atomic USDC. */
  readonly sum: bigint
  readonly count: number
}
/** Incoming: of payments, unexplained, handled by a person. Outgoing: refunds, others. */
export interface BookSums {
  readonly payments: Sum
  readonly unexplained: Sum
  readonly handled: Sum
  readonly refunds: Sum
  readonly other: Sum
}

/** An address of the merchant, and the time since which the books contain its transfers. */
export interface BookAddress {
  readonly address: Address
  readonly since: Date
}

/** The last block whose transfers are in the books, and its time. */
export interface ReadUntil {
  readonly block: bigint
  readonly at: Date
}

const Side = Schema.Literals(["payment", "unexplained", "handled", "refunds", "other"])
const isOutgoing = (side: typeof Side.Type) => side === "refunds" || side === "other"
const DayMoves = Schema.Array(
  Schema.Struct({ side: Side, address: Address, sum: Schema.BigIntFromString, count: Schema.Int })
)
const decodeMoved = Schema.decodeUnknownEffect(
  Schema.Tuple([Schema.Struct({ moved: Schema.BigIntFromString })])
)
const decodeSpan = Schema.decodeUnknownEffect(
  Schema.Tuple([Schema.Struct({ first: Schema.NullOr(Schema.Date), last: Schema.NullOr(Schema.Date) })])
)
const decodeAddresses = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ address: AddressBytes })))

const counting = (sql: SqlClient.SqlClient, { env, merchantId }: Tenant, days: ReadonlyArray<DayBounds>) => {
  const within = sql`t.merchant_id = ${merchantId} AND t.env = ${env} AND t.dropped_at IS NULL
    AND t.block_time >= d.start_at AND t.block_time < d.end_at`
  return sql`
    SELECT d.start_at, d.end_at, moves.figures FROM ${daysFrom(sql, days)}
    CROSS JOIN LATERAL (
      SELECT coalesce(jsonb_agg(jsonb_build_object('side', side, 'address', '0x' || encode(address, 'hex'),
        'sum', sum::text, 'count', count) ORDER BY side, address), '[]') AS figures
      FROM (
        SELECT ${sql.literal(incomingKind)} AS side, t.receiver AS address, sum(t.amount) AS sum, count(*)::int AS count
        FROM incoming_transfers t WHERE ${within} GROUP BY 1, 2
        UNION ALL
        SELECT CASE WHEN c.refund_id IS NULL THEN 'other' ELSE 'refunds' END, t.payer, sum(t.amount), count(*)::int
        FROM outgoing_transfers t ${sql.literal(joinRefundClaim)} WHERE ${within} GROUP BY 1, 2
      ) sides
    ) moves`
}

/**
 * Transfers to and from these addresses of the merchant, each since the books contain it, up to a block, summed row by
 * row. Blocks of one second have the same time, so only the number shows which come later.
 */
const movedOf = (sql: SqlClient.SqlClient, { env, merchantId }: Tenant, until: bigint) => {
  const movedAt = (
    owner: Statement.Fragment,
    addresses: ReadonlyArray<BookAddress>,
    { end, start }: DayBounds
  ) => {
    const within = sql`${owner} AND t.env = ${env} AND t.dropped_at IS NULL
      AND t.block_time >= ${start} AND t.block_time < ${end} AND t.block_time >= own.since AND t.block_number <= ${until.toString()}::bigint`
    const own = sql`
      JOIN unnest(${addresses.map(({ address }) => toBytes(address))}::bytea[],
        ${addresses.map(({ since }) => since)}::timestamptz[]) AS own (address, since)`
    return Effect.map(
      Effect.flatMap(
        sql`
          SELECT coalesce(sum(amount), 0)::text AS moved FROM (
            SELECT t.amount FROM incoming_transfers t ${own} ON own.address = t.receiver WHERE ${within}
            UNION ALL
            SELECT -t.amount FROM outgoing_transfers t ${own} ON own.address = t.payer WHERE ${within}) moved`,
        decodeMoved
      ),
      ([{ moved }]) => moved
    ).pipe(Effect.orDie)
  }
  return {
    own: (addresses: ReadonlyArray<BookAddress>, within: DayBounds) =>
      movedAt(sql`t.merchant_id = ${merchantId}`, addresses, within),
    /** Transfers in the period from before an address became this merchant's; they are in its former owners' books. */
    others: Effect.fnUntraced(function* (addresses: ReadonlyArray<BookAddress>, within: DayBounds) {
      const came = yield* decodeAddresses(
        yield* sql`
          SELECT address FROM merchant_receivers
          WHERE env = ${env} AND merchant_id = ${merchantId} AND since > watched_since`
      )
      const theirs = addresses.filter((receiver) => came.some(({ address }) => address === receiver.address))
      if (theirs.length === 0) return 0n
      const others = sql`t.merchant_id = ANY (ARRAY(SELECT id FROM merchants WHERE id <> ${merchantId}))`
      return yield* movedAt(others, theirs, within)
    }, Effect.orDie)
  }
}

export const makeTransferSums = Effect.gen(function* () {
  const context = yield* Effect.context<SqlClient.SqlClient>()
  const sql = yield* SqlClient.SqlClient
  const reads = yield* LongReads
  const sumsOf = yield* makeDaySums({ kind: "transfers", figures: DayMoves, counting })

  /** The days of a period between its first and its last transfer, because a period may span millennia. */
  const daysWithTransfers = Effect.fnUntraced(function* ({ env, merchantId }: Tenant, period: Period) {
    const ofTenant = sql`merchant_id = ${merchantId} AND env = ${env}`
    const [{ first, last }] = yield* decodeSpan(
      yield* sql`
        SELECT least((SELECT min(block_time) FROM incoming_transfers WHERE ${ofTenant}),
            (SELECT min(block_time) FROM outgoing_transfers WHERE ${ofTenant})) AS first,
          greatest((SELECT max(block_time) FROM incoming_transfers WHERE ${ofTenant}),
            (SELECT max(block_time) FROM outgoing_transfers WHERE ${ofTenant})) AS last`
    )
    if (first === null || last === null) return []
    const { timeZone } = period
    const [, from = period.from] = [period.from, todayIn(first, timeZone).today].toSorted()
    const [to = period.to] = [period.to, todayIn(last, timeZone).today].toSorted()
    return daysOf({ from, to, timeZone })
  }, Effect.orDie)

  const sums = Effect.fn("TransferSumsSql.sums")(function* (tenant: Tenant, period: Period) {
    const days = yield* sumsOf(tenant, yield* daysWithTransfers(tenant, period))
    const sumOf = (side: typeof Side.Type): Sum =>
      days
        .flatMap(({ figures }) => figures)
        .filter((figure) => figure.side === side)
        .reduce((sum, figure) => ({ sum: sum.sum + figure.sum, count: sum.count + figure.count }), {
          sum: 0n,
          count: 0
        })
    return {
      payments: sumOf("payment"),
      unexplained: sumOf("unexplained"),
      handled: sumOf("handled"),
      refunds: sumOf("refunds"),
      other: sumOf("other")
    } satisfies BookSums
  })

  /** Whole days from their sums. A day that an address or the last block divides is summed from its rows. */
  const moved = Effect.fn("TransferSumsSql.moved")(function* (
    tenant: Tenant,
    addresses: ReadonlyArray<BookAddress>,
    period: Period,
    until: ReadUntil
  ) {
    const days = (yield* daysWithTransfers(tenant, period)).filter(({ start }) => start <= until.at)
    const whole = yield* sumsOf(
      tenant,
      days.filter(({ end }) => end <= until.at)
    )
    const rows = <A>(read: (of: ReturnType<typeof movedOf>) => Effect.Effect<A>) =>
      reads
        .run(tenant.merchantId, (sql) => read(movedOf(sql, tenant, until.block)))
        .pipe(Effect.provideContext(context))
    let moved = yield* rows((of) => of.others(addresses, period))
    const since = new Map(addresses.map((receiver) => [receiver.address, receiver.since]))
    for (const day of whole) {
      for (const { address, side, sum } of day.figures)
        if ((since.get(address) ?? day.end) <= day.start) moved += isOutgoing(side) ? -sum : sum
      const divided = addresses.filter((receiver) => receiver.since > day.start && receiver.since < day.end)
      if (divided.length > 0) moved += yield* rows((of) => of.own(divided, day))
    }
    const last = days.at(whole.length)
    if (last !== undefined) moved += yield* rows((of) => of.own(addresses, last))
    return moved
  })

  return { sums, moved }
})
