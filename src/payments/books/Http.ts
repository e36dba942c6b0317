// The books over HTTP.

import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../app/Api.ts"
import { CurrentPrincipal } from "../../platform/http/ApiKeyAuth.ts"
import { jsonAnswer } from "../../platform/http/jsonAnswer.ts"
import { Books } from "./Books.ts"
import { askedPeriod, balancesView, exportAnswer, statementView } from "./views.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "books",
  Effect.fnUntraced(function* (handlers) {
    const books = yield* Books
    const tenant = Effect.map(CurrentPrincipal, ({ env, merchant }) => ({ merchantId: merchant.id, env }))
    return handlers.handleAll({
      export: Effect.fnUntraced(function* ({ params, query }) {
        const of = yield* tenant
        return exportAnswer(
          books,
          params.kind,
          of,
          yield* askedPeriod(books, of.merchantId, query),
          query.format
        )
      }),
      statement: Effect.fnUntraced(function* ({ query }) {
        const of = yield* tenant
        const period = yield* askedPeriod(books, of.merchantId, query)
        const [statement, balances] = yield* Effect.all(
          [books.statement(of, period), books.balances(of, period)],
          { concurrency: 2 }
        )
        return jsonAnswer({
          statement: statementView(statement, of.env),
          balances: balancesView(balances)
        })
      })
    })
  })
)
