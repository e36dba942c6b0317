// Events over HTTP.

import { Effect, Option, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../app/Api.ts"
import { DeliveryPending, EventNotFound, invalidField, WebhookEndpointNotFound } from "../../domain/Errors.ts"
import type { PaymentSummary } from "../../domain/Payment.ts"
import { WebhookBody } from "../../domain/Webhook.ts"
import { jsonResponse } from "../../platform/http/jsonResponse.ts"
import { type Caller, type KeyParams, keyCaller, type RequestOf } from "../../platform/http/Mount.ts"
import { groupWithServices } from "../../platform/http/withServices.ts"
import { deliveryView } from "../../webhooks/Http.ts"
import { WebhookEndpoints } from "../../webhooks/WebhookEndpoints.ts"
import type { StoredEvent } from "../../webhooks/WebhookRepo/WebhookStore.ts"
import { WebhookRepo } from "../../webhooks/WebhookRepo.ts"
import { defaultPageLimit } from "../Api.ts"
import { paymentView } from "../Http.ts"
import { PaymentRepo } from "../PaymentRepo.ts"
import type { EventList, EventView, eventEndpoints } from "./Api.ts"

const decodeBody = Schema.decodeUnknownEffect(Schema.fromJsonString(WebhookBody))

const eventView = (event: StoredEvent, payment: PaymentSummary | undefined) =>
  Effect.map(
    Effect.orDie(decodeBody(new TextDecoder().decode(event.body))),
    (body): typeof EventView.Encoded => ({
      event: body,
      payment: payment === undefined ? null : paymentView(payment),
      delivery: event.status,
      createdAt: event.createdAt.toISOString()
    })
  )

type Endpoints = ReturnType<typeof eventEndpoints<KeyParams>>

export const eventHandlers = Effect.fnUntraced(function* <R>(caller: Effect.Effect<Caller, never, R>) {
  const webhooks = yield* WebhookRepo
  const payments = yield* PaymentRepo
  const endpoints = yield* WebhookEndpoints
  const tenant = Effect.map(caller, (principal) => principal.tenant)

  return {
    list: Effect.fnUntraced(function* ({ query }: RequestOf<Endpoints["list"]>) {
      const own = yield* tenant
      const page = yield* webhooks.listEvents(own, {
        limit: query.limit ?? defaultPageLimit,
        after: query.after?.toLowerCase()
      })
      if (Option.isNone(page)) {
        return yield* invalidField(
          "query.after",
          "No event with this id exists. Pass the last id of the previous page, or omit `after` to start at the beginning."
        )
      }
      const { events, hasMore } = page.value
      const ofEvents = yield* payments.findMany(
        own,
        events.flatMap((event) => event.paymentId ?? [])
      )
      const byId = new Map<string, PaymentSummary>(ofEvents.map((payment) => [payment.id, payment]))
      const views = yield* Effect.forEach(events, (event) =>
        eventView(event, byId.get(event.paymentId ?? ""))
      )
      return jsonResponse({ events: views, hasMore } satisfies typeof EventList.Encoded)
    }),
    retrieve: Effect.fnUntraced(function* ({ params }: RequestOf<Endpoints["retrieve"]>) {
      const own = yield* tenant
      const event = yield* webhooks.findEvent(own, params.id.toLowerCase())
      if (Option.isNone(event)) return yield* new EventNotFound()
      const { paymentId } = event.value
      const payment = paymentId === null ? Option.none() : yield* payments.find(own, paymentId)
      return jsonResponse(yield* eventView(event.value, Option.getOrUndefined(payment)))
    }),
    resend: Effect.fnUntraced(function* ({ params }: RequestOf<Endpoints["resend"]>) {
      const own = yield* tenant
      const id = params.id.toLowerCase()
      if (Option.isNone(yield* webhooks.findEvent(own, id))) return yield* new EventNotFound()
      if (Option.isNone(yield* endpoints.find(own))) return yield* new WebhookEndpointNotFound()
      const delivery = yield* endpoints.resend(own, id)
      if (Option.isNone(delivery)) return yield* new DeliveryPending()
      return { delivery: deliveryView(delivery.value) }
    })
  }
})

export const layer = HttpApiBuilder.group(
  Api,
  "events",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleAll(yield* eventHandlers(keyCaller))
  })
).pipe(groupWithServices(PaymentRepo, WebhookEndpoints, WebhookRepo))
