// The contract of the payment links' page.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { IncomingTransferExplained, LiveModeGated, PaymentLinkNotFound } from "../../../domain/Errors.ts"
import { Uuid } from "../../../domain/Merchant.ts"
import { PaymentId } from "../../../domain/Payment.ts"
import { everyRole, handlers } from "../../../domain/roleSets.ts"
import { LinkId, NewLink, PaymentLink } from "../../../payments/links/Api.ts"
import { allow } from "../../../platform/http/Access.ts"
import { errorResponse } from "../../../platform/http/Envelope.ts"
import { memberGroup } from "../memberGroup.ts"
import { memberParams } from "../Session.ts"

export const LinksPage = Schema.Struct({
  hasMore: Schema.Boolean,
  links: Schema.Array(
    Schema.Struct({
      ...PaymentLink.fields,
      counterUrl: Schema.String.annotate({ description: "The counter that this link runs." })
    })
  )
})
export type LinksPage = typeof LinksPage.Encoded
export type LinkView = LinksPage["links"][number]

export class LinkPagesApi extends memberGroup("linkPages")(
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("list", "/links", {
      query: { startingAfter: Schema.optionalKey(LinkId) },
      success: Schema.toEncoded(LinksPage)
    })
  ),
  allow(
    { by: "member", roles: handlers },
    HttpApiEndpoint.post("create", "/links", {
      payload: Schema.Struct({
        ...NewLink.fields,
        /** An incoming transfer that is too little: there is one open link for its rest, whoever asks. */
        restOf: Schema.optionalKey(Uuid),
        /** The payment that it fell short of: once that is paid, nobody is asked for the rest. */
        restFor: Schema.optionalKey(PaymentId)
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
  ),
  allow(
    { by: "member", roles: handlers },
    HttpApiEndpoint.post("close", "/links/:linkId/close", {
      params: { ...memberParams, linkId: Schema.String.check(Schema.isMaxLength(64)) },
      success: HttpApiSchema.NoContent,
      error: [errorResponse(PaymentLinkNotFound)]
    })
  )
) {}
