// Webhooks over HTTP: the endpoint, and its deliveries with their requests and responses.
import { DateTime, Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { NotFound, type RoleRequired } from "../../../domain/Errors.ts"
import { AuditLog } from "../../../merchants/audit/AuditLog.ts"
import { eventHandlers } from "../../../payments/events/Http.ts"
import { delaySeconds } from "../../../platform/workers/RetrySchedule.ts"
import { endpointView, webhookHandlers, withSecret } from "../../../webhooks/Http.ts"
import { ReplayRepo } from "../../../webhooks/ReplayRepo.ts"
import { RetryPolicy } from "../../../webhooks/RetryPolicy.ts"
import { UnsentRepo } from "../../../webhooks/UnsentRepo.ts"
import { WebhookEndpoints } from "../../../webhooks/WebhookEndpoints.ts"
import { DashboardApi } from "../Api.ts"
import { currentCaller } from "../currentCaller.ts"
import { memberCaller } from "../memberGroup.ts"
import { CurrentMember, type CurrentSession } from "../Session.ts"
import { unknownObject } from "../unknownObject.ts"
import type { AttemptSummary, DeliveryPage, WebhooksPage } from "./Api.ts"
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

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "webhookPages",
  Effect.fnUntraced(function* (handlers) {
    const endpoints = yield* WebhookEndpoints
    const deliveries = yield* DeliveryPagesRepo
    const unsent = yield* UnsentRepo
    const replays = yield* ReplayRepo
    const audit = yield* AuditLog
    const retryDelays = yield* delaySeconds(yield* RetryPolicy)
    const tenant = Effect.map(CurrentMember, (member) => member.tenant)
    const permitted = Effect.fnUntraced(function* <A, E, R>(change: Effect.Effect<A, E, R>) {
      const { merchantId } = yield* tenant
      return yield* audit.permitted(merchantId, yield* currentCaller, change)
    })

    const { resend } = yield* eventHandlers(memberCaller)

    return handlers.handleAll({
      ...(yield* webhookHandlers<RoleRequired, CurrentMember | CurrentSession>(memberCaller, permitted)),
      list: Effect.fnUntraced(function* ({ query }) {
        const here = yield* tenant
        const [endpoint, rows, count] = yield* Effect.all(
          [
            endpoints.find(here),
            deliveries.list(here, { ...query, limit: pageSize + 1 }),
            unsent.count(here)
          ],
          { concurrency: 3 }
        )
        const page: WebhooksPage = {
          endpoint: Option.getOrNull(Option.map(endpoint, endpointView)),
          deliveries: rows
            .slice(0, pageSize)
            .map((row) => ({ ...deliveryFields(row), attempts: row.attempts.map(attemptSummary) })),
          hasMore: rows.length > pageSize,
          unsent: count,
          retryDelays
        }
        return page
      }),
      delivery: Effect.fnUntraced(function* ({ params }) {
        const delivery = yield* deliveries.find(yield* tenant, params.deliveryId)
        if (Option.isNone(delivery)) return yield* new NotFound({ message: unknownObject })
        const row = delivery.value
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
      replayUnsent: Effect.fnUntraced(function* () {
        const at = yield* DateTime.nowAsDate
        const { merchantId, env } = yield* tenant
        const replay = replays.replayUnsent({ merchantId, env }, new Date(0), at)
        return { count: yield* permitted(replay) }
      }),
      resend,
      regenerateSecret: Effect.fnUntraced(function* () {
        return withSecret(yield* permitted(endpoints.regenerateSecret(yield* tenant)))
      })
    })
  })
)
