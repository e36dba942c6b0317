// The books over HTTP.

import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../app/Api.ts"
import { invalidField } from "../../domain/Errors.ts"
import { jsonResponse } from "../../platform/http/jsonResponse.ts"
import { type Caller, type KeyParams, keyCaller, type RequestOf } from "../../platform/http/Mount.ts"
import type { bookEndpoints } from "./Api.ts"
import { Books } from "./Books.ts"
import { balancesView, exportResponse, requestedPeriod, statementView } from "./views.ts"

type Endpoints = ReturnType<typeof bookEndpoints<KeyParams>>

export const bookHandlers = Effect.fnUntraced(function* <R>(caller: Effect.Effect<Caller, never, R>) {
  const books = yield* Books
  return {
    export: Effect.fnUntraced(function* ({ params, query }: RequestOf<Endpoints["export"]>) {
      const { tenant } = yield* caller
      const period = yield* requestedPeriod(books, tenant.merchantId, query)
      const { decimal, format } = query
      if (format === "json" && decimal === "comma")
        return yield* invalidField(
          "query.decimal",
          "JSON has decimal points. Leave it out, or ask for `format=csv`."
        )
      return exportResponse(books, params.kind, tenant, period, format, decimal)
    }),
    statement: Effect.fnUntraced(function* ({ query }: RequestOf<Endpoints["statement"]>) {
      const { tenant } = yield* caller
      const period = yield* requestedPeriod(books, tenant.merchantId, query)
      const [statement, balances] = yield* Effect.all(
        [books.statement(tenant, period), books.balances(tenant, period)],
        { concurrency: 2 }
      )
      return jsonResponse({
        statement: statementView(statement, tenant.env),
        balances: balancesView(balances)
      })
    })
  }
})

export const layer = HttpApiBuilder.group(
  Api,
  "books",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleAll(yield* bookHandlers(keyCaller))
  })
)
