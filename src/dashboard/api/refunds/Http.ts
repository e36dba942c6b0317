// Refunds in the dashboard, over HTTP.

import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { Tenant } from "../../../domain/Merchant.ts"
import type { Refund } from "../../../payments/refunds/RefundRepo/RefundStore.ts"
import { Refunds } from "../../../payments/refunds/Refunds.ts"
import { refundView } from "../../../payments/refunds/refundView.ts"
import { requestedRefund } from "../../../payments/refunds/requestedRefund.ts"
import { jsonAnswer } from "../../../platform/http/jsonAnswer.ts"
import { DashboardApi } from "../Api.ts"
import { CurrentMember } from "../Session.ts"

/** Whether the chain still shows what the refund gives back. */
const isReceived = ({ balance }: Refunds["Service"], tenant: Tenant, { paymentId, transferId }: Refund) => {
  const of = paymentId !== null ? { paymentId } : transferId !== null ? { transferId } : undefined
  return of === undefined ? Effect.succeed(false) : Effect.map(balance(tenant, of), ({ paid }) => paid > 0n)
}

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
        return jsonAnswer({ refund: refundView(made.refund) }, status)
      }),
      retrieve: Effect.fnUntraced(function* ({ params }) {
        const { tenant } = yield* CurrentMember
        const refund = yield* refunds.find(tenant, params.refundId)
        return { refund: refundView(refund), received: yield* isReceived(refunds, tenant, refund) }
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
