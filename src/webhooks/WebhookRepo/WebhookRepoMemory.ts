// WebhookRepo in this process: the same rules over maps, for tests and trials.

import { Effect, Option } from "effect"
import type { Tenant } from "../../domain/Merchant.ts"
import type { Delivery, DeliveryAttempt, Endpoint } from "../../domain/Webhook.ts"
import type { Sealed } from "../../platform/SecretBox.ts"
import { followingMillis } from "../followingMillis.ts"
import { cancelBatchSize } from "./cancelBatchSize.ts"
import {
  byDue,
  makeClaimsMemory,
  type StoredDelivery,
  type StoredEndpoint,
  sameTenant
} from "./claimsMemory.ts"
import type { OrderOf, StoredEvent, WebhookStore } from "./WebhookStore.ts"

export const makeWebhookRepoMemory = Effect.sync((): WebhookStore => {
  const endpoints = new Map<string, StoredEndpoint>()
  const deliveries = new Map<string, StoredDelivery>()
  const attempts = new Map<string, ReadonlyArray<DeliveryAttempt>>()

  const activeOf = (tenant: Tenant) =>
    [...endpoints.values()].find((one) => !one.deleted && sameTenant(one.view, tenant))
  const viewOf = (stored: StoredDelivery): Delivery => ({
    ...stored.view,
    attempts: attempts.get(stored.view.id) ?? []
  })
  const change = (tenant: Tenant, f: (endpoint: StoredEndpoint) => Partial<Endpoint>, secret?: Sealed) => {
    const found = activeOf(tenant)
    if (found === undefined) return Option.none<Endpoint>()
    const view = { ...found.view, ...f(found) }
    endpoints.set(view.id, { ...found, view, secret: secret ?? found.secret })
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
      claimId: null
    }
    deliveries.set(view.id, stored)
    return stored
  }

  const eventsOf = (tenant: Tenant): ReadonlyArray<StoredEvent> =>
    [...deliveries.values()]
      .filter((one) => sameTenant(one, tenant))
      .map(({ view, body }) => ({
        id: view.id,
        body,
        paymentId: view.paymentId,
        status: view.status,
        createdAt: view.createdAt
      }))

  const claims = makeClaimsMemory({ endpoints, deliveries, attempts, activeOf, queue })

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
        const since = at.getTime() - followingMillis
        for (const one of deliveries.values()) {
          const ended = endpoints.get(one.endpointId ?? "")?.deletedAt
          const waits = one.view.status === "cancelled" || (one.dueAt !== null && one.resentFrom === null)
          if (ended === undefined || ended.getTime() < since || !waits || one.claimId !== null) continue
          if (!sameTenant(one, tenant) || one.view.paymentId === null) continue
          deliveries.set(one.view.id, {
            ...one,
            view: { ...one.view, status: "pending" },
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
        const found = activeOf(tenant)
        if (found === undefined) return false
        endpoints.set(found.view.id, { ...found, deleted: true, deletedAt: at })
        const waiting = [...deliveries.values()].filter(
          ({ claimId, dueAt, endpointId }) =>
            endpointId === found.view.id && dueAt !== null && claimId === null
        )
        for (const one of waiting.toSorted(byDue).slice(0, cancelBatchSize)) claims.cancel(one)
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
    ...claims.store,
    // One process alone.
    heartbeat: () => Effect.succeed([]),
    takeOverDead: () => Effect.succeed(0),
    deregister: () => Effect.void,
    findDelivery: (tenant, id) =>
      Effect.sync(() => {
        const found = deliveries.get(id)
        return found !== undefined && sameTenant(found, tenant) ? Option.some(viewOf(found)) : Option.none()
      }),
    findOfPayment: (tenant, paymentId) =>
      Effect.sync(() => {
        const found = [...deliveries.values()].find(
          (one) => one.view.paymentId === paymentId && sameTenant(one, tenant)
        )
        return found === undefined
          ? Option.none()
          : Option.some({ delivery: viewOf(found), body: found.body })
      }),
    findEvent: (tenant, id) =>
      Effect.sync(() => Option.fromUndefinedOr(eventsOf(tenant).find((one) => one.id === id))),
    // In the order of their arrival: nothing here is committed late.
    listEvents: (tenant, { limit, after }) =>
      Effect.sync(() => {
        const all = eventsOf(tenant)
        const last = after === undefined ? -1 : all.findIndex((one) => one.id === after)
        if (after !== undefined && last === -1) return Option.none()
        const rest = all.slice(last + 1)
        return Option.some({ events: rest.slice(0, limit), hasMore: rest.length > limit })
      }),
    listDeliveries: (tenant, limit) =>
      Effect.sync(() =>
        [...deliveries.values()]
          .filter((one) => sameTenant(one, tenant))
          .sort((left, right) => right.view.createdAt.getTime() - left.view.createdAt.getTime())
          .slice(0, limit)
          .map(viewOf)
      ),
    prune: (before, limit) =>
      Effect.sync(() => {
        let pruned = 0
        for (const [id, all] of attempts) {
          if (deliveries.get(id)?.view.status === "pending") continue
          const remaining = all.filter((one) => one.startedAt >= before || pruned++ >= limit)
          attempts.set(id, remaining)
        }
        return Math.min(pruned, limit)
      })
  }
})
