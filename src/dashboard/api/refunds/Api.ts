// The contract of refunds in the dashboard.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import {
  IncomingTransferExplained,
  IncomingTransferNotFound,
  InvalidRequest,
  LiveModeGated,
  PaymentNotFound,
  PaymentNotSettled,
  RefundEnded,
  RefundExceedsPaid,
  RefundNotFound,
  RefundNotProven
} from "../../../domain/Errors.ts"
import { Uuid } from "../../../domain/Merchant.ts"
import { everyRole, supporters } from "../../../domain/roleSets.ts"
import { NewRefund, RefundView, ReportedRefund } from "../../../payments/refunds/Api.ts"
import { allow } from "../../../platform/http/Access.ts"
import { errorResponse } from "../../../platform/http/Envelope.ts"
import { memberGroup } from "../memberGroup.ts"
import { memberParams } from "../Session.ts"

/** The newest refunds of a payment or of an incoming transfer, oldest first. */
export const RefundsPart = Schema.Struct({
  refunds: Schema.Array(RefundView),
  /** Whether there are older ones, which only the API lists. */
  hasMore: Schema.Boolean,
  /** What may still be refunded, in decimal USD; `0.00` where nothing is left or nothing was paid. */
  left: Schema.String,
  /** Whom a refund goes to by itself; null where nothing was paid. */
  payer: Schema.NullOr(Schema.String),
  /**
   * From which address it is sent back: the one that it came to, or another of the merchant's where that one has become
   * another merchant's; null where none is left.
   */
  from: Schema.NullOr(Schema.String)
})
export type RefundsPart = typeof RefundsPart.Encoded

const params = { ...memberParams, refundId: Uuid }
const Answer = Schema.toEncoded(Schema.Struct({ refund: RefundView }))

export const RefundPage = Schema.Struct({
  refund: RefundView,
  /** Whether the chain still shows what it gives back. */
  received: Schema.Boolean
})
export type RefundPage = typeof RefundPage.Encoded

export class RefundPagesApi extends memberGroup("refundPages")(
  allow(
    { by: "member", roles: supporters },
    HttpApiEndpoint.post("create", "/refunds", {
      payload: NewRefund,
      success: [Answer.pipe(HttpApiSchema.status(201)), Answer],
      error: [
        errorResponse(InvalidRequest),
        errorResponse(PaymentNotFound),
        errorResponse(PaymentNotSettled),
        errorResponse(IncomingTransferNotFound),
        errorResponse(IncomingTransferExplained),
        errorResponse(RefundExceedsPaid),
        errorResponse(RefundNotProven),
        errorResponse(LiveModeGated)
      ]
    })
  ),
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("retrieve", "/refunds/:refundId", {
      params,
      success: Schema.toEncoded(RefundPage),
      error: [errorResponse(RefundNotFound)]
    })
  ),
  allow(
    { by: "member", roles: supporters },
    HttpApiEndpoint.post("report", "/refunds/:refundId/transaction", {
      params,
      payload: ReportedRefund,
      success: Answer,
      error: [errorResponse(RefundNotFound), errorResponse(RefundEnded), errorResponse(RefundNotProven)]
    })
  ),
  allow(
    { by: "member", roles: supporters },
    HttpApiEndpoint.post("cancel", "/refunds/:refundId/cancel", {
      params,
      success: Answer,
      error: [errorResponse(RefundNotFound), errorResponse(RefundEnded)]
    })
  )
) {}
