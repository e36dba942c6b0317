// Webhooks over HTTP: the endpoint, its deliveries with what was sent and answered.
import { Effect, Option, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { DeliveryPending, NotFound, WebhookEndpointNotFound } from "../../../domain/Errors.ts"
import { AuditLog } from "../../../merchants/audit/AuditLog.ts"
import { delaySeconds } from "../../../platform/workers/RetrySchedule.ts"
import { endpointView } from "../../../webhooks/Http.ts"
import { RetryPolicy } from "../../../webhooks/RetryPolicy.ts"
import { type CreatedEndpoint, WebhookEndpoints } from "../../../webhooks/WebhookEndpoints.ts"
import { DashboardApi } from "../Api.ts"
import { currentAsker } from "../currentAsker.ts"
import { CurrentMember } from "../Session.ts"
import { unknownObject } from "../unknownObject.ts"
import type { AttemptSummary, DeliveryPage, EndpointWithSecret, WebhooksPage } from "./Api.ts"
import { DeliveryPagesRepo, type DeliveryRow, type DetailRow } from "./DeliveryPagesRepo.ts"

const pageSize = 20
const text = new TextDecoder()

const iso = (date: Date | null) => date?.toISOString() ?? null

const attemptSummary = (attempt: DeliveryRow["attempts"][number]): AttemptSummary => ({
  number: attempt.number,
  manual: attempt.manual,
  startedAt: attempt.startedAt.toISOString(),
  durationMs: attempt.durationMs,
  responseStatus: attempt.responseStatus,
  failure: attempt.failure
})

const deliveryFields = (row: DeliveryRow | DetailRow) => ({
  id: row.id,
  type: row.type,
  status: row.status,
  paymentId: row.payment_id,
  refCode: row.ref_code,
  createdAt: row.created_at.toISOString(),
  dueAt: iso(row.due_at)
})

const withSecret = ({ endpoint, secret }: CreatedEndpoint): EndpointWithSecret => ({
  endpoint: endpointView(endpoint),
  secret: Redacted.value(secret)
})

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "webhookPages",
  Effect.fnUntraced(function* (handlers) {
    const endpoints = yield* WebhookEndpoints
    const deliveries = yield* DeliveryPagesRepo
    const audit = yield* AuditLog
    const retryDelays = yield* delaySeconds(yield* RetryPolicy)
    const tenant = Effect.map(CurrentMember, (member) => member.tenant)
    const permitted = Effect.fnUntraced(function* <A, E, R>(change: Effect.Effect<A, E, R>) {
      const { merchantId } = yield* tenant
      return yield* audit.permitted(merchantId, yield* currentAsker, change)
    })

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const of = yield* tenant
        const [endpoint, rows] = yield* Effect.all(
          [endpoints.find(of), deliveries.list(of, { ...query, limit: pageSize + 1 })],
          { concurrency: 2 }
        )
        const page: WebhooksPage = {
          endpoint: Option.getOrNull(Option.map(endpoint, endpointView)),
          deliveries: rows
            .slice(0, pageSize)
            .map((row) => ({ ...deliveryFields(row), attempts: row.attempts.map(attemptSummary) })),
          hasMore: rows.length > pageSize,
          retryDelays
        }
        return page
      }),
      delivery: Effect.fnUntraced(function* ({ params }) {
        const of = yield* tenant
        const found = yield* deliveries.find(of, params.deliveryId)
        if (Option.isNone(found)) return yield* new NotFound({ message: unknownObject })
        const row = found.value
        const page: DeliveryPage = {
          delivery: {
            ...deliveryFields(row),
            body: text.decode(row.body),
            attempts: row.attempts.map((attempt) => ({
              ...attemptSummary(attempt),
              requestHead: attempt.requestHead,
              responseBody: attempt.responseBody === null ? null : text.decode(attempt.responseBody)
            }))
          }
        }
        return page
      }),
      resend: Effect.fnUntraced(function* ({ params }) {
        const of = yield* tenant
        if (Option.isNone(yield* deliveries.find(of, params.deliveryId)))
          return yield* new NotFound({ message: unknownObject })
        if (Option.isNone(yield* endpoints.find(of))) return yield* new WebhookEndpointNotFound()
        const sent = yield* endpoints.resend(of, params.deliveryId)
        if (Option.isNone(sent)) return yield* new DeliveryPending()
        return { deliveryId: params.deliveryId }
      }),
      create: Effect.fnUntraced(function* ({ payload }) {
        return withSecret(yield* permitted(endpoints.create(yield* tenant, payload.url)))
      }),
      update: Effect.fnUntraced(function* ({ payload }) {
        return { endpoint: endpointView(yield* permitted(endpoints.changeUrl(yield* tenant, payload.url))) }
      }),
      delete: Effect.fnUntraced(function* () {
        yield* permitted(endpoints.remove(yield* tenant))
      }),
      test: Effect.fnUntraced(function* () {
        const { delivery } = yield* endpoints.sendTest(yield* tenant)
        return { deliveryId: delivery.id }
      }),
      regenerateSecret: Effect.fnUntraced(function* () {
        return withSecret(yield* permitted(endpoints.regenerateSecret(yield* tenant)))
      })
    })
  })
)
