// WebhookRepo in memory: the same rules over maps, for tests and trials.

import { Effect, Option } from "effect"
import type { Tenant } from "../../domain/Merchant.ts"
import type { Delivery, DeliveryAttempt, Endpoint } from "../../domain/Webhook.ts"
import type { Sealed } from "../../platform/SecretBox.ts"
import { rerouteMillis } from "../rerouteMillis.ts"
import { cancelBatchSize } from "./cancelBatchSize.ts"
import {
  byDue,
  isSameTenant,
  makeLeasesMemory,
  type StoredDelivery,
  type StoredEndpoint
} from "./leasesMemory.ts"
import type { OrderOf, StoredEvent, WebhookStore } from "./WebhookStore.ts"

export const makeWebhookRepoMemory = Effect.sync((): WebhookStore => {
  const endpoints = new Map<string, StoredEndpoint>()
  const deliveries = new Map<string, StoredDelivery>()
  const attempts = new Map<string, ReadonlyArray<DeliveryAttempt>>()

  const activeOf = (tenant: Tenant) =>
    [...endpoints.values()].find((endpoint) => !endpoint.deleted && isSameTenant(endpoint.view, tenant))
  const viewOf = (stored: StoredDelivery): Delivery => ({
    ...stored.view,
    attempts: attempts.get(stored.view.id) ?? []
  })
  const change = (tenant: Tenant, f: (endpoint: StoredEndpoint) => Partial<Endpoint>, secret?: Sealed) => {
    const stored = activeOf(tenant)
    if (stored === undefined) return Option.none<Endpoint>()
    const view = { ...stored.view, ...f(stored) }
    endpoints.set(view.id, { ...stored, view, secret: secret ?? stored.secret })
    return Option.some(view)
  }

  const queue = (
    tenant: Tenant,
    view: Omit<Delivery, "attempts" | "status">,
    body: Uint8Array,
    at: Date,
    order: OrderOf | null = null
  ): StoredDelivery => {
    const endpointId = activeOf(tenant)?.view.id ?? null
    const stored: StoredDelivery = {
      merchantId: tenant.merchantId,
      env: tenant.env,
      view: { ...view, status: endpointId === null ? "cancelled" : "pending" },
      endpointId,
      order,
      body,
      attempts: 0,
      interruptions: 0,
      resentFrom: null,
      dueAt: endpointId === null ? null : at,
      leaseId: null
    }
    deliveries.set(view.id, stored)
    return stored
  }

  const eventsOf = (tenant: Tenant): ReadonlyArray<StoredEvent> =>
    [...deliveries.values()]
      .filter((delivery) => isSameTenant(delivery, tenant))
      .map(({ view, body }) => ({
        id: view.id,
        body,
        paymentId: view.paymentId,
        status: view.status,
        createdAt: view.createdAt
      }))

  const leases = makeLeasesMemory({ endpoints, deliveries, attempts, activeOf, queue })

  return {
    findEndpoint: (tenant) => Effect.sync(() => Option.fromUndefinedOr(activeOf(tenant)?.view)),
    createEndpoint: (tenant, { id, url, secret, secretLastFour }, at) =>
      Effect.sync(() => {
        if (activeOf(tenant) !== undefined) return Option.none()
        const view: Endpoint = {
          id,
          merchantId: tenant.merchantId,
          env: tenant.env,
          url,
          health: "unverified",
          listening: false,
          secretLastFour,
          lastDeliveredAt: null,
          verifiedAt: null,
          createdAt: at,
          updatedAt: at
        }
        endpoints.set(id, { view, secret, deleted: false })
        const since = at.getTime() - rerouteMillis
        for (const delivery of deliveries.values()) {
          const ended = endpoints.get(delivery.endpointId ?? "")?.deletedAt
          const waits =
            delivery.view.status === "cancelled" || (delivery.dueAt !== null && delivery.resentFrom === null)
          if (ended === undefined || ended.getTime() < since || !waits || delivery.leaseId !== null) continue
          if (!isSameTenant(delivery, tenant) || delivery.view.paymentId === null) continue
          deliveries.set(delivery.view.id, {
            ...delivery,
            view: { ...delivery.view, status: "pending" },
            endpointId: id,
            interruptions: 0,
            dueAt: at
          })
        }
        return Option.some(view)
      }),
    changeUrl: (tenant, url, at) =>
      Effect.sync(() =>
        change(tenant, () => ({
          url,
          verifiedAt: null,
          health: "unverified",
          listening: false,
          updatedAt: at
        }))
      ),
    replaceSecret: (tenant, endpointId, { secret, secretLastFour }, at) =>
      Effect.sync(() =>
        activeOf(tenant)?.view.id === endpointId
          ? change(tenant, () => ({ secretLastFour, updatedAt: at }), secret)
          : Option.none()
      ),
    deleteEndpoint: (tenant, at) =>
      Effect.sync(() => {
        const stored = activeOf(tenant)
        if (stored === undefined) return false
        endpoints.set(stored.view.id, { ...stored, deleted: true, deletedAt: at })
        const waiting = [...deliveries.values()].filter(
          ({ leaseId, dueAt, endpointId }) =>
            endpointId === stored.view.id && dueAt !== null && leaseId === null
        )
        for (const delivery of waiting.toSorted(byDue).slice(0, cancelBatchSize)) leases.cancel(delivery)
        return true
      }),
    enqueueSettled: (tenant, paymentId, { id, body }, at) =>
      Effect.sync(
        () =>
          void queue(tenant, { id, type: "payment.settled", paymentId, createdAt: at }, body, at, {
            paymentId,
            intentUrl: tenant.intentUrl
          })
      ),
    ...leases.store,
    // There is only one process.
    heartbeat: () => Effect.succeed([]),
    takeOverDead: () => Effect.succeed(0),
    deregister: () => Effect.void,
    findDelivery: (tenant, id) =>
      Effect.sync(() => {
        const stored = deliveries.get(id)
        return stored !== undefined && isSameTenant(stored, tenant)
          ? Option.some(viewOf(stored))
          : Option.none()
      }),
    findOfPayment: (tenant, paymentId) =>
      Effect.sync(() => {
        const stored = [...deliveries.values()].find(
          (delivery) =>
            delivery.view.paymentId === paymentId &&
            delivery.view.type === "payment.settled" &&
            isSameTenant(delivery, tenant)
        )
        return stored === undefined
          ? Option.none()
          : Option.some({ delivery: viewOf(stored), body: stored.body })
      }),
    findEvent: (tenant, id) =>
      Effect.sync(() => Option.fromUndefinedOr(eventsOf(tenant).find((event) => event.id === id))),
    // In the order of arrival: nothing here commits late.
    listEvents: (tenant, { limit, after }) =>
      Effect.sync(() => {
        const all = eventsOf(tenant)
        const last = after === undefined ? -1 : all.findIndex((event) => event.id === after)
        if (after !== undefined && last === -1) return Option.none()
        const rest = all.slice(last + 1)
        return Option.some({ events: rest.slice(0, limit), hasMore: rest.length > limit })
      }),
    listDeliveries: (tenant, limit) =>
      Effect.sync(() =>
        [...deliveries.values()]
          .filter((delivery) => isSameTenant(delivery, tenant))
          .sort((left, right) => right.view.createdAt.getTime() - left.view.createdAt.getTime())
          .slice(0, limit)
          .map(viewOf)
      ),
    prune: (before, limit) =>
      Effect.sync(() => {
        let pruned = 0
        for (const [id, all] of attempts) {
          if (deliveries.get(id)?.view.status === "pending") continue
          const remaining = all.filter(({ startedAt }) => startedAt >= before || pruned++ >= limit)
          attempts.set(id, remaining)
        }
        return Math.min(pruned, limit)
      })
  }
})
