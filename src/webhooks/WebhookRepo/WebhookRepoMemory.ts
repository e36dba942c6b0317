// WebhookRepo in this process: the same rules over maps, for tests and trials.

import { Effect, Option } from "effect"
import type { Tenant } from "../../domain/Merchant.ts"
import type { Delivery, DeliveryAttempt, DeliveryStatus, Endpoint } from "../../domain/Webhook.ts"
import type { Sealed } from "../../keys/SecretBox.ts"
import type {
  AttemptResult,
  Claim,
  ClaimedDelivery,
  OrderOf,
  StoredEvent,
  WebhookRepo
} from "../WebhookRepo.ts"
import { mostCancelled } from "./mostCancelled.ts"
import { provenMillis } from "./provenMillis.ts"

interface StoredEndpoint {
  readonly view: Endpoint
  readonly secret: Sealed
  readonly deleted: boolean
}

interface StoredDelivery extends Tenant {
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

const byDue = (left: StoredDelivery, right: StoredDelivery) =>
  (left.dueAt?.getTime() ?? 0) - (right.dueAt?.getTime() ?? 0)

const sameTenant = (left: Tenant, right: Tenant) =>
  left.merchantId === right.merchantId && left.env === right.env

export const makeWebhookRepoMemory = Effect.sync((): WebhookRepo["Service"] => {
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
    return view?.health === "healthy" && accepted > at.getTime() - provenMillis
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
    const interrupted = earlier.find((one) => one.number === attempt)
    attempts.set(stored.view.id, [
      ...earlier.filter((one) => one.number !== attempt),
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
    const found = endpoints.get(endpointId)
    if (found === undefined || found.view.url !== url) return
    const ok = failure === null
    const verifiedAt = ok ? (found.view.verifiedAt ?? at) : found.view.verifiedAt
    endpoints.set(endpointId, {
      ...found,
      view: {
        ...found.view,
        health: ok ? "healthy" : "failing",
        listening: responseStatus !== null,
        lastDeliveredAt: ok ? at : found.view.lastDeliveredAt,
        verifiedAt
      }
    })
  }

  const finishOne = (result: AttemptResult) => {
    const { claimed, durationMs, responseStatus, failure } = result
    const found = deliveries.get(claimed.id)
    if (found?.claimId !== claimed.claimId) return []
    const gone = endpoints.get(claimed.target.endpointId)?.deleted !== false
    const status = result.status === "pending" && gone ? "cancelled" : result.status
    deliveries.set(claimed.id, {
      ...found,
      view: { ...found.view, status },
      attempts: claimed.attempt,
      resentFrom: null,
      dueAt: status === "pending" ? result.dueAt : null,
      claimId: null
    })
    const all = attempts.get(claimed.id) ?? []
    attempts.set(
      claimed.id,
      all.map((one) =>
        one.number === claimed.attempt ? { ...one, durationMs, responseStatus, failure } : one
      )
    )
    noteEndpoint(result)
    return [{ id: claimed.id, status }]
  }

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
    deleteEndpoint: (tenant) =>
      Effect.sync(() => {
        const found = activeOf(tenant)
        if (found === undefined) return false
        endpoints.set(found.view.id, { ...found, deleted: true })
        const waiting = [...deliveries.values()].filter(
          ({ claimId, dueAt, endpointId }) =>
            endpointId === found.view.id && dueAt !== null && claimId === null
        )
        for (const one of waiting.toSorted(byDue).slice(0, mostCancelled)) cancel(one)
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
    claimTest: (tenant, { id, body }, by) =>
      Effect.sync(() =>
        Option.map(Option.fromUndefinedOr(activeOf(tenant)), (endpoint) => {
          const stored = queue(tenant, { id, type: "test", paymentId: null, createdAt: by.at }, body, by.at)
          return claim(stored, endpoint, by, true)
        })
      ),
    claimResend: (tenant, deliveryId, by) =>
      Effect.sync(() => {
        const found = deliveries.get(deliveryId)
        const endpoint = activeOf(tenant)
        if (found === undefined || endpoint === undefined) return Option.none()
        if (!sameTenant(found, tenant) || found.dueAt !== null) return Option.none()
        const resent: StoredDelivery = {
          ...found,
          endpointId: endpoint.view.id,
          resentFrom: found.view.status,
          interruptions: 0
        }
        return Option.some(claim(resent, endpoint, by, true))
      }),
    claimDue: ({ claimedBy: _, limit, limitUnproven, perEndpoint, capacities, queueStarts, ...by }) =>
      Effect.sync(() => {
        let unproven = limitUnproven
        const accepts = new Map(capacities.map((one) => [one.endpointId, one.accepts]))
        const proven = (endpointId: string | null) =>
          accepts.get(endpointId ?? "") ?? isProven(endpointId, by.at)
        const capacity = new Map(capacities.map((one) => [one.endpointId, one.capacity]))
        const starts = new Map(queueStarts.map((one) => [one.endpointId, one.from]))
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
        for (const one of due) {
          const endpoint = endpoints.get(one.endpointId ?? "")
          if (endpoint === undefined || endpoint.deleted) {
            const before = cancelled.get(one.endpointId) ?? 0
            if (before === mostCancelled) continue
            cancelled.set(one.endpointId, before + 1)
            const all = attempts.get(one.view.id) ?? []
            attempts.set(
              one.view.id,
              all.map((made) => (made.durationMs === null ? { ...made, failure: "interrupted" } : made))
            )
            cancel(one)
            continue
          }
          const left = capacity.get(endpoint.view.id) ?? perEndpoint
          if (left <= 0 || claimed.length >= limit) continue
          if (!proven(endpoint.view.id) && unproven-- <= 0) continue
          capacity.set(endpoint.view.id, left - 1)
          claimed.push(claim(one, endpoint, by))
        }
        return claimed
      }),
    finish: (results) => Effect.sync(() => results.flatMap(finishOne)),
    // One process alone.
    beat: () => Effect.succeed([]),
    bury: () => Effect.succeed(0),
    leave: () => Effect.void,
    release: (held, at) =>
      Effect.sync(() => {
        for (const { id, claimId } of held) {
          const found = deliveries.get(id)
          if (found?.claimId === claimId) deliveries.set(id, { ...found, dueAt: at, claimId: null })
        }
      }),
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
          const kept = all.filter((one) => one.startedAt >= before || pruned++ >= limit)
          attempts.set(id, kept)
        }
        return Math.min(pruned, limit)
      })
  }
})
