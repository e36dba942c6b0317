// The contract of the books' page.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { InvalidRequest } from "../../../domain/Errors.ts"
import { StoredTimeZone } from "../../../domain/Period.ts"
import { everyRole, ownerRoles } from "../../../domain/roleSets.ts"
import { bookEndpoints, PeriodQuery, StatementView } from "../../../payments/books/Api.ts"
import { allow } from "../../../platform/http/Access.ts"
import { errorResponse } from "../../../platform/http/Envelope.ts"
import { forMembers, memberGroup } from "../memberGroup.ts"

export const BooksPage = Schema.Struct({
  /** The merchant's time zone, in which days begin. */
  timeZone: Schema.String,
  /** The current day in that time zone. */
  today: Schema.String,
  explorerUrl: Schema.NullOr(Schema.String),
  merchant: Schema.String,
  statement: StatementView
})
export type BooksPage = typeof BooksPage.Encoded

const { from, to } = PeriodQuery
const { export: exported, statement } = bookEndpoints(forMembers)

export class BookPagesApi extends memberGroup("bookPages")(
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("page", "/books", {
      /** Default: this month. */
      query: { from: Schema.optionalKey(from), to: Schema.optionalKey(to) },
      success: Schema.toEncoded(BooksPage),
      error: [errorResponse(InvalidRequest)]
    })
  ),
  exported,
  statement,
  allow(
    { by: "member", roles: ownerRoles },
    HttpApiEndpoint.put("changeTimeZone", "/books/time-zone", {
      payload: Schema.Struct({ timeZone: StoredTimeZone }),
      success: HttpApiSchema.NoContent,
      error: [errorResponse(InvalidRequest)]
    })
  )
) {}
