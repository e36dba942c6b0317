// The contract of the webhooks' pages: the endpoint, its deliveries, their attempts.
import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { NotFound, WebhookEndpointNotFound } from "../../../domain/Errors.ts"
import { Uuid } from "../../../domain/Merchant.ts"
import { everyRole, integrationRoles } from "../../../domain/roleSets.ts"
import { AttemptFailure, DeliveryStatus, EventType } from "../../../domain/Webhook.ts"
import { eventEndpoints } from "../../../payments/events/Api.ts"
import { allow } from "../../../platform/http/Access.ts"
import { errorResponse } from "../../../platform/http/Envelope.ts"
import { EndpointView, EndpointWithSecret, webhookEndpoints } from "../../../webhooks/Api.ts"
import { forMembers, memberGroup } from "../memberGroup.ts"
import { memberParams } from "../Session.ts"

const NullableText = Schema.NullOr(Schema.String)

export const AttemptSummary = Schema.Struct({
  number: Schema.Int,
  /** True if a person requested it. */
  manual: Schema.Boolean,
  startedAt: Schema.String,
  durationMs: Schema.NullOr(Schema.Int),
  responseStatus: Schema.NullOr(Schema.Int),
  failure: Schema.NullOr(AttemptFailure)
})
export type AttemptSummary = typeof AttemptSummary.Encoded

const deliveryFields = {
  id: Uuid,
  type: EventType,
  status: DeliveryStatus,
  paymentId: Schema.NullOr(Uuid),
  refCode: Schema.NullOr(Schema.String),
  createdAt: Schema.String,
  /** The time of the next attempt. */
  dueAt: NullableText
}

export const DeliverySummary = Schema.Struct({ ...deliveryFields, attempts: Schema.Array(AttemptSummary) })
export type DeliverySummary = typeof DeliverySummary.Encoded

export const WebhooksPage = Schema.Struct({
  endpoint: Schema.NullOr(EndpointView),
  deliveries: Schema.Array(DeliverySummary),
  hasMore: Schema.Boolean,
  /** Settled payments that were sent to no endpoint, up to 1,000. */
  unsent: Schema.Int,
  /** Seconds before each retry of a failed delivery. */
  retryDelays: Schema.Array(Schema.Number)
})
export type WebhooksPage = typeof WebhooksPage.Encoded

export const DeliveryPage = Schema.Struct({
  delivery: Schema.Struct({
    ...deliveryFields,
    /** The bytes that every attempt sends, as text. */
    body: Schema.String,
    attempts: Schema.Array(
      Schema.Struct({
        ...AttemptSummary.fields,
        /** Request line and headers as sent; absent if nothing was sent, or before these were stored. */
        requestHead: NullableText,
        /** The start of the response. */
        responseBody: NullableText
      })
    )
  })
})
export type DeliveryPage = typeof DeliveryPage.Encoded

const { resend } = eventEndpoints(forMembers)
const { create, delete: remove, retrieve, test, update } = webhookEndpoints(forMembers)

export class WebhookPagesApi extends memberGroup("webhookPages")(
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("list", "/webhooks", {
      query: {
        status: Schema.optionalKey(DeliveryStatus),
        startingAfter: Schema.optionalKey(Uuid)
      },
      success: Schema.toEncoded(WebhooksPage)
    })
  ),
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("delivery", "/deliveries/:deliveryId", {
      params: { ...memberParams, deliveryId: Uuid },
      success: Schema.toEncoded(DeliveryPage),
      error: [errorResponse(NotFound)]
    })
  ),
  allow(
    { by: "member", roles: integrationRoles },
    HttpApiEndpoint.post("replayUnsent", "/webhooks/unsent", {
      success: Schema.toEncoded(Schema.Struct({ count: Schema.Int }))
    })
  ),
  resend,
  retrieve,
  create,
  update,
  remove,
  test,
  allow(
    { by: "member", roles: integrationRoles },
    HttpApiEndpoint.post("regenerateSecret", "/webhook-endpoint/secret", {
      success: Schema.toEncoded(EndpointWithSecret),
      error: [errorResponse(WebhookEndpointNotFound)]
    })
  )
) {}
