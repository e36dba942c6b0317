// The contract of webhook endpoint management (docs/contract.md 2.3 and 4.1).
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { Env } from "../domain/Chain.ts"
import {
  InvalidWebhookUrl,
  RateLimited,
  WebhookEndpointExists,
  WebhookEndpointNotFound
} from "../domain/Errors.ts"
import { Uuid } from "../domain/Merchant.ts"
import { everyRole, integrationRoles } from "../domain/roleSets.ts"
import { Timestamp } from "../domain/Timestamp.ts"
import { AttemptFailure, DeliveryStatus, EndpointHealth, EventType } from "../domain/Webhook.ts"
import { allow, endpointGroup } from "../platform/http/Access.ts"
import { ApiKeyAuth } from "../platform/http/ApiKeyAuth.ts"
import { errorResponse } from "../platform/http/Envelope.ts"
import { forKeys, type Mount } from "../platform/http/Mount.ts"
import { BodyRules } from "../platform/http/RequestRules.ts"

export const EndpointView = Schema.Struct({
  id: Uuid,
  url: Schema.String,
  env: Env,
  health: EndpointHealth.annotate({
    description: "`unverified`: no 2xx since the URL was set. `failing`: the last attempt failed."
  }),
  listening: Schema.Boolean.annotate({ description: "True if the URL responded to the latest attempt." }),
  secretLast4: Schema.String,
  lastDeliveredAt: Schema.NullOr(Timestamp),
  verifiedAt: Schema.NullOr(Timestamp),
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotate({ identifier: "WebhookEndpoint" })

export const DeliveryView = Schema.Struct({
  id: Uuid.annotate({ description: "The payload's `id`, the same in every attempt." }),
  type: EventType,
  status: DeliveryStatus,
  attempts: Schema.Array(
    Schema.Struct({
      number: Schema.Int,
      startedAt: Timestamp,
      durationMs: Schema.NullOr(Schema.Int),
      responseStatus: Schema.optionalKey(Schema.Int),
      failure: Schema.optionalKey(
        AttemptFailure.annotate({
          description: "The reason why the attempt failed; `status` is a response other than 2xx."
        })
      )
    })
  ),
  createdAt: Timestamp
}).annotate({ identifier: "WebhookDelivery" })

const Url = Schema.Struct({
  url: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(4096)).annotate({
    description: "A public https URL with a host name, at most 2048 characters.",
    examples: ["https://shop.example.com/webhooks/quittance"]
  })
})

/** The signing secret, shown only here. */
export const EndpointWithSecret = Schema.Struct({
  endpoint: EndpointView,
  secret: Schema.String.annotate({ description: "The signing secret, returned only here." })
})
export type EndpointWithSecret = typeof EndpointWithSecret.Encoded

const EndpointResponse = Schema.Struct({ endpoint: EndpointView })

export const webhookEndpoints = <Params extends Schema.Struct.Fields>({ access }: Mount<Params>) => ({
  retrieve: allow(
    access({ roles: everyRole }),
    HttpApiEndpoint.get("retrieve", "/webhook-endpoint", {
      success: Schema.Struct({ endpoint: Schema.NullOr(EndpointView) })
    }).annotateMerge(OpenApi.annotations({ summary: "Retrieve the webhook endpoint" }))
  ),
  create: allow(
    access({ manage: true, roles: integrationRoles }),
    HttpApiEndpoint.post("create", "/webhook-endpoint", {
      payload: Url,
      success: EndpointWithSecret.pipe(HttpApiSchema.status(201)),
      error: [errorResponse(InvalidWebhookUrl), errorResponse(WebhookEndpointExists)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Create the webhook endpoint",
        description: "Each environment has one endpoint. Only this response contains the signing secret."
      })
    )
  ),
  update: allow(
    access({ manage: true, roles: integrationRoles }),
    HttpApiEndpoint.patch("update", "/webhook-endpoint", {
      payload: Url,
      success: EndpointResponse,
      error: [errorResponse(InvalidWebhookUrl), errorResponse(WebhookEndpointNotFound)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Change the URL",
        description: "Resets `verifiedAt`. Pending deliveries go to the new URL."
      })
    )
  ),
  delete: allow(
    access({ manage: true, roles: integrationRoles }),
    HttpApiEndpoint.delete("delete", "/webhook-endpoint", {
      success: HttpApiSchema.NoContent,
      error: [errorResponse(WebhookEndpointNotFound)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Delete the webhook endpoint",
        description:
          "Cancels pending deliveries. If you register another endpoint within a day, it receives the cancelled deliveries."
      })
    )
  ),
  test: allow(
    access({ manage: true, roles: integrationRoles }),
    HttpApiEndpoint.post("test", "/webhook-endpoint/test", {
      success: Schema.Struct({ delivery: DeliveryView, endpoint: EndpointView }),
      error: [errorResponse(WebhookEndpointNotFound), errorResponse(RateLimited)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Send a test event",
        description:
          "Sends a signed `test` event. The response follows its first attempt. At most 10 a minute."
      })
    )
  )
})

const { retrieve, create, update, delete: remove, test } = webhookEndpoints(forKeys)

export class WebhookEndpointApi extends endpointGroup("webhookEndpoint")(
  retrieve,
  create,
  update,
  remove,
  test
)
  .middleware(BodyRules)
  .middleware(ApiKeyAuth)
  .annotateMerge(
    OpenApi.annotations({
      title: "Webhook endpoint",
      description: "The endpoint that receives settlement events."
    })
  ) {}
