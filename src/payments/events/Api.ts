// The contract of events (docs/contract.md 6), for shops that poll: each event, whether or not an endpoint received
// it.
import { Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { DeliveryPending, EventNotFound, RateLimited, WebhookEndpointNotFound } from "../../domain/Errors.ts"
import { dailyWorkRoles, everyRole } from "../../domain/roleSets.ts"
import { Timestamp } from "../../domain/Timestamp.ts"
import { DeliveryStatus, WebhookBody } from "../../domain/Webhook.ts"
import { allow, endpointGroup } from "../../platform/http/Access.ts"
import { ApiKeyAuth } from "../../platform/http/ApiKeyAuth.ts"
import { errorResponse } from "../../platform/http/Envelope.ts"
import { forKeys, type Mount } from "../../platform/http/Mount.ts"
import { BodyRules } from "../../platform/http/RequestRules.ts"
import { DeliveryView } from "../../webhooks/Api.ts"
import { PageLimit } from "../Api.ts"
import { PaymentView } from "../PaymentView.ts"

/** An event, with its payment. */
export const EventView = Schema.Struct({
  event: WebhookBody.annotate({ description: "The delivered event." }),
  payment: Schema.NullOr(PaymentView).annotate({ description: "Null for a `test` event." }),
  delivery: DeliveryStatus.annotate({
    description: "The status of its delivery; `cancelled` if no webhook endpoint was registered."
  }),
  createdAt: Timestamp
}).annotate({ identifier: "Event" })

export const EventList = Schema.Struct({
  events: Schema.Array(EventView),
  hasMore: Schema.Boolean.annotate({ description: "True if later events exist." })
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
          EventId.annotate({
            description:
              "The id of the last event that you handled; by default the feed starts at its beginning."
          })
        )
      },
      success: EventList
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List events",
        description:
          "All events of the merchant and the key's environment, oldest first. The order never changes: new events come after all events read before. Poll with `after`, and read from the beginning after a loss of data. The feed also lists events whose delivery failed."
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
        description: "The event with its payment, which identifies the order of a webhook."
      })
    )
  ),
  resend: allow(
    access({ manage: true, roles: dailyWorkRoles }),
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
          "Delivers the event again to the current webhook endpoint, with the same id and body. The response follows the attempt. At most 10 a minute, including test sends."
      })
    )
  )
})

const { list, retrieve, resend } = eventEndpoints(forKeys)

export class EventsApi extends endpointGroup("events")(list, retrieve, resend)
  .middleware(BodyRules)
  .middleware(ApiKeyAuth)
  .annotateMerge(
    OpenApi.annotations({
      title: "Events",
      description: "The events that webhooks deliver, readable at any time."
    })
  ) {}
