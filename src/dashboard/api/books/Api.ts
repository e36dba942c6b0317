// The contract of the books' page.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { InvalidRequest } from "../../../domain/Errors.ts"
import { KeptTimeZone } from "../../../domain/Period.ts"
import { everyRole, owners } from "../../../domain/roleSets.ts"
import {
  BalancesView,
  ExportBody,
  ExportKindParam,
  ExportQuery,
  PeriodQuery,
  StatementView
} from "../../../payments/books/Api.ts"
import { allow } from "../../../platform/http/Access.ts"
import { errorResponse } from "../../../platform/http/Envelope.ts"
import { memberGroup } from "../memberGroup.ts"
import { memberParams } from "../Session.ts"

export const BooksPage = Schema.Struct({
  /** The merchant's own; days begin there. */
  timeZone: Schema.String,
  /** There, now. */
  today: Schema.String,
  explorerUrl: Schema.NullOr(Schema.String),
  merchant: Schema.String,
  statement: StatementView
})
export type BooksPage = typeof BooksPage.Encoded

const { from, to } = PeriodQuery

export class BookPagesApi extends memberGroup("bookPages")(
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("statement", "/books", {
      /** This month when absent. */
      query: { from: Schema.optionalKey(from), to: Schema.optionalKey(to) },
      success: Schema.toEncoded(BooksPage),
      error: [errorResponse(InvalidRequest)]
    })
  ),
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("balances", "/books/balances", {
      query: { from, to },
      success: Schema.toEncoded(Schema.Struct({ balances: BalancesView })),
      error: [errorResponse(InvalidRequest)]
    })
  ),
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("export", "/exports/:kind", {
      params: { ...memberParams, kind: ExportKindParam },
      query: ExportQuery,
      success: ExportBody,
      error: [errorResponse(InvalidRequest)]
    })
  ),
  allow(
    { by: "member", roles: owners },
    HttpApiEndpoint.put("changeTimeZone", "/books/time-zone", {
      payload: Schema.Struct({ timeZone: KeptTimeZone }),
      success: HttpApiSchema.NoContent,
      error: [errorResponse(InvalidRequest)]
    })
  )
) {}
