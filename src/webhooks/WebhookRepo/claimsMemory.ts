// The queue in memory: claims under a lease, outcomes under the claim; the same rules as on Postgres.

import { Effect, Option } from "effect"
import type { Tenant } from "../../domain/Merchant.ts"
import type { Delivery, DeliveryAttempt, DeliveryStatus, Endpoint } from "../../domain/Webhook.ts"
import type { Sealed } from "../../platform/SecretBox.ts"
import { cancelBatchSize } from "./cancelBatchSize.ts"
import { endpointTrustMillis } from "./endpointTrustMillis.ts"
import type { AttemptResult, Claim, ClaimedDelivery, OrderOf, WebhookStore } from "./WebhookStore.ts"

export interface StoredEndpoint {
  readonly view: Endpoint
  readonly secret: Sealed
  readonly deleted: boolean
  readonly deletedAt?: Date
}

export interface StoredDelivery extends Tenant {
  readonly view: Omit<Delivery, "attempts">
  readonly endpointId: string | null
  readonly order: OrderOf | null
  readonly body: Uint8Array
  readonly attempts: number
  readonly interruptions: number
  readonly resentFrom: DeliveryStatus | null
  readonly dueAt: Date | null
  readonly claimId: string | null
}

export const byDue = (left: StoredDelivery, right: StoredDelivery) =>
  (left.dueAt?.getTime() ?? 0) - (right.dueAt?.getTime() ?? 0)

export const sameTenant = (left: Tenant, right: Tenant) =>
  left.merchantId === right.merchantId && left.env === right.env

/** The part of WebhookRepo that claims, finishes, releases and cancels deliveries. */
export const makeClaimsMemory = (store: {
  readonly endpoints: Map<string, StoredEndpoint>
  readonly deliveries: Map<string, StoredDelivery>
  readonly attempts: Map<string, ReadonlyArray<DeliveryAttempt>>
  readonly activeOf: (tenant: Tenant) => StoredEndpoint | undefined
  readonly queue: (
    tenant: Tenant,
    view: Omit<Delivery, "attempts" | "status">,
    body: Uint8Array,
    at: Date
  ) => StoredDelivery
}): {
  readonly cancel: (stored: StoredDelivery) => void
  readonly store: Pick<WebhookStore, "claimTest" | "claimResend" | "claimDue" | "finish" | "release">
} => {
  const { activeOf, attempts, deliveries, endpoints, queue } = store

  const cancel = (stored: StoredDelivery) =>
    deliveries.set(stored.view.id, {
      ...stored,
      view: { ...stored.view, status: stored.resentFrom ?? "cancelled" },
      resentFrom: null,
      dueAt: null,
      claimId: null
    })

  const isProven = (endpointId: string | null, at: Date) => {
    const view = endpoints.get(endpointId ?? "")?.view
    const accepted = view?.lastDeliveredAt?.getTime() ?? Number.NEGATIVE_INFINITY
    return view?.health === "healthy" && accepted > at.getTime() - endpointTrustMillis
  }

  const claim = (
    stored: StoredDelivery,
    endpoint: StoredEndpoint,
    { claimId, at, leaseUntil }: Claim,
    manual = false
  ): ClaimedDelivery => {
    const interruptions = stored.interruptions + (stored.claimId === null ? 0 : 1)
    const attempt = stored.attempts + 1
    deliveries.set(stored.view.id, {
      ...stored,
      view: { ...stored.view, status: "pending" },
      dueAt: leaseUntil,
      claimId,
      interruptions
    })
    const earlier = attempts.get(stored.view.id) ?? []
    const interrupted = earlier.find(({ number }) => number === attempt)
    attempts.set(stored.view.id, [
      ...earlier.filter(({ number }) => number !== attempt),
      {
        number: attempt,
        manual: manual || interrupted?.manual === true,
        startedAt: at,
        durationMs: null,
        responseStatus: null,
        failure: null
      }
    ])
    return {
      id: stored.view.id,
      merchantId: stored.merchantId,
      env: stored.env,
      claimId,
      leaseUntil,
      wasDueAt: stored.dueAt ?? at,
      type: stored.view.type,
      body: stored.body,
      order: stored.order,
      attempt,
      interruptions,
      resentFrom: stored.resentFrom,
      isProven: isProven(endpoint.view.id, at),
      target: { endpointId: endpoint.view.id, url: endpoint.view.url, secret: endpoint.secret }
    }
  }

  const noteEndpoint = ({ claimed, at, responseStatus, failure }: AttemptResult) => {
    const { endpointId, url } = claimed.target
    const endpoint = endpoints.get(endpointId)
    if (endpoint === undefined || endpoint.view.url !== url) return
    const ok = failure === null
    const verifiedAt = ok ? (endpoint.view.verifiedAt ?? at) : endpoint.view.verifiedAt
    endpoints.set(endpointId, {
      ...endpoint,
      view: {
        ...endpoint.view,
        health: ok ? "healthy" : "failing",
        listening: responseStatus !== null,
        lastDeliveredAt: ok ? at : endpoint.view.lastDeliveredAt,
        verifiedAt
      }
    })
  }

  const finishOne = (result: AttemptResult) => {
    const { claimed, durationMs, responseStatus, failure } = result
    const stored = deliveries.get(claimed.id)
    if (stored?.claimId !== claimed.claimId) return []
    const gone = endpoints.get(claimed.target.endpointId)?.deleted !== false
    const status = result.status === "pending" && gone ? "cancelled" : result.status
    deliveries.set(claimed.id, {
      ...stored,
      view: { ...stored.view, status },
      attempts: claimed.attempt,
      resentFrom: null,
      dueAt: status === "pending" ? result.dueAt : null,
      claimId: null
    })
    const all = attempts.get(claimed.id) ?? []
    attempts.set(
      claimed.id,
      all.map((entry) =>
        entry.number === claimed.attempt ? { ...entry, durationMs, responseStatus, failure } : entry
      )
    )
    noteEndpoint(result)
    return [{ id: claimed.id, status }]
  }

  return {
    cancel,
    store: {
      claimTest: (tenant, { id, body }, by) =>
        Effect.sync(() =>
          Option.map(Option.fromUndefinedOr(activeOf(tenant)), (endpoint) => {
            const stored = queue(tenant, { id, type: "test", paymentId: null, createdAt: by.at }, body, by.at)
            return claim(stored, endpoint, by, true)
          })
        ),
      claimResend: (tenant, deliveryId, by) =>
        Effect.sync(() => {
          const stored = deliveries.get(deliveryId)
          const endpoint = activeOf(tenant)
          if (stored === undefined || endpoint === undefined) return Option.none()
          if (!sameTenant(stored, tenant) || stored.dueAt !== null) return Option.none()
          const resent: StoredDelivery = {
            ...stored,
            endpointId: endpoint.view.id,
            resentFrom: stored.view.status,
            interruptions: 0
          }
          return Option.some(claim(resent, endpoint, by, true))
        }),
      claimDue: ({ claimedBy: _, limit, limitUnproven, perEndpoint, capacities, queueStarts, ...by }) =>
        Effect.sync(() => {
          let unproven = limitUnproven
          const accepts = new Map(capacities.map(({ accepts, endpointId }) => [endpointId, accepts]))
          const proven = (endpointId: string | null) =>
            accepts.get(endpointId ?? "") ?? isProven(endpointId, by.at)
          const capacity = new Map(capacities.map(({ capacity, endpointId }) => [endpointId, capacity]))
          const starts = new Map(queueStarts.map(({ endpointId, from }) => [endpointId, from]))
          const claimed: Array<ClaimedDelivery> = []
          const due = [...deliveries.values()]
            .filter(
              ({ dueAt, endpointId }) =>
                dueAt !== null && dueAt <= by.at && dueAt >= (starts.get(endpointId ?? "") ?? dueAt)
            )
            .toSorted(
              (left, right) =>
                Number(proven(right.endpointId)) - Number(proven(left.endpointId)) || byDue(left, right)
            )
          const cancelled = new Map<string | null, number>()
          for (const delivery of due) {
            const endpoint = endpoints.get(delivery.endpointId ?? "")
            if (endpoint === undefined || endpoint.deleted) {
              const before = cancelled.get(delivery.endpointId) ?? 0
              if (before === cancelBatchSize) continue
              cancelled.set(delivery.endpointId, before + 1)
              const all = attempts.get(delivery.view.id) ?? []
              attempts.set(
                delivery.view.id,
                all.map((entry) => (entry.durationMs === null ? { ...entry, failure: "interrupted" } : entry))
              )
              cancel(delivery)
              continue
            }
            const free = capacity.get(endpoint.view.id) ?? perEndpoint
            if (free <= 0 || claimed.length >= limit) continue
            if (!proven(endpoint.view.id) && unproven-- <= 0) continue
            capacity.set(endpoint.view.id, free - 1)
            claimed.push(claim(delivery, endpoint, by))
          }
          return claimed
        }),
      finish: (results) => Effect.sync(() => results.flatMap(finishOne)),
      release: (claims, at) =>
        Effect.sync(() => {
          for (const { id, claimId } of claims) {
            const stored = deliveries.get(id)
            if (stored?.claimId === claimId) deliveries.set(id, { ...stored, dueAt: at, claimId: null })
          }
        })
    }
  }
}
