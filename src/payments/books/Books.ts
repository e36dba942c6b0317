// A merchant's books: exports that stream, and statements that are compared with the chain.
import { Context, DateTime, Effect, Layer, Option, Stream } from "effect"
import type { SqlClient } from "effect/sql"
import { ChainVerifier } from "../../chain/ChainVerifier.ts"
import { DenyList } from "../../chain/DenyList.ts"
import type { Address } from "../../domain/Chain.ts"
import type { Tenant } from "../../domain/Merchant.ts"
import { type Period, periodOf } from "../../domain/Period.ts"
import { type BookRow, BooksRepo, type ExportKind, type PageEnd } from "./BooksRepo.ts"
import { type DecimalMark, type ExportFormat, makeExportText } from "./exportText.ts"
import type { BookAddress, BookSums, ReadUntil } from "./TransferSumsSql.ts"

/** Rows per SQL statement. This bounds an export's memory, whatever its length. */
const pageRows = 1_000
/** A balance at a block of this age is stored, because no reorganisation reaches it. */
const finalAgeMillis = 3_600_000

export interface Statement {
  readonly period: Period
  readonly sums: BookSums
  readonly others: { readonly rows: ReadonlyArray<BookRow>; readonly hasMore: boolean }
  /** The time up to which the chain is in the books; null before the first block was read. */
  readonly until: Date | null
  /** The books contain no transfers before this time. */
  readonly keptSince: Date | null
  /** The date of the operator's deny list in force. */
  readonly denyListAt: Date | null
}

/**
 * The receivers' balances on the chain (null if too few nodes report them), and the books' total for these addresses
 * up to the same block, for all merchants.
 */
export interface ChainBalances {
  readonly moved: bigint
  readonly opening: bigint | null
  readonly closing: bigint | null
}

const make = Effect.gen(function* () {
  const repo = yield* BooksRepo
  const chain = yield* ChainVerifier
  const denyList = yield* DenyList
  const encoder = new TextEncoder()

  const rows = (kind: ExportKind, tenant: Tenant, period: Period) =>
    Stream.paginate(
      undefined as PageEnd | undefined,
      Effect.fnUntraced(function* (after: PageEnd | undefined) {
        const page = yield* repo.page(kind, tenant, period, after, pageRows)
        const last = page.at(-1)
        const isLast = page.length < pageRows || last === undefined
        return [[page], isLast ? Option.none<PageEnd>() : Option.some<PageEnd>(last)] as const
      })
    )

  /** The balance of these receivers of the merchant before `at`. */
  const balanceBefore = Effect.fnUntraced(function* (
    tenant: Tenant,
    receivers: ReadonlyArray<Address>,
    at: Date,
    until: ReadUntil
  ) {
    const balances = yield* repo.balances(tenant, receivers, at)
    const missing = receivers.filter((address) => !balances.has(address))
    if (missing.length > 0) {
      const block = at > until.at ? until.block : yield* chain.blockBefore(tenant.env, at, until.block)
      if (block === undefined) return null
      const now = yield* DateTime.nowAsDate
      for (const address of missing) {
        const balance = yield* chain.balanceAt(tenant.env, address, block)
        if (balance === undefined) return null
        balances.set(address, balance)
        if (at <= until.at && now.getTime() - at.getTime() > finalAgeMillis)
          yield* repo.storeBalance(tenant, address, at, { block, balance })
      }
    }
    return [...balances.values()].reduce((sum, balance) => sum + balance, 0n)
  })

  /**
   * The total balance before `at`, or when the books began, if that is later. Transfers of a wallet before it became a
   * receiver are in no books.
   */
  const openingOf = Effect.fnUntraced(function* (
    tenant: Tenant,
    addresses: ReadonlyArray<BookAddress>,
    { end, start }: Period,
    until: ReadUntil
  ) {
    let sum = 0n
    const from = ({ since }: BookAddress) =>
      Math.min(Math.max(start.getTime(), since.getTime()), end.getTime())
    for (const [at, group] of Map.groupBy(addresses, from)) {
      const receivers = group.map(({ address }) => address)
      const balance = yield* balanceBefore(tenant, receivers, new Date(at), until)
      if (balance === null) return null
      sum += balance
    }
    return sum
  })

  return Books.of({
    export: (kind, tenant, period, format, decimal) => {
      const { head, line, separator, tail } = makeExportText(
        kind,
        tenant.env,
        format,
        period.timeZone,
        decimal
      )
      let written = 0
      const body = rows(kind, tenant, period).pipe(
        Stream.map((page) => {
          const text = page.map(line).join(separator)
          const joined = written === 0 || text === "" ? text : `${separator}${text}`
          written += page.length
          return joined
        })
      )
      const end = Stream.suspend(() => Stream.make(tail(written)))
      return Stream.concat(Stream.concat(Stream.make(head), body), end).pipe(
        Stream.filter((text) => text !== ""),
        Stream.map((text) => encoder.encode(text))
      )
    },
    statement: Effect.fn("Books.statement")(function* (tenant, period) {
      const [sums, others, cursor, keptSince] = yield* Effect.all(
        [
          repo.sums(tenant, period),
          repo.others(tenant, period),
          repo.readUntil(tenant),
          repo.keptSince(tenant)
        ],
        { concurrency: 4 }
      )
      return {
        period,
        sums,
        others,
        until: Option.getOrNull(Option.map(cursor, ({ at }) => at)),
        keptSince,
        denyListAt: denyList.date()
      }
    }),
    balances: Effect.fn("Books.balances")(function* (tenant, period) {
      const { end } = period
      const cursor = yield* repo.readUntil(tenant)
      if (Option.isNone(cursor)) return { opening: null, closing: null, moved: 0n }
      const addresses = yield* repo.addresses(tenant)
      const receivers = addresses.map(({ address }) => address)
      const [opening, closing] = yield* Effect.all(
        [
          openingOf(tenant, addresses, period, cursor.value),
          balanceBefore(tenant, receivers, end, cursor.value)
        ],
        { concurrency: 2 }
      )
      return { opening, closing, moved: yield* repo.moved(tenant, addresses, period, cursor.value) }
    }),
    period: Effect.fn("Books.period")(function* (merchantId, { from, timeZone, to }) {
      return periodOf(from, to, timeZone ?? (yield* repo.timeZone(merchantId)))
    }),
    timeZone: repo.timeZone,
    changeTimeZone: repo.changeTimeZone
  })
})

export class Books extends Context.Service<
  Books,
  {
    /** In order of time, with bounded memory whatever its length. */
    readonly export: (
      kind: ExportKind,
      tenant: Tenant,
      period: Period,
      format: ExportFormat,
      decimal?: DecimalMark
    ) => Stream.Stream<Uint8Array>
    readonly statement: (tenant: Tenant, period: Period) => Effect.Effect<Statement>
    /** Reads balances that are not stored from the chain, which takes as long as its nodes. */
    readonly balances: (tenant: Tenant, period: Period) => Effect.Effect<ChainBalances>
    /** In the merchant's own time zone by default. None if the days are in the wrong order. */
    readonly period: (
      merchantId: Tenant["merchantId"],
      days: { readonly from: string; readonly to: string; readonly timeZone?: string }
    ) => Effect.Effect<Option.Option<Period>>
    readonly timeZone: BooksRepo["Service"]["timeZone"]
    readonly changeTimeZone: BooksRepo["Service"]["changeTimeZone"]
  }
>()("quittance/payments/Books") {
  static readonly layer: Layer.Layer<Books, never, ChainVerifier | SqlClient.SqlClient> = Layer.effect(
    Books,
    make
  ).pipe(Layer.provide(BooksRepo.layer))

  /** Without a database, the books are empty. */
  static readonly layerNone: Layer.Layer<Books> = Layer.sync(Books, () => {
    const zeroSum = { sum: 0n, count: 0 }
    const emptySums: BookSums = {
      payments: zeroSum,
      unexplained: zeroSum,
      handled: zeroSum,
      refunds: zeroSum,
      other: zeroSum
    }
    return Books.of({
      export: (kind, { env }, period, format, decimal) => {
        const { head, tail } = makeExportText(kind, env, format, period.timeZone, decimal)
        return Stream.make(new TextEncoder().encode(head + tail(0)))
      },
      statement: (_, period) =>
        Effect.succeed({
          period,
          sums: emptySums,
          others: { rows: [], hasMore: false },
          until: null,
          keptSince: null,
          denyListAt: null
        }),
      balances: () => Effect.succeed({ opening: null, closing: null, moved: 0n }),
      period: (_, { from, timeZone = "UTC", to }) => Effect.succeed(periodOf(from, to, timeZone)),
      timeZone: () => Effect.succeed("UTC"),
      changeTimeZone: () => Effect.void
    })
  })
}
