// Webhook endpoint management over HTTP.
import { Effect, Option, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../app/Api.ts"
import type { Delivery, Endpoint } from "../domain/Webhook.ts"
import type { CurrentPrincipal } from "../platform/http/ApiKeyAuth.ts"
import { type Caller, type KeyParams, keyCaller, type RequestOf } from "../platform/http/Mount.ts"
import { groupWithServices } from "../platform/http/withServices.ts"
import { RateLimiter } from "../platform/limits/RateLimiter.ts"
import type { DeliveryView, EndpointView, EndpointWithSecret, webhookEndpoints } from "./Api.ts"
import { type CreatedEndpoint, WebhookEndpoints } from "./WebhookEndpoints.ts"

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

export const withSecret = ({ endpoint, secret }: CreatedEndpoint): EndpointWithSecret => ({
  endpoint: endpointView(endpoint),
  secret: Redacted.value(secret)
})

type Endpoints = ReturnType<typeof webhookEndpoints<KeyParams>>

/** Makes a change if the caller is still permitted. */
type Permitted<E, R> = <A, E1, R1>(change: Effect.Effect<A, E1, R1>) => Effect.Effect<A, E | E1, R | R1>

export const webhookHandlers = Effect.fnUntraced(function* <E, R>(
  caller: Effect.Effect<Caller, never, R>,
  permitted: Permitted<E, R>
) {
  const endpoints = yield* WebhookEndpoints
  const tenant = Effect.map(caller, ({ tenant }) => tenant)
  return {
    retrieve: Effect.fnUntraced(function* () {
      const endpoint = yield* endpoints.find(yield* tenant)
      return { endpoint: Option.isSome(endpoint) ? endpointView(endpoint.value) : null }
    }),
    create: Effect.fnUntraced(function* ({ payload }: RequestOf<Endpoints["create"]>) {
      return withSecret(yield* permitted(endpoints.create(yield* tenant, payload.url)))
    }),
    update: Effect.fnUntraced(function* ({ payload }: RequestOf<Endpoints["update"]>) {
      return { endpoint: endpointView(yield* permitted(endpoints.changeUrl(yield* tenant, payload.url))) }
    }),
    delete: Effect.fnUntraced(function* () {
      yield* permitted(endpoints.remove(yield* tenant))
    }),
    test: Effect.fnUntraced(function* () {
      const { delivery, endpoint } = yield* endpoints.sendTest(yield* tenant)
      return { delivery: deliveryView(delivery), endpoint: endpointView(endpoint) }
    })
  }
})

export const layer = HttpApiBuilder.group(
  Api,
  "webhookEndpoint",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleAll(yield* webhookHandlers<never, CurrentPrincipal>(keyCaller, (change) => change))
  })
).pipe(groupWithServices(WebhookEndpoints, RateLimiter))
