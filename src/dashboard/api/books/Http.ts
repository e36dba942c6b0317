// The books' page over HTTP.
import { DateTime, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { todayIn } from "../../../domain/Period.ts"
import { Books } from "../../../payments/books/Books.ts"
import { bookHandlers } from "../../../payments/books/Http.ts"
import { requestedPeriod, statementView } from "../../../payments/books/views.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { DashboardApi } from "../Api.ts"
import { memberCaller } from "../memberGroup.ts"
import { CurrentMember } from "../Session.ts"
import type { BooksPage } from "./Api.ts"

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "bookPages",
  Effect.fnUntraced(function* (handlers) {
    const { explorerUrls } = yield* AppConfig
    const books = yield* Books

    return handlers.handleAll({
      ...(yield* bookHandlers(memberCaller)),
      page: Effect.fnUntraced(function* ({ query }) {
        const { merchant, tenant } = yield* CurrentMember
        const timeZone = yield* books.timeZone(merchant.id)
        const { first, today } = todayIn(yield* DateTime.nowAsDate, timeZone)
        const period = yield* requestedPeriod(books, merchant.id, {
          from: first,
          to: today,
          ...query,
          timeZone
        })
        const page: BooksPage = {
          timeZone,
          today,
          explorerUrl: explorerUrls[tenant.env],
          merchant: merchant.name,
          statement: statementView(yield* books.statement(tenant, period), tenant.env)
        }
        return page
      }),
      changeTimeZone: Effect.fnUntraced(function* ({ payload }) {
        const { merchant } = yield* CurrentMember
        yield* books.changeTimeZone(merchant.id, payload.timeZone)
      })
    })
  })
)
