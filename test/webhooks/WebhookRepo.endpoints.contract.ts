// The contract of every WebhookRepo for endpoints and their changes.
import { expect } from "bun:test"
import { Effect, type Layer, Option } from "effect"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { liveEffect } from "../support/run.ts"
import {
  type DeliveryServices,
  leaseDue,
  newLease,
  newShop,
  newTenant,
  refused,
  registerEndpoint,
  resultOf,
  settle
} from "./deliveries.ts"

const start = new Date("2026-05-01T12:00:00.000Z")
const after = (seconds: number) => new Date(start.getTime() + seconds * 1000)
const sealed = { kid: "test", ciphertext: new Uint8Array([9, 9]) }

const only = <A>(all: ReadonlyArray<A>): A => {
  const [one] = all
  if (one === undefined || all.length !== 1) throw new Error(`wanted one, got ${all.length}`)
  return one
}

/** Runs the contract on a layer that is rebuilt for each test. */
export const endpointContract = (layer: Layer.Layer<DeliveryServices>): void => {
  const it = <E>(name: string, effect: () => Effect.Effect<unknown, E, DeliveryServices>) =>
    liveEffect(name, () => Effect.provide(effect(), layer))

  it("an environment has one active endpoint, even if fifty are registered at once", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const tenant = yield* newTenant
      const made = yield* Effect.forEach(
        Array.from({ length: 50 }, () => crypto.randomUUID()),
        (id) =>
          repo.createEndpoint(
            tenant,
            { id, url: "https://a.example.com/", secret: sealed, secretLastFour: "abcd" },
            start
          ),
        { concurrency: "unbounded" }
      )
      expect(made.filter(Option.isSome)).toHaveLength(1)
      const live = yield* registerEndpoint({ ...tenant, env: "live" }, start)
      expect(live.endpoint).toMatchObject({
        env: "live",
        health: "unverified",
        listening: false,
        lastDeliveredAt: null,
        verifiedAt: null
      })
    }))

  it("a changed url and a new secret apply to waiting deliveries", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant, endpoint } = yield* newShop(start)
      yield* settle(tenant, start)
      const first = only(yield* leaseDue(start))
      yield* repo.changeUrl(tenant, "https://new.example.com/", after(1))
      const replaced = { secret: sealed, secretLastFour: "wxyz" }
      yield* repo.replaceSecret(tenant, endpoint.id, replaced, after(1))
      yield* repo.finish([resultOf(first, after(1), refused(after(61)))])
      const second = only(yield* leaseDue(after(61)))
      expect(second.target.url).toBe("https://new.example.com/")
      expect(Buffer.from(second.target.secret.ciphertext)).toEqual(Buffer.from(sealed.ciphertext))
    }))

  it("health, listening, lastDeliveredAt and verifiedAt follow the attempts to the current url", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      const endpoint = Effect.map(repo.findEndpoint(tenant), Option.getOrThrow)
      const attempt = Effect.fnUntraced(function* (at: Date, change: Parameters<typeof resultOf>[2]) {
        yield* settle(tenant, at)
        const leased = only(yield* leaseDue(at))
        yield* repo.finish([resultOf(leased, at, change)])
        return yield* endpoint
      })
      const failing = { status: "failed" } as const
      expect(
        yield* attempt(after(1), { ...failing, failure: "timeout", responseStatus: null })
      ).toMatchObject({
        health: "failing",
        listening: false,
        verifiedAt: null,
        lastDeliveredAt: null
      })
      expect(yield* attempt(after(10), { ...failing, failure: "status", responseStatus: 500 })).toMatchObject(
        {
          health: "failing",
          listening: true,
          verifiedAt: null
        }
      )
      const verified = { health: "healthy", listening: true, verifiedAt: after(20) }
      expect(yield* attempt(after(20), {})).toMatchObject({ ...verified, lastDeliveredAt: after(20) })
      expect(yield* attempt(after(30), {})).toMatchObject({ ...verified, lastDeliveredAt: after(30) })
      expect(
        yield* attempt(after(40), { ...failing, failure: "connect", responseStatus: null })
      ).toMatchObject({
        health: "failing",
        listening: false,
        verifiedAt: after(20),
        lastDeliveredAt: after(30)
      })
      yield* settle(tenant, after(50))
      const inFlight = only(yield* leaseDue(after(50)))
      const changed = Option.getOrThrow(yield* repo.changeUrl(tenant, "https://new.example.com/", after(51)))
      expect(changed).toMatchObject({ health: "unverified", listening: false, verifiedAt: null })
      yield* repo.finish([resultOf(inFlight, after(52))])
      expect(yield* endpoint).toMatchObject({ health: "unverified", verifiedAt: null })
    }))

  it("a deleted endpoint's waiting deliveries are cancelled, and move to the next endpoint, once", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      const { id } = yield* settle(tenant, start)
      expect(yield* repo.deleteEndpoint(tenant, after(1))).toBe(true)
      expect(yield* repo.deleteEndpoint(tenant, after(1))).toBe(false)
      expect(Option.getOrThrow(yield* repo.findDelivery(tenant, id)).status).toBe("cancelled")
      // A settlement without an endpoint does not move.
      const unsent = yield* settle(tenant, after(1))
      const { endpoint } = yield* registerEndpoint(tenant, after(2))
      const leased = only(yield* leaseDue(after(2)))
      expect(leased).toMatchObject({ id, attempt: 1, target: { endpointId: endpoint.id } })
      yield* repo.finish([resultOf(leased, after(3))])
      yield* repo.deleteEndpoint(tenant, after(4))
      yield* registerEndpoint(tenant, after(5))
      expect(yield* leaseDue(after(5))).toEqual([])
      expect(Option.getOrThrow(yield* repo.findDelivery(tenant, id)).status).toBe("delivered")
      expect(Option.getOrThrow(yield* repo.findDelivery(tenant, unsent.id)).status).toBe("cancelled")
    }))

  it("a day after an endpoint was deleted, its deliveries do not move to another", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      const { id } = yield* settle(tenant, start)
      yield* repo.deleteEndpoint(tenant, after(1))
      yield* registerEndpoint(tenant, after(1 + 86_401))
      expect(yield* leaseDue(after(1 + 86_401))).toEqual([])
      expect(Option.getOrThrow(yield* repo.findDelivery(tenant, id)).status).toBe("cancelled")
    }))

  it("in flight while its endpoint is deleted: a failure is recorded and not retried, a success counts", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      yield* settle(tenant, start)
      yield* settle(tenant, start)
      const [refusing, accepting] = yield* leaseDue(start)
      if (refusing === undefined || accepting === undefined) throw new Error("two were due")
      yield* repo.deleteEndpoint(tenant, after(1))
      yield* repo.finish([resultOf(refusing, after(2), refused(after(62))), resultOf(accepting, after(2))])
      expect(yield* leaseDue(after(1000))).toEqual([])
      expect(Option.getOrThrow(yield* repo.findDelivery(tenant, refusing.id))).toMatchObject({
        status: "cancelled",
        attempts: [{ number: 1, responseStatus: 500, failure: "status" }]
      })
      expect(Option.getOrThrow(yield* repo.findDelivery(tenant, accepting.id))).toMatchObject({
        status: "delivered",
        attempts: [{ responseStatus: 200 }]
      })
    }))

  it("interrupted while its endpoint was deleted: cancelled at the end of its lease, not sent", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      const { id } = yield* settle(tenant, start)
      yield* leaseDue(start)
      yield* repo.deleteEndpoint(tenant, after(1))
      expect(yield* leaseDue(after(30))).toEqual([])
      expect(Option.getOrThrow(yield* repo.findDelivery(tenant, id))).toMatchObject({
        status: "cancelled",
        attempts: [{ number: 1, failure: "interrupted" }]
      })
    }))

  it("a resend that its endpoint's deletion leaves unsent does not change the delivery's status", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      const statuses = ["delivered", "failed"] as const
      const ids = yield* Effect.forEach(statuses, () => Effect.map(settle(tenant, start), ({ id }) => id))
      const leased = yield* leaseDue(start)
      const resentOnce = Effect.fnUntraced(function* (at: Date) {
        const leases = yield* Effect.forEach(ids, (id) =>
          Effect.flatMap(newLease(at), (lease) => repo.leaseResend(tenant, id, lease))
        )
        return leases.map(Option.getOrThrow)
      })
      const found = Effect.forEach(ids, (id) =>
        Effect.map(repo.findDelivery(tenant, id), (one) => Option.getOrThrow(one).status)
      )
      yield* repo.finish(
        ids.map((id, index) => {
          const one = only(leased.filter((of) => of.id === id))
          const status = statuses[index] ?? "failed"
          return resultOf(one, after(1), status === "failed" ? { failure: "status", status } : {})
        })
      )
      yield* repo.release(yield* resentOnce(after(2)), after(3))
      yield* repo.deleteEndpoint(tenant, after(4))
      expect(yield* found).toEqual([...statuses])
      yield* registerEndpoint(tenant, after(5))
      yield* resentOnce(after(6))
      yield* repo.deleteEndpoint(tenant, after(7))
      expect(yield* leaseDue(after(36))).toEqual([])
      expect(yield* found).toEqual([...statuses])
    }))

  it("deliveries of a deleted endpoint use up none of a lease's limit", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      const left = yield* settle(tenant, start)
      yield* leaseDue(start)
      yield* repo.deleteEndpoint(tenant, after(1))
      const other = yield* newShop(start)
      const { id } = yield* settle(other.tenant, after(31))
      expect(only(yield* leaseDue(after(31), { limit: 1 }))).toMatchObject({ id })
      expect(Option.getOrThrow(yield* repo.findDelivery(tenant, left.id)).status).toBe("cancelled")
    }))

  it("of a long queue, 1,000 are cancelled with their endpoint and the others when they are due", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      const settled = yield* Effect.forEach(Array.from({ length: 1_002 }), () => settle(tenant, start), {
        concurrency: 32
      })
      const waiting = Effect.map(repo.listDeliveries(tenant, 2_000), (all) =>
        all.filter(({ status }) => status === "pending")
      )
      expect(yield* waiting).toHaveLength(settled.length)
      expect(yield* repo.deleteEndpoint(tenant, after(1))).toBe(true)
      expect(yield* waiting).toHaveLength(2)
      expect(yield* leaseDue(after(2))).toEqual([])
      expect(yield* waiting).toEqual([])
    }))

  it("of a long queue, cancelled deliveries and those not due yet move to the next endpoint", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      const settled = yield* Effect.forEach(Array.from({ length: 1_002 }), () => settle(tenant, start), {
        concurrency: 32
      })
      yield* repo.deleteEndpoint(tenant, after(1))
      const { endpoint } = yield* registerEndpoint(tenant, after(2))
      const leased = yield* leaseDue(after(2), { limit: 2_000, limitUnproven: 2_000, perEndpoint: 2_000 })
      expect(new Set(leased.map(({ id }) => id)).size).toBe(settled.length)
      expect(new Set(leased.map(({ target }) => target.endpointId))).toEqual(new Set([endpoint.id]))
    }))

  it("a settlement without an endpoint is stored as cancelled, and can be sent once there is one", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const tenant = yield* newTenant
      const { id, body } = yield* settle(tenant, start)
      expect(Option.isNone(yield* repo.leaseResend(tenant, id, yield* newLease(start)))).toBe(true)
      const { endpoint } = yield* registerEndpoint(tenant, after(1))
      const resent = Option.getOrThrow(yield* repo.leaseResend(tenant, id, yield* newLease(after(2))))
      expect(resent).toMatchObject({
        id,
        attempt: 1,
        resentFrom: "cancelled",
        target: { endpointId: endpoint.id }
      })
      expect(Buffer.from(resent.body)).toEqual(Buffer.from(body))
    }))
}
