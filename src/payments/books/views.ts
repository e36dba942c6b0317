// The books as the APIs return them.
import { Effect, Option } from "effect"
import { HttpServerResponse } from "effect/http"
import { parseAddress } from "../../chain/Address.ts"
import { type InvalidRequest, invalidField } from "../../domain/Errors.ts"
import type { Tenant } from "../../domain/Merchant.ts"
import { formatUsd } from "../../domain/Money.ts"
import type { Period } from "../../domain/Period.ts"
import type { BalancesView, BookTransfer, StatementView } from "./Api.ts"
import type { Books, ChainBalances, Statement } from "./Books.ts"
import type { BookRow, ExportKind } from "./BooksRepo.ts"
import type { DecimalMark, ExportFormat } from "./exportText.ts"
import type { BookSums } from "./TransferSumsSql.ts"

/** Negative amounts as well. */
const withSign = (atomic: bigint) => (atomic < 0n ? `-${formatUsd(-atomic)}` : formatUsd(atomic))

const changeOf = ({ handled, other, payments, refunds, unexplained }: BookSums) =>
  payments.sum + unexplained.sum + handled.sum - refunds.sum - other.sum

const kindOf = (kind: string | null | undefined): (typeof BookTransfer.Encoded)["kind"] =>
  kind === "unexplained" || kind === "handled" ? kind : "other"

const transferView = ({ at, cells }: BookRow): typeof BookTransfer.Encoded => {
  const address = (text: string | null | undefined) => parseAddress(text ?? "") ?? ""
  return {
    at: at.toISOString(),
    direction: cells["direction"] === "in" ? "in" : "out",
    kind: kindOf(cells["kind"]),
    amount: formatUsd(BigInt(cells["amount"] ?? "0")),
    from: address(cells["from"]),
    to: address(cells["to"]),
    transactionId: cells["transaction"] ?? "",
    note: cells["note"] ?? null
  }
}

export const statementView = (
  { denyListAt, keptSince, others, period, sums, until }: Statement,
  env: Tenant["env"]
): StatementView => {
  const sum = (side: BookSums["payments"]) => ({ amount: formatUsd(side.sum), count: side.count })
  return {
    from: period.from,
    to: period.to,
    timeZone: period.timeZone,
    env,
    currency: "USDC",
    payments: sum(sums.payments),
    unexplained: sum(sums.unexplained),
    handled: sum(sums.handled),
    refunds: sum(sums.refunds),
    other: sum(sums.other),
    change: withSign(changeOf(sums)),
    until: until?.toISOString() ?? null,
    keptSince: keptSince?.toISOString() ?? null,
    denyListAt: denyListAt?.toISOString() ?? null,
    transfers: others.rows.map(transferView),
    hasMore: others.hasMore
  }
}

export const balancesView = ({ closing, moved, opening }: ChainBalances): BalancesView => {
  const change = closing === null || opening === null ? null : closing - opening
  const text = (atomic: bigint | null) => (atomic === null ? null : withSign(atomic))
  return {
    opening: text(opening),
    closing: text(closing),
    change: text(change),
    difference: text(change === null ? null : change - moved)
  }
}

/** The period of a query. */
export const requestedPeriod = Effect.fnUntraced(function* (
  books: Books["Service"],
  merchantId: Tenant["merchantId"],
  query: { readonly from: string; readonly to: string; readonly timeZone?: string }
): Effect.fn.Return<Period, InvalidRequest> {
  const period = yield* books.period(merchantId, query)
  if (Option.isSome(period)) return period.value
  return yield* invalidField("query.to", "The last day must not be before the first.")
})

/** An export's file, streamed. */
export const exportResponse = (
  books: Books["Service"],
  kind: ExportKind,
  tenant: Tenant,
  period: Period,
  format: ExportFormat = "csv",
  decimal?: DecimalMark
) =>
  HttpServerResponse.stream(books.export(kind, tenant, period, format, decimal), {
    contentType: format === "csv" ? "text/csv; charset=utf-8" : "application/json",
    headers: {
      "content-disposition": `attachment; filename="${kind}-${tenant.env}-${period.from}-${period.to}.${format}"`
    }
  })
