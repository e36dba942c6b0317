// Webhook endpoint management over HTTP.
import { Effect, Option, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../Api.ts"
import { RateLimited } from "../domain/Errors.ts"
import type { Principal } from "../domain/Merchant.ts"
import type { Delivery, Endpoint } from "../domain/Webhook.ts"
import { CurrentPrincipal } from "../http/Authorization.ts"
import { RateLimiter } from "../http/RateLimiter.ts"
import type { DeliveryView, EndpointView } from "./Api.ts"
import { WebhookEndpoints } from "./WebhookEndpoints.ts"

const iso = (date: Date | null) => date?.toISOString() ?? null

/** The endpoint view of specification 2.3. */
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

/** Manual sends: 10 a minute for a merchant and environment. */
export const manualSends = { rate: 10, perSeconds: 60, burst: 10 }

export const layer = HttpApiBuilder.group(
  Api,
  "webhookEndpoint",
  Effect.fnUntraced(function* (handlers) {
    const endpoints = yield* WebhookEndpoints
    const limiter = yield* RateLimiter
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
        const of = yield* tenant
        const wait = yield* limiter.take(`manual-send ${of.merchantId} ${of.env}`, manualSends)
        if (wait > 0) return yield* new RateLimited({ retryAfter: wait })
        const { delivery, endpoint } = yield* endpoints.sendTest(of)
        return { delivery: deliveryView(delivery), endpoint: endpointView(endpoint) }
      })
    })
  })
)
