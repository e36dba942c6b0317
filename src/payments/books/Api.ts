// The contract of the books: exports that stream, and statements.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { Env } from "../../domain/Chain.ts"
import { InvalidRequest } from "../../domain/Errors.ts"
import { Day, TimeZone } from "../../domain/Period.ts"
import { everyRole } from "../../domain/roleSets.ts"
import { allow, endpointGroup } from "../../platform/http/Access.ts"
import { ApiKeyAuth } from "../../platform/http/ApiKeyAuth.ts"
import { errorResponse } from "../../platform/http/Envelope.ts"
import { forKeys, type Mount } from "../../platform/http/Mount.ts"
import { BodyRules } from "../../platform/http/RequestRules.ts"

/** The period of exports and statements. */
export const PeriodQuery = {
  from: Day.annotate({ description: "The first day.", examples: ["2026-01-01"] }),
  to: Day.annotate({ description: "The last day, inclusive.", examples: ["2026-01-31"] }),
  timeZone: Schema.optionalKey(
    TimeZone.annotate({ description: "The time zone of the days; by default the merchant's." })
  )
}

export const ExportKindParam = Schema.Literals(["payments", "refunds", "transfers"]).annotate({
  description:
    "`payments` settled in the period, `refunds` proven in it, or all `transfers` of the receiving addresses."
})

export const ExportQuery = {
  ...PeriodQuery,
  format: Schema.optionalKey(Schema.Literals(["csv", "json"]).annotate({ description: "Default `csv`." })),
  decimal: Schema.optionalKey(
    Schema.Literals(["point", "comma"]).annotate({
      description: "For CSV: `comma` writes `41,20`, and `;` between cells. Default `point`."
    })
  )
}

/** CSV, or JSON with one array. */
export const ExportBody = HttpApiSchema.StreamUint8Array({ contentType: ["text/csv", "application/json"] })

const Sum = Schema.Struct({
  amount: Schema.String.annotate({ description: "USDC, decimal.", examples: ["41.20"] }),
  count: Schema.Int.annotate({ description: "Transfers.", examples: [12] })
})
const Balance = Schema.NullOr(
  Schema.String.annotate({
    description: "USDC, decimal; null if too few nodes know the block.",
    examples: ["41.20"]
  })
)

export const BookTransfer = Schema.Struct({
  at: Schema.String.annotate({ examples: ["2026-01-31T12:00:00.000Z"] }),
  direction: Schema.Literals(["in", "out"]),
  kind: Schema.Literals(["unexplained", "handled", "other"]),
  amount: Schema.String.annotate({ examples: ["4.20"] }),
  from: Schema.String.annotate({ examples: ["0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"] }),
  to: Schema.String.annotate({ examples: ["0x70997970C51812dc3A010C7d01b50e0d17dc79C8"] }),
  transactionId: Schema.String.annotate({ examples: [`0x${"ab".repeat(32)}`] }),
  note: Schema.NullOr(Schema.String.annotate({ examples: ["Deposit returned"] }))
})

export const StatementView = Schema.Struct({
  from: Day,
  to: Day,
  timeZone: Schema.String.annotate({ examples: ["Europe/Berlin"] }),
  env: Env,
  currency: Schema.Literal("USDC"),
  payments: Sum.annotate({ description: "Transfers received that settled payments." }),
  unexplained: Sum.annotate({ description: "Transfers received that match no payment." }),
  handled: Sum.annotate({ description: "Transfers received that a person marked as handled." }),
  refunds: Sum.annotate({ description: "Sent as proven refunds." }),
  other: Sum.annotate({ description: "Sent otherwise." }),
  change: Schema.String.annotate({ description: "Received minus sent.", examples: ["37.00"] }),
  until: Schema.NullOr(Schema.String.annotate({ examples: ["2026-01-31T23:00:00.000Z"] })).annotate({
    description: "The time up to which the chain is in the books."
  }),
  keptSince: Schema.NullOr(Schema.String.annotate({ examples: ["2026-01-01T08:00:00.000Z"] })).annotate({
    description: "Earlier transfers are not in the books."
  }),
  denyListAt: Schema.NullOr(Schema.String.annotate({ examples: ["2026-01-15T09:00:00.000Z"] })).annotate({
    description: "The date of the operator's deny list, if any."
  }),
  transfers: Schema.Array(BookTransfer).annotate({
    description: "Transfers that neither a payment nor a refund explains, oldest first, at most 200."
  }),
  hasMore: Schema.Boolean
}).annotate({ identifier: "Statement" })
export type StatementView = typeof StatementView.Encoded

export const BalancesView = Schema.Struct({
  opening: Balance,
  closing: Balance,
  change: Balance,
  difference: Balance.annotate({
    description: "The chain's change minus the books' change of these addresses; 0.00 if they balance."
  })
}).annotate({ identifier: "StatementBalances" })
export type BalancesView = typeof BalancesView.Encoded

export const bookEndpoints = <Params extends Schema.Struct.Fields>({ access, params }: Mount<Params>) => ({
  export: allow(
    access({ roles: everyRole }),
    HttpApiEndpoint.get("export", "/exports/:kind", {
      params: { ...params, kind: ExportKindParam },
      query: ExportQuery,
      success: ExportBody,
      error: [errorResponse(InvalidRequest)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Export a period",
        description:
          "Streams CSV or JSON, oldest first. A complete CSV ends with a line of `end` and the number of rows, a complete JSON with `rows`."
      })
    )
  ),
  statement: allow(
    access({ roles: everyRole }),
    HttpApiEndpoint.get("statement", "/statement", {
      query: PeriodQuery,
      success: Schema.Struct({ statement: StatementView, balances: BalancesView }),
      error: [errorResponse(InvalidRequest)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Retrieve a statement",
        description:
          "All transfers to and from the receiving addresses in a period, reconciled with the chain's balances."
      })
    )
  )
})

const { export: exported, statement } = bookEndpoints(forKeys)

export class BooksApi extends endpointGroup("books")(exported, statement)
  .middleware(BodyRules)
  .middleware(ApiKeyAuth)
  .annotateMerge(OpenApi.annotations({ title: "Books", description: "Exports and statements by period." })) {}
