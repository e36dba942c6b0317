// The queue in memory: leases of deliveries, and outcomes under those leases; the same rules as on Postgres.

import { Effect, Option } from "effect"
import type { Tenant } from "../../domain/Merchant.ts"
import type { Delivery, DeliveryAttempt, DeliveryStatus, Endpoint } from "../../domain/Webhook.ts"
import type { Sealed } from "../../platform/SecretBox.ts"
import { cancelBatchSize } from "./cancelBatchSize.ts"
import { endpointTrustMillis } from "./endpointTrustMillis.ts"
import type { AttemptResult, Lease, LeasedDelivery, OrderOf, WebhookStore } from "./WebhookStore.ts"

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
  readonly leaseId: string | null
}

export const byDue = (left: StoredDelivery, right: StoredDelivery) =>
  (left.dueAt?.getTime() ?? 0) - (right.dueAt?.getTime() ?? 0)

export const isSameTenant = (left: Tenant, right: Tenant) =>
  left.merchantId === right.merchantId && left.env === right.env

/** The part of WebhookRepo that leases, finishes, releases and cancels deliveries. */
export const makeLeasesMemory = (store: {
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
  readonly store: Pick<WebhookStore, "leaseTest" | "leaseResend" | "leaseDue" | "finish" | "release">
} => {
  const { activeOf, attempts, deliveries, endpoints, queue } = store

  const cancel = (stored: StoredDelivery) =>
    deliveries.set(stored.view.id, {
      ...stored,
      view: { ...stored.view, status: stored.resentFrom ?? "cancelled" },
      resentFrom: null,
      dueAt: null,
      leaseId: null
    })

  const isProven = (endpointId: string | null, at: Date) => {
    const view = endpoints.get(endpointId ?? "")?.view
    const accepted = view?.lastDeliveredAt?.getTime() ?? Number.NEGATIVE_INFINITY
    return view?.health === "healthy" && accepted > at.getTime() - endpointTrustMillis
  }

  const lease = (
    stored: StoredDelivery,
    endpoint: StoredEndpoint,
    { leaseId, at, leaseUntil }: Lease,
    manual = false
  ): LeasedDelivery => {
    const interruptions = stored.interruptions + (stored.leaseId === null ? 0 : 1)
    const attempt = stored.attempts + 1
    deliveries.set(stored.view.id, {
      ...stored,
      view: { ...stored.view, status: "pending" },
      dueAt: leaseUntil,
      leaseId,
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
      leaseId,
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

  const recordEndpoint = ({ delivery, at, responseStatus, failure }: AttemptResult) => {
    const { endpointId, url } = delivery.target
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
    const { delivery, durationMs, responseStatus, failure } = result
    const stored = deliveries.get(delivery.id)
    if (stored?.leaseId !== delivery.leaseId) return []
    const isDeleted = endpoints.get(delivery.target.endpointId)?.deleted !== false
    const status = result.status === "pending" && isDeleted ? "cancelled" : result.status
    deliveries.set(delivery.id, {
      ...stored,
      view: { ...stored.view, status },
      attempts: delivery.attempt,
      resentFrom: null,
      dueAt: status === "pending" ? result.dueAt : null,
      leaseId: null
    })
    const all = attempts.get(delivery.id) ?? []
    attempts.set(
      delivery.id,
      all.map((entry) =>
        entry.number === delivery.attempt ? { ...entry, durationMs, responseStatus, failure } : entry
      )
    )
    recordEndpoint(result)
    return [{ id: delivery.id, status }]
  }

  return {
    cancel,
    store: {
      leaseTest: (tenant, { id, body }, by) =>
        Effect.sync(() =>
          Option.map(Option.fromUndefinedOr(activeOf(tenant)), (endpoint) => {
            const stored = queue(tenant, { id, type: "test", paymentId: null, createdAt: by.at }, body, by.at)
            return lease(stored, endpoint, by, true)
          })
        ),
      leaseResend: (tenant, deliveryId, by) =>
        Effect.sync(() => {
          const stored = deliveries.get(deliveryId)
          const endpoint = activeOf(tenant)
          if (stored === undefined || endpoint === undefined) return Option.none()
          if (!isSameTenant(stored, tenant) || stored.dueAt !== null) return Option.none()
          const resent: StoredDelivery = {
            ...stored,
            endpointId: endpoint.view.id,
            resentFrom: stored.view.status,
            interruptions: 0
          }
          return Option.some(lease(resent, endpoint, by, true))
        }),
      leaseDue: ({ leasedBy: _, limit, limitUnproven, perEndpoint, capacities, queueStarts, ...by }) =>
        Effect.sync(() => {
          let unproven = limitUnproven
          const accepts = new Map(capacities.map(({ accepts, endpointId }) => [endpointId, accepts]))
          const proven = (endpointId: string | null) =>
            accepts.get(endpointId ?? "") ?? isProven(endpointId, by.at)
          const capacity = new Map(capacities.map(({ capacity, endpointId }) => [endpointId, capacity]))
          const starts = new Map(queueStarts.map(({ endpointId, from }) => [endpointId, from]))
          const leased: Array<LeasedDelivery> = []
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
            if (free <= 0 || leased.length >= limit) continue
            if (!proven(endpoint.view.id) && unproven-- <= 0) continue
            capacity.set(endpoint.view.id, free - 1)
            leased.push(lease(delivery, endpoint, by))
          }
          return leased
        }),
      finish: (results) => Effect.sync(() => results.flatMap(finishOne)),
      release: (leases, at) =>
        Effect.sync(() => {
          for (const { id, leaseId } of leases) {
            const stored = deliveries.get(id)
            if (stored?.leaseId === leaseId) deliveries.set(id, { ...stored, dueAt: at, leaseId: null })
          }
        })
    }
  }
}
