// Webhook endpoint management over HTTP.
import { Effect, Option, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../app/Api.ts"
import type { Principal } from "../domain/Merchant.ts"
import type { Delivery, Endpoint } from "../domain/Webhook.ts"
import { CurrentPrincipal } from "../platform/http/ApiKeyAuth.ts"
import { narrowedGroup } from "../platform/http/narrowed.ts"
import { RateLimiter } from "../platform/limits/RateLimiter.ts"
import type { DeliveryView, EndpointView } from "./Api.ts"
import { WebhookEndpoints } from "./WebhookEndpoints.ts"

const iso = (date: Date | null) => date?.toISOString() ?? null

/** The endpoint view of docs/contract.md 2.3. */
export const endpointView = (endpoint: Endpoint): typeof EndpointView.Type => ({
  id: endpoint.id,
  url: endpoint.url,
  env: endpoint.env,
  health: endpoint.health,
  listening: endpoint.listening,
  secretLast4: endpoint.secretLastFour,
  lastDeliveredAt: iso(endpoint.lastDeliveredAt),
  verifiedAt: iso(endpoint.verifiedAt),
  createdAt: endpoint.createdAt.toISOString(),
  updatedAt: endpoint.updatedAt.toISOString()
})

export const deliveryView = (delivery: Delivery): typeof DeliveryView.Type => ({
  id: delivery.id,
  type: delivery.type,
  status: delivery.status,
  attempts: delivery.attempts.map(({ number, startedAt, durationMs, responseStatus, failure }) => ({
    number,
    startedAt: startedAt.toISOString(),
    durationMs,
    ...(responseStatus === null ? {} : { responseStatus }),
    ...(failure === null ? {} : { failure })
  })),
  createdAt: delivery.createdAt.toISOString()
})

const tenantOf = ({ merchant, env }: Principal) => ({ merchantId: merchant.id, env })

export const layer = HttpApiBuilder.group(
  Api,
  "webhookEndpoint",
  Effect.fnUntraced(function* (handlers) {
    const endpoints = yield* WebhookEndpoints
    const tenant = Effect.map(CurrentPrincipal, tenantOf)

    return handlers.handleAll({
      retrieve: Effect.fnUntraced(function* () {
        const found = yield* endpoints.find(yield* tenant)
        return { endpoint: Option.isSome(found) ? endpointView(found.value) : null }
      }),
      create: Effect.fnUntraced(function* ({ payload }) {
        const { endpoint, secret } = yield* endpoints.create(yield* tenant, payload.url)
        return { endpoint: endpointView(endpoint), secret: Redacted.value(secret) }
      }),
      update: Effect.fnUntraced(function* ({ payload }) {
        return { endpoint: endpointView(yield* endpoints.changeUrl(yield* tenant, payload.url)) }
      }),
      delete: Effect.fnUntraced(function* () {
        yield* endpoints.remove(yield* tenant)
      }),
      test: Effect.fnUntraced(function* () {
        const { delivery, endpoint } = yield* endpoints.sendTest(yield* tenant)
        return { delivery: deliveryView(delivery), endpoint: endpointView(endpoint) }
      })
    })
  })
).pipe(narrowedGroup(WebhookEndpoints, RateLimiter))
