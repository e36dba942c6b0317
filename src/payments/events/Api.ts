// The contract of events (docs/contract.md 6): what was delivered, or would have been, for shops that poll.
import { Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { DeliveryPending, EventNotFound, RateLimited, WebhookEndpointNotFound } from "../../domain/Errors.ts"
import { everyRole, handlers } from "../../domain/roleSets.ts"
import { Timestamp } from "../../domain/Timestamp.ts"
import { DeliveryStatus, WebhookBody } from "../../domain/Webhook.ts"
import { allow, endpointGroup } from "../../platform/http/Access.ts"
import { ApiKeyAuth } from "../../platform/http/ApiKeyAuth.ts"
import { errorResponse } from "../../platform/http/Envelope.ts"
import { forKeys, type Mount } from "../../platform/http/Mount.ts"
import { BodyRules } from "../../platform/http/RequestRules.ts"
import { DeliveryView } from "../../webhooks/Api.ts"
import { PageLimit, PaymentView } from "../Api.ts"

/** An event, and what it is about. */
export const EventView = Schema.Struct({
  event: WebhookBody.annotate({ description: "As it is delivered, field by field." }),
  payment: Schema.NullOr(PaymentView).annotate({ description: "Null for a `test` event." }),
  delivery: DeliveryStatus.annotate({
    description:
      "What became of its delivery so far; `cancelled` where no webhook endpoint was there to deliver it to."
  }),
  createdAt: Timestamp
}).annotate({ identifier: "Event" })

export const EventList = Schema.Struct({
  events: Schema.Array(EventView),
  hasMore: Schema.Boolean.annotate({ description: "Whether later events follow." })
})

/** A UUID in any letter case. */
const EventId = Schema.String.check(
  Schema.isPattern(/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/u, { message: "a UUID" })
).annotate({ description: "An event's `id`.", examples: ["5f0c3a52-9d1e-8b47-a3c6-20f1d4e8b975"] })

export const eventEndpoints = <Params extends Schema.Struct.Fields>({ access, params }: Mount<Params>) => ({
  list: allow(
    access({ roles: everyRole }),
    HttpApiEndpoint.get("list", "/events", {
      query: {
        limit: Schema.optionalKey(PageLimit),
        after: Schema.optionalKey(
          EventId.annotate({ description: "The last event that you have handled; the first page if absent." })
        )
      },
      success: EventList
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List events",
        description:
          "Every event of the merchant and the key's environment, in an order that never changes: later events come after all that was read before. Poll with `after`, or read all of them again after a loss. An event is listed whatever became of its delivery."
      })
    )
  ),
  retrieve: allow(
    access({ roles: everyRole }),
    HttpApiEndpoint.get("retrieve", "/events/:id", {
      params: { ...params, id: EventId },
      success: EventView,
      error: [errorResponse(EventNotFound)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Retrieve an event",
        description: "The event with its payment: which order a webhook is about."
      })
    )
  ),
  resend: allow(
    access({ manage: true, roles: handlers }),
    HttpApiEndpoint.post("resend", "/events/:id/resend", {
      params: { ...params, id: EventId },
      success: Schema.Struct({ delivery: DeliveryView }),
      error: [
        errorResponse(EventNotFound),
        errorResponse(WebhookEndpointNotFound),
        errorResponse(DeliveryPending),
        errorResponse(RateLimited)
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Resend an event",
        description:
          "One more delivery to the webhook endpoint of today, with the same id and bytes; answers after its attempt. 10 a minute, test sends included."
      })
    )
  )
})

const { list, retrieve, resend } = eventEndpoints(forKeys)

export class EventsApi extends endpointGroup("events")(list, retrieve, resend)
  .middleware(BodyRules)
  .middleware(ApiKeyAuth)
  .annotateMerge(
    OpenApi.annotations({ title: "Events", description: "What webhooks tell, to be read at any time." })
  ) {}
