// WebhookRepo in this process: the same rules over maps, for tests and trials.
import { Effect, Layer, Option } from "effect"
import type { Attempt, Delivery, Endpoint } from "../domain/Webhook.ts"
import type { Sealed } from "../keys/SecretBox.ts"
import type { Tenant } from "../payments/PaymentRepo.ts"
import { type ClaimedDelivery, WebhookRepo } from "./WebhookRepo.ts"

interface StoredEndpoint {
  readonly view: Endpoint
  readonly secret: Sealed
}

interface StoredDelivery extends Tenant {
  readonly view: Omit<Delivery, "attempts">
  readonly body: Uint8Array
  readonly attempts: number
  readonly interruptions: number
  readonly dueAt: Date | null
  readonly claimId: string | null
}

const make = Effect.sync(() => {
  const endpoints = new Map<string, StoredEndpoint>()
  const deliveries = new Map<string, StoredDelivery>()
  const attempts = new Map<string, Array<Attempt>>()

  const tenantKey = (tenant: Tenant) => `${tenant.merchantId} ${tenant.env}`
  const sameTenant = (left: Tenant, right: Tenant) => tenantKey(left) === tenantKey(right)
  const viewOf = (stored: StoredDelivery): Delivery => ({
    ...stored.view,
    attempts: attempts.get(stored.view.id) ?? []
  })
  const change = (tenant: Tenant, f: (endpoint: StoredEndpoint) => StoredEndpoint) => {
    const found = endpoints.get(tenantKey(tenant))
    if (found === undefined) return Option.none<Endpoint>()
    const changed = f(found)
    endpoints.set(tenantKey(tenant), changed)
    return Option.some(changed.view)
  }

  const claim = (stored: StoredDelivery, claimId: string, at: Date, leaseUntil: Date): ClaimedDelivery => {
    const endpoint = endpoints.get(tenantKey(stored))
    const next: StoredDelivery = {
      ...stored,
      view: { ...stored.view, status: "pending" },
      dueAt: leaseUntil,
      claimId,
      interruptions: stored.interruptions + (stored.claimId === null ? 0 : 1)
    }
    const attempt = stored.attempts + 1
    deliveries.set(stored.view.id, next)
    attempts.set(stored.view.id, [
      ...(attempts.get(stored.view.id) ?? []).filter((one) => one.number !== attempt),
      { number: attempt, startedAt: at, durationMs: null, responseStatus: null, failure: null }
    ])
    return {
      id: stored.view.id,
      merchantId: stored.merchantId,
      env: stored.env,
      claimId,
      type: stored.view.type,
      body: stored.body,
      attempt,
      interruptions: next.interruptions,
      target:
        endpoint === undefined
          ? Option.none()
          : Option.some({ endpointId: endpoint.view.id, url: endpoint.view.url, secret: endpoint.secret })
    }
  }

  return WebhookRepo.of({
    findEndpoint: (tenant) => Effect.sync(() => Option.fromNullishOr(endpoints.get(tenantKey(tenant))?.view)),
    createEndpoint: (tenant, endpoint, at) =>
      Effect.sync(() => {
        if (endpoints.has(tenantKey(tenant))) return Option.none()
        const view: Endpoint = {
          id: endpoint.id,
          merchantId: tenant.merchantId,
          env: tenant.env,
          url: endpoint.url,
          health: "unverified",
          listening: false,
          secretLastFour: endpoint.secretLastFour,
          lastDeliveredAt: null,
          verifiedAt: null,
          createdAt: at,
          updatedAt: at
        }
        endpoints.set(tenantKey(tenant), { view, secret: endpoint.secret })
        return Option.some(view)
      }),
    changeUrl: (tenant, url, at) =>
      Effect.sync(() =>
        change(tenant, (found) => ({
          ...found,
          view: {
            ...found.view,
            url,
            verifiedAt: null,
            health: "unverified",
            listening: false,
            updatedAt: at
          }
        }))
      ),
    replaceSecret: (tenant, _endpointId, { secret, secretLastFour }, at) =>
      Effect.sync(() =>
        change(tenant, (found) => ({ secret, view: { ...found.view, secretLastFour, updatedAt: at } }))
      ),
    deleteEndpoint: (tenant) =>
      Effect.sync(() => {
        const deleted = endpoints.delete(tenantKey(tenant))
        for (const [id, one] of deliveries) {
          if (deleted && sameTenant(one, tenant) && one.view.status === "pending") {
            deliveries.set(id, {
              ...one,
              view: { ...one.view, status: "cancelled" },
              dueAt: null,
              claimId: null
            })
          }
        }
        return deleted
      }),
    enqueueSettled: (tenant, paymentId, { id, body }, at) =>
      Effect.sync(() => {
        const active = endpoints.has(tenantKey(tenant))
        deliveries.set(id, {
          merchantId: tenant.merchantId,
          env: tenant.env,
          view: {
            id,
            type: "payment.settled",
            paymentId,
            status: active ? "pending" : "cancelled",
            createdAt: at
          },
          body,
          attempts: 0,
          interruptions: 0,
          dueAt: active ? at : null,
          claimId: null
        })
      }),
    claimTest: (tenant, { id, body }, { claimId, at, leaseUntil }) =>
      Effect.sync(() => {
        if (!endpoints.has(tenantKey(tenant))) return Option.none()
        const stored: StoredDelivery = {
          merchantId: tenant.merchantId,
          env: tenant.env,
          view: { id, type: "test", paymentId: null, status: "pending", createdAt: at },
          body,
          attempts: 0,
          interruptions: 0,
          dueAt: at,
          claimId: null
        }
        return Option.some(claim(stored, claimId, at, leaseUntil))
      }),
    claimResend: (tenant, deliveryId, { claimId, at, leaseUntil }) =>
      Effect.sync(() => {
        const found = deliveries.get(deliveryId)
        const ready =
          found !== undefined &&
          sameTenant(found, tenant) &&
          found.view.status !== "pending" &&
          endpoints.has(tenantKey(tenant))
        return ready ? Option.some(claim(found, claimId, at, leaseUntil)) : Option.none()
      }),
    claimDue: ({ claimId, at, leaseUntil, limit, perEndpoint, busy }) =>
      Effect.sync(() => {
        const taken = new Map<string, number>()
        return [...deliveries.values()]
          .filter(
            (one) => one.dueAt !== null && one.dueAt <= at && !busy.some((tenant) => sameTenant(tenant, one))
          )
          .sort((left, right) => (left.dueAt?.getTime() ?? 0) - (right.dueAt?.getTime() ?? 0))
          .filter((one) => {
            const count = (taken.get(tenantKey(one)) ?? 0) + 1
            taken.set(tenantKey(one), count)
            return count <= perEndpoint
          })
          .slice(0, limit)
          .map((one) => claim(one, claimId, at, leaseUntil))
      }),
    finish: ({ claimed, at, durationMs, responseStatus, failure, status, dueAt }) =>
      Effect.sync(() => {
        const found = deliveries.get(claimed.id)
        if (found?.claimId !== claimed.claimId) return false
        deliveries.set(claimed.id, {
          ...found,
          view: { ...found.view, status },
          attempts: claimed.attempt,
          interruptions: 0,
          dueAt,
          claimId: null
        })
        attempts.set(
          claimed.id,
          (attempts.get(claimed.id) ?? []).map((one) =>
            one.number === claimed.attempt ? { ...one, durationMs, responseStatus, failure } : one
          )
        )
        const target = Option.getOrUndefined(claimed.target)
        const endpoint = endpoints.get(tenantKey(claimed))
        if (endpoint?.view.id === target?.endpointId && endpoint?.view.url === target?.url) {
          const ok = status === "delivered"
          change(claimed, (one) => ({
            ...one,
            view: {
              ...one.view,
              health: ok ? "healthy" : "failing",
              listening: responseStatus !== null,
              lastDeliveredAt: ok ? at : one.view.lastDeliveredAt,
              verifiedAt: ok ? (one.view.verifiedAt ?? at) : one.view.verifiedAt
            }
          }))
        }
        return true
      }),
    release: (claimed, at) =>
      Effect.sync(() => {
        for (const { id, claimId } of claimed) {
          const found = deliveries.get(id)
          if (found?.claimId === claimId) deliveries.set(id, { ...found, dueAt: at, claimId: null })
        }
      }),
    findDelivery: (tenant, id) =>
      Effect.sync(() => {
        const found = deliveries.get(id)
        return found !== undefined && sameTenant(found, tenant) ? Option.some(viewOf(found)) : Option.none()
      }),
    listDeliveries: (tenant, limit) =>
      Effect.sync(() =>
        [...deliveries.values()]
          .filter((one) => sameTenant(one, tenant))
          .sort((left, right) => right.view.createdAt.getTime() - left.view.createdAt.getTime())
          .slice(0, limit)
          .map(viewOf)
      ),
    prune: (before) =>
      Effect.sync(() => {
        let pruned = 0
        for (const [id, all] of attempts) {
          if (deliveries.get(id)?.view.status === "pending") continue
          const kept = all.filter((one) => one.startedAt >= before)
          pruned += all.length - kept.length
          attempts.set(id, kept)
        }
        return pruned
      })
  })
})

export const layerMemory: Layer.Layer<WebhookRepo> = Layer.suspend(() => Layer.effect(WebhookRepo, make))
