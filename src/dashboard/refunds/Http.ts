// Refunds in the dashboard, over HTTP.
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Refunds } from "../../refunds/Refunds.ts"
import { refundView } from "../../refunds/refundView.ts"
import { requestedRefund } from "../../refunds/requestedRefund.ts"
import { DashboardApi } from "../Api.ts"
import { CurrentMember } from "../Session.ts"

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "refundPages",
  Effect.fnUntraced(function* (handlers) {
    const refunds = yield* Refunds
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        const { tenant, user } = yield* CurrentMember
        const made = yield* refunds.create(tenant, yield* requestedRefund(payload, user.email))
        const status = made.created ? 201 : 200
        return HttpServerResponse.jsonUnsafe({ refund: refundView(made.refund) }, { status })
      }),
      retrieve: Effect.fnUntraced(function* ({ params }) {
        const { tenant } = yield* CurrentMember
        return { refund: refundView(yield* refunds.find(tenant, params.refundId)) }
      }),
      report: Effect.fnUntraced(function* ({ params, payload }) {
        const { tenant } = yield* CurrentMember
        return { refund: refundView(yield* refunds.report(tenant, params.refundId, payload.transactionId)) }
      }),
      cancel: Effect.fnUntraced(function* ({ params }) {
        const { tenant } = yield* CurrentMember
        return { refund: refundView(yield* refunds.cancel(tenant, params.refundId)) }
      })
    })
  })
)
