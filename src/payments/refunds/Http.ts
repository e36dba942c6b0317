// Refunds over HTTP.

import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../app/Api.ts"
import { invalidField } from "../../domain/Errors.ts"
import { jsonResponse } from "../../platform/http/jsonResponse.ts"
import { type Caller, type KeyParams, keyCaller, type RequestOf } from "../../platform/http/Mount.ts"
import { defaultPageLimit } from "../Api.ts"
import type { refundEndpoints } from "./Api.ts"
import { Refunds } from "./Refunds.ts"
import { refundView } from "./refundView.ts"
import { requestedRefund } from "./requestedRefund.ts"

type Endpoints = ReturnType<typeof refundEndpoints<KeyParams>>

export const refundHandlers = Effect.fnUntraced(function* <R>(caller: Effect.Effect<Caller, never, R>) {
  const refunds = yield* Refunds
  const tenant = Effect.map(caller, ({ tenant }) => tenant)
  const answer = (refund: Parameters<typeof refundView>[0], status: 200 | 201 = 200) =>
    jsonResponse({ refund: refundView(refund) }, status)

  return {
    create: Effect.fnUntraced(function* ({ payload }: RequestOf<Endpoints["create"]>) {
      const { name, tenant } = yield* caller
      const creation = yield* refunds.create(tenant, yield* requestedRefund(payload, name))
      return answer(creation.refund, creation.created ? 201 : 200)
    }),
    list: Effect.fnUntraced(function* ({ query }: RequestOf<Endpoints["list"]>) {
      const { limit = defaultPageLimit, paymentId, startingAfter } = query
      const page = yield* refunds.list(yield* tenant, {
        limit: limit + 1,
        startingAfter,
        ...(paymentId === undefined ? {} : { of: { paymentId } })
      })
      if (Option.isNone(page))
        return yield* invalidField(
          "query.startingAfter",
          "No refund with this id exists. Pass the last id of the previous page."
        )
      return jsonResponse({
        refunds: page.value.slice(0, limit).map(refundView),
        hasMore: page.value.length > limit
      })
    }),
    retrieve: Effect.fnUntraced(function* ({ params }: RequestOf<Endpoints["retrieve"]>) {
      return answer(yield* refunds.find(yield* tenant, params.id))
    }),
    report: Effect.fnUntraced(function* ({ params, payload }: RequestOf<Endpoints["report"]>) {
      return answer(yield* refunds.report(yield* tenant, params.id, payload.transactionId))
    }),
    cancel: Effect.fnUntraced(function* ({ params }: RequestOf<Endpoints["cancel"]>) {
      return answer(yield* refunds.cancel(yield* tenant, params.id))
    })
  }
})

export const layer = HttpApiBuilder.group(
  Api,
  "refunds",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleAll(yield* refundHandlers(keyCaller))
  })
)
