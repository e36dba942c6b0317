// Payment intents over HTTP.
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../Api.ts"
import { CurrentPrincipal } from "../http/Authorization.ts"
import { PaymentIntents } from "./PaymentIntents.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "paymentIntents",
  Effect.fnUntraced(function* (handlers) {
    const intents = yield* PaymentIntents
    return handlers.handle("create", ({ payload }) =>
      Effect.flatMap(CurrentPrincipal, (principal) =>
        // Already in its wire form; encoding it by schema again would double the cost of the request.
        Effect.map(intents.create(principal, payload), (created) =>
          HttpServerResponse.jsonUnsafe(created, { status: 201 })
        )
      )
    )
  })
)
