// Refunds in the dashboard, over HTTP.

import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { Tenant } from "../../../domain/Merchant.ts"
import { refundHandlers } from "../../../payments/refunds/Http.ts"
import type { Refund } from "../../../payments/refunds/RefundRepo/RefundStore.ts"
import { Refunds } from "../../../payments/refunds/Refunds.ts"
import { refundView } from "../../../payments/refunds/refundView.ts"
import { DashboardApi } from "../Api.ts"
import { memberCaller } from "../memberGroup.ts"
import { CurrentMember } from "../Session.ts"

/** True if the chain still shows the refunded transfer. */
const isReceived = ({ balance }: Refunds["Service"], tenant: Tenant, { paymentId, transferId }: Refund) => {
  const refunded = paymentId !== null ? { paymentId } : transferId !== null ? { transferId } : undefined
  return refunded === undefined
    ? Effect.succeed(false)
    : Effect.map(balance(tenant, refunded), ({ paid }) => paid > 0n)
}

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "refundPages",
  Effect.fnUntraced(function* (handlers) {
    const refunds = yield* Refunds
    const { cancel, create, report } = yield* refundHandlers(memberCaller)
    return handlers.handleAll({
      create,
      retrieve: Effect.fnUntraced(function* ({ params }) {
        const { tenant } = yield* CurrentMember
        const refund = yield* refunds.find(tenant, params.id)
        return { refund: refundView(refund), received: yield* isReceived(refunds, tenant, refund) }
      }),
      report,
      cancel
    })
  })
)
