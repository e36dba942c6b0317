// Refunds over HTTP.

import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../app/Api.ts"
import { InvalidRequest } from "../../domain/Errors.ts"
import { CurrentPrincipal } from "../../platform/http/ApiKeyAuth.ts"
import { jsonAnswer } from "../../platform/http/jsonAnswer.ts"
import { Refunds } from "./Refunds.ts"
import { refundView } from "./refundView.ts"
import { requestedRefund } from "./requestedRefund.ts"

const defaultLimit = 20

export const layer = HttpApiBuilder.group(
  Api,
  "refunds",
  Effect.fnUntraced(function* (handlers) {
    const refunds = yield* Refunds
    const tenant = Effect.map(CurrentPrincipal, ({ env, merchant }) => ({ merchantId: merchant.id, env }))
    const answer = (refund: Parameters<typeof refundView>[0], status: 200 | 201 = 200) =>
      jsonAnswer({ refund: refundView(refund) }, status)

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        const made = yield* refunds.create(yield* tenant, yield* requestedRefund(payload, "API"))
        return answer(made.refund, made.created ? 201 : 200)
      }),
      list: Effect.fnUntraced(function* ({ query: { limit = defaultLimit, paymentId, startingAfter } }) {
        const found = yield* refunds.list(yield* tenant, {
          limit: limit + 1,
          startingAfter,
          ...(paymentId === undefined ? {} : { of: { paymentId } })
        })
        if (Option.isNone(found))
          return yield* new InvalidRequest({
            details: [
              {
                path: "query.startingAfter",
                message: "No refund with this id exists; pass the last id of the page before."
              }
            ]
          })
        return jsonAnswer({
          refunds: found.value.slice(0, limit).map(refundView),
          hasMore: found.value.length > limit
        })
      }),
      retrieve: Effect.fnUntraced(function* ({ params }) {
        return answer(yield* refunds.find(yield* tenant, params.id))
      }),
      report: Effect.fnUntraced(function* ({ params, payload }) {
        return answer(yield* refunds.report(yield* tenant, params.id, payload.transactionId))
      }),
      cancel: Effect.fnUntraced(function* ({ params }) {
        return answer(yield* refunds.cancel(yield* tenant, params.id))
      })
    })
  })
)
