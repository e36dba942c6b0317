// The contract of refunds in the dashboard.
import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { RefundNotFound } from "../../../domain/Errors.ts"
import { Uuid } from "../../../domain/Merchant.ts"
import { everyRole } from "../../../domain/roleSets.ts"
import { RefundView, refundEndpoints } from "../../../payments/refunds/Api.ts"
import { allow } from "../../../platform/http/Access.ts"
import { errorResponse } from "../../../platform/http/Envelope.ts"
import { forMembers, memberGroup } from "../memberGroup.ts"
import { memberParams } from "../Session.ts"

/** The newest refunds of a payment or of an incoming transfer, oldest first. */
export const RefundsPart = Schema.Struct({
  refunds: Schema.Array(RefundView),
  /** True if there are older ones, which only the API lists. */
  hasMore: Schema.Boolean,
  /** The refundable amount in decimal USD; `0.00` if nothing remains or nothing was paid. */
  left: Schema.String,
  /** The default recipient of a refund; null if nothing was paid. */
  payer: Schema.NullOr(Schema.String),
  /**
   * The address from which the refund is sent: the one that the money arrived at, or another address of the merchant
   * if that one has become another merchant's; null if there is none.
   */
  from: Schema.NullOr(Schema.String)
})
export type RefundsPart = typeof RefundsPart.Encoded

export const RefundPage = Schema.Struct({
  refund: RefundView,
  /** True if the chain still shows the refunded transfer. */
  received: Schema.Boolean
})
export type RefundPage = typeof RefundPage.Encoded

const { cancel, create, report } = refundEndpoints(forMembers)

export class RefundPagesApi extends memberGroup("refundPages")(
  create,
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("retrieve", "/refunds/:id", {
      params: { ...memberParams, id: Uuid },
      success: Schema.toEncoded(RefundPage),
      error: [errorResponse(RefundNotFound)]
    })
  ),
  report,
  cancel
) {}
