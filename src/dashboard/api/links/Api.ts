// The contract of the payment links' page.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { IncomingTransferExplained, LiveModeGated, PaymentLinkNotFound } from "../../../domain/Errors.ts"
import { Uuid } from "../../../domain/Merchant.ts"
import { PaymentId } from "../../../domain/Payment.ts"
import { dailyWorkRoles } from "../../../domain/roleSets.ts"
import { linkEndpoints, NewLink } from "../../../payments/links/Api.ts"
import { allow } from "../../../platform/http/Access.ts"
import { errorResponse } from "../../../platform/http/Envelope.ts"
import { forMembers, memberGroup } from "../memberGroup.ts"

const { close, create, list } = linkEndpoints(forMembers)

export class LinkPagesApi extends memberGroup("linkPages")(
  list,
  create,
  close,
  allow(
    { by: "member", roles: dailyWorkRoles },
    HttpApiEndpoint.post("createRemainderLink", "/payment-links/remainder", {
      payload: Schema.Struct({
        ...NewLink.fields,
        /**
         * An incoming transfer that is too small. It has only one open link for its outstanding amount, whichever
         * member requests it.
         */
        incomingTransferId: Uuid,
        /** The payment that the transfer fell short of. Once that is paid, no outstanding amount is requested. */
        paymentId: Schema.optionalKey(PaymentId)
      }),
      success: Schema.Struct({ url: Schema.String, amount: Schema.NullOr(Schema.String) }).pipe(
        HttpApiSchema.status(201)
      ),
      error: [
        errorResponse(LiveModeGated),
        errorResponse(PaymentLinkNotFound),
        errorResponse(IncomingTransferExplained)
      ]
    })
  )
) {}
