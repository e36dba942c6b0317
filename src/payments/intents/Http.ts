// Payment intents over HTTP.

import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../app/Api.ts"
import { invalidField } from "../../domain/Errors.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { CurrentPrincipal } from "../../platform/http/ApiKeyAuth.ts"
import { jsonResponse } from "../../platform/http/jsonResponse.ts"
import { groupWithServices } from "../../platform/http/withServices.ts"
import { PaymentIntents } from "./PaymentIntents.ts"

/** docs/contract.md 4.1: plain http is for development, on localhost. */
const plainHttp = () =>
  invalidField("body.intentUrl", "Must be an https URL; http on localhost is for development only.")

export const layer = HttpApiBuilder.group(
  Api,
  "paymentIntents",
  Effect.fnUntraced(function* (handlers) {
    const intents = yield* PaymentIntents
    const { environment } = yield* AppConfig
    const production = environment === "production"

    return handlers.handle("create", ({ payload }) => {
      if (production && /^http:/i.test(payload.intentUrl)) return Effect.fail(plainHttp())
      return CurrentPrincipal.pipe(
        Effect.flatMap((principal) => intents.create(principal, payload)),
        // Already in its wire form; encoding it by schema again would double the cost of the request.
        Effect.map((created) => jsonResponse(created, 201))
      )
    })
  })
).pipe(groupWithServices(PaymentIntents, AppConfig))
