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
import { developers, everyRole } from "../domain/roleSets.ts"
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
    description: "`unverified`: no 2xx since the url was set; `failing`: the last attempt failed."
  }),
  listening: Schema.Boolean.annotate({ description: "Whether the url answered the latest attempt at all." }),
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
          description: "Why the attempt was not accepted; `status` is an answer that is not 2xx."
        })
      )
    })
  ),
  createdAt: Timestamp
}).annotate({ identifier: "WebhookDelivery" })

const Url = Schema.Struct({
  url: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(4096)).annotate({
    description: "A public https address by name, at most 2048 characters.",
    examples: ["https://shop.example.com/webhooks/quittance"]
  })
})

/** The signing secret, shown this once. */
export const EndpointWithSecret = Schema.Struct({
  endpoint: EndpointView,
  secret: Schema.String.annotate({ description: "The signing secret, returned only here." })
})
export type EndpointWithSecret = typeof EndpointWithSecret.Encoded

const EndpointAnswer = Schema.Struct({ endpoint: EndpointView })

export const webhookEndpoints = <Params extends Schema.Struct.Fields>({ access }: Mount<Params>) => ({
  retrieve: allow(
    access({ roles: everyRole }),
    HttpApiEndpoint.get("retrieve", "/webhook-endpoint", {
      success: Schema.Struct({ endpoint: Schema.NullOr(EndpointView) })
    }).annotateMerge(OpenApi.annotations({ summary: "Retrieve the webhook endpoint" }))
  ),
  create: allow(
    access({ manage: true, roles: developers }),
    HttpApiEndpoint.post("create", "/webhook-endpoint", {
      payload: Url,
      success: EndpointWithSecret.pipe(HttpApiSchema.status(201)),
      error: [errorResponse(InvalidWebhookUrl), errorResponse(WebhookEndpointExists)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Create the webhook endpoint",
        description: "One endpoint for each environment. The signing secret is shown once."
      })
    )
  ),
  update: allow(
    access({ manage: true, roles: developers }),
    HttpApiEndpoint.patch("update", "/webhook-endpoint", {
      payload: Url,
      success: EndpointAnswer,
      error: [errorResponse(InvalidWebhookUrl), errorResponse(WebhookEndpointNotFound)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Change the url",
        description: "Resets `verifiedAt`; waiting deliveries go to the new url."
      })
    )
  ),
  delete: allow(
    access({ manage: true, roles: developers }),
    HttpApiEndpoint.delete("delete", "/webhook-endpoint", {
      success: HttpApiSchema.NoContent,
      error: [errorResponse(WebhookEndpointNotFound)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Delete the webhook endpoint",
        description: "Waiting deliveries are cancelled."
      })
    )
  ),
  test: allow(
    access({ manage: true, roles: developers }),
    HttpApiEndpoint.post("test", "/webhook-endpoint/test", {
      success: Schema.Struct({ delivery: DeliveryView, endpoint: EndpointView }),
      error: [errorResponse(WebhookEndpointNotFound), errorResponse(RateLimited)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Send a test event",
        description: "Sends a signed `test` event and answers after its first attempt. 10 a minute."
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
      description: "Where settlement events are sent."
    })
  ) {}
