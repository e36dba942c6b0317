// The contract of every WebhookRepo for deliveries.
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
  resultOf,
  settle
} from "./deliveries.ts"

const start = new Date("2026-05-01T12:00:00.000Z")
const after = (seconds: number) => new Date(start.getTime() + seconds * 1000)

const only = <A>(all: ReadonlyArray<A>): A => {
  const [one] = all
  if (one === undefined || all.length !== 1) throw new Error(`wanted one, got ${all.length}`)
  return one
}

/** Runs the contract on a layer that is rebuilt for each test. */
export const webhookRepoContract = (layer: Layer.Layer<DeliveryServices>): void => {
  const it = <E>(name: string, effect: () => Effect.Effect<unknown, E, DeliveryServices>) =>
    liveEffect(name, () => Effect.provide(effect(), layer))

  it("a settlement's delivery is leased with its bytes, its number, url and secret", () =>
    Effect.gen(function* () {
      const { tenant, endpoint } = yield* newShop(start)
      const { id, body } = yield* settle(tenant, start)
      expect(yield* leaseDue(after(-1))).toEqual([])
      const leased = only(yield* leaseDue(start))
      expect(leased).toMatchObject({
        ...tenant,
        id,
        type: "payment.settled",
        attempt: 1,
        interruptions: 0,
        resentFrom: null,
        leaseUntil: after(30),
        target: { endpointId: endpoint.id, url: endpoint.url }
      })
      expect(Buffer.from(leased.body)).toEqual(Buffer.from(body))
      const repo = yield* WebhookRepo
      expect(Option.getOrThrow(yield* repo.findDelivery(tenant, id))).toMatchObject({
        status: "pending",
        attempts: [{ number: 1, manual: false, startedAt: start, durationMs: null, failure: null }]
      })
    }))

  it("a lease lasts until its lease ends; the next one repeats the number and counts an interruption", () =>
    Effect.gen(function* () {
      const { tenant } = yield* newShop(start)
      const { id } = yield* settle(tenant, start)
      yield* leaseDue(start)
      expect(yield* leaseDue(after(29.999))).toEqual([])
      for (let interruptions = 1; interruptions <= 5; interruptions++) {
        expect(only(yield* leaseDue(after(30 * interruptions)))).toMatchObject({
          id,
          attempt: 1,
          interruptions
        })
      }
      const repo = yield* WebhookRepo
      expect(Option.getOrThrow(yield* repo.findDelivery(tenant, id)).attempts).toMatchObject([
        { number: 1, startedAt: after(150) }
      ])
    }))

  it("only the lease's holder records an outcome, and once", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      const { id } = yield* settle(tenant, start)
      const late = only(yield* leaseDue(start))
      const holder = only(yield* leaseDue(after(30)))
      expect(yield* repo.finish([resultOf(late, after(31), refused(after(91)))])).toEqual([])
      expect(yield* repo.finish([resultOf(holder, after(32))])).toEqual([{ id, status: "delivered" }])
      expect(yield* repo.finish([resultOf(late, after(33), refused(after(93)))])).toEqual([])
      expect(yield* repo.finish([resultOf(holder, after(33), refused(after(93)))])).toEqual([])
      expect(yield* leaseDue(after(1000))).toEqual([])
      expect(Option.getOrThrow(yield* repo.findDelivery(tenant, id))).toMatchObject({
        status: "delivered",
        attempts: [{ number: 1, responseStatus: 200, durationMs: 12, failure: null }]
      })
    }))

  it("a failed delivery is due when its result says, not before, with the next number", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      const { id } = yield* settle(tenant, start)
      const first = only(yield* leaseDue(start))
      expect(yield* repo.finish([resultOf(first, after(1), refused(after(61)))])).toEqual([
        { id, status: "pending" }
      ])
      expect(yield* leaseDue(after(60.999))).toEqual([])
      const second = only(yield* leaseDue(after(61)))
      expect(second).toMatchObject({ attempt: 2, interruptions: 0 })
      expect(Buffer.from(second.body)).toEqual(Buffer.from(first.body))
      const gone = { responseStatus: null, failure: "timeout", status: "failed" } as const
      expect(yield* repo.finish([resultOf(second, after(62), gone)])).toEqual([{ id, status: "failed" }])
      expect(Option.getOrThrow(yield* repo.findDelivery(tenant, id))).toMatchObject({
        status: "failed",
        attempts: [
          { number: 1, responseStatus: 500, failure: "status" },
          { number: 2, responseStatus: null, failure: "timeout" }
        ]
      })
    }))

  it("records a batch of outcomes together, without those whose lease was lost", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      yield* Effect.forEach(Array.from({ length: 20 }), () => settle(tenant, start))
      const leased = yield* leaseDue(start)
      const lost = leased[7]
      if (lost === undefined) throw new Error("nothing leased")
      const results = leased.map((one) =>
        resultOf(one === lost ? { ...one, leaseId: crypto.randomUUID() } : one, after(1))
      )
      const finished = yield* repo.finish(results)
      expect(finished.map((one) => one.id).sort()).toEqual(
        leased
          .filter((one) => one !== lost)
          .map((one) => one.id)
          .sort()
      )
      expect(yield* repo.finish([])).toEqual([])
    }))

  it("releases a lease: due at once, with the same number, without an interruption", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      yield* settle(tenant, start)
      const first = only(yield* leaseDue(start))
      yield* repo.release([{ id: first.id, leaseId: crypto.randomUUID() }], after(1))
      expect(yield* leaseDue(after(1))).toEqual([])
      yield* repo.release([first], after(1))
      expect(only(yield* leaseDue(after(1)))).toMatchObject({ attempt: 1, interruptions: 0 })
      yield* repo.release([first], after(2))
      expect(yield* leaseDue(after(2))).toEqual([])
    }))

  it("reads a queue from its given start, and all others in full", () =>
    Effect.gen(function* () {
      const shops = yield* Effect.replicateEffect(newShop(start), 4)
      for (const { tenant } of shops)
        yield* Effect.forEach([0, 1, 2], (second) => settle(tenant, after(second)))
      const sorted = shops.map(({ endpoint }) => endpoint.id).toSorted()
      for (const told of [[sorted[0]], [sorted[1], sorted[2]], [sorted[3]], sorted]) {
        const repo = yield* WebhookRepo
        const endpoints = told.filter((id) => id !== undefined)
        const queueStarts = endpoints.map((endpointId) => ({ endpointId, from: after(1) }))
        const leased = yield* leaseDue(after(100), { queueStarts })
        for (const id of sorted) {
          const of = leased.filter(({ target }) => target.endpointId === id)
          expect(
            of.map(({ wasDueAt }) => wasDueAt).toSorted((left, right) => Number(left) - Number(right))
          ).toEqual(endpoints.includes(id) ? [after(1), after(2)] : [after(0), after(1), after(2)])
        }
        yield* Effect.forEach(leased, (one) => repo.release([one], one.wasDueAt), { discard: true })
      }
    }))

  it("leases within each endpoint's capacity and the limit, oldest first, despite other long queues", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const busy = yield* newShop(start)
      const quiet = yield* newShop(start)
      yield* Effect.forEach([...Array(12).keys()], (n) => settle(busy.tenant, after(n)))
      yield* settle(quiet.tenant, after(50))
      const capacities = [{ endpointId: busy.endpoint.id, capacity: 3, accepts: null }]
      const leased = yield* leaseDue(after(100), { perEndpoint: 4, capacities })
      const of = (endpointId: string) => leased.filter((one) => one.target.endpointId === endpointId)
      expect([of(busy.endpoint.id).length, of(quiet.endpoint.id).length]).toEqual([3, 1])
      const full = [{ endpointId: busy.endpoint.id, capacity: 0, accepts: null }]
      expect(yield* leaseDue(after(100), { capacities: full })).toEqual([])
      expect(yield* leaseDue(after(100), { limit: 2 })).toHaveLength(2)
      expect(yield* leaseDue(after(100), { perEndpoint: 4 })).toHaveLength(4)
      const oldest = yield* repo.listDeliveries(busy.tenant, 20)
      expect(
        oldest
          .slice(-9)
          .map((one) => one.attempts.length)
          .reduce((sum, n) => sum + n, 0)
      ).toBe(9)
    }))

  it("a resend takes only finished deliveries of the tenant, with the next number", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      const other = yield* newShop(start)
      const { id } = yield* settle(tenant, start)
      const resend = (by = tenant, deliveryId = id) =>
        Effect.flatMap(newLease(after(10)), (lease) => repo.leaseResend(by, deliveryId, lease))
      expect(Option.isNone(yield* resend())).toBe(true)
      yield* repo.finish([resultOf(only(yield* leaseDue(start)), after(1))])
      expect(Option.isNone(yield* resend(other.tenant))).toBe(true)
      expect(Option.isNone(yield* resend(tenant, crypto.randomUUID()))).toBe(true)
      const twice = yield* Effect.all([resend(), resend()], { concurrency: 2 })
      const leased = only(twice.flatMap(Option.toArray))
      expect(leased).toMatchObject({ id, attempt: 2, interruptions: 0, resentFrom: "delivered" })
      const interrupted = only(yield* leaseDue(after(40)))
      expect(interrupted).toMatchObject({ attempt: 2, interruptions: 1, resentFrom: "delivered" })
      const failed = { failure: "status", responseStatus: 500, status: "delivered" } as const
      yield* repo.finish([resultOf(interrupted, after(41), failed)])
      expect(Option.getOrThrow(yield* repo.findDelivery(tenant, id))).toMatchObject({
        status: "delivered",
        attempts: [
          { number: 1, manual: false, responseStatus: 200 },
          { number: 2, manual: true, responseStatus: 500 }
        ]
      })
    }))

  it("a test delivery is queued and leased in one step, and needs an endpoint", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const delivery = { id: crypto.randomUUID(), body: new TextEncoder().encode("{}") }
      const none = yield* repo.leaseTest(yield* newTenant, delivery, yield* newLease(start))
      expect(Option.isNone(none)).toBe(true)
      const { tenant } = yield* newShop(start)
      const leased = Option.getOrThrow(yield* repo.leaseTest(tenant, delivery, yield* newLease(start)))
      expect(leased).toMatchObject({ id: delivery.id, type: "test", attempt: 1, resentFrom: null })
      expect(yield* leaseDue(after(29))).toEqual([])
      expect(only(yield* leaseDue(after(30)))).toMatchObject({
        id: delivery.id,
        attempt: 1,
        interruptions: 1
      })
    }))

  it("prunes old attempts in batches; deliveries stay, and so do attempts of waiting deliveries", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      yield* Effect.forEach(Array.from({ length: 3 }), () => settle(tenant, start))
      const finished = yield* leaseDue(start)
      yield* repo.finish(finished.map((one) => resultOf(one, after(1))))
      const waiting = yield* settle(tenant, start)
      yield* repo.finish([resultOf(only(yield* leaseDue(start)), after(1), refused(after(61)))])
      const recent = yield* settle(tenant, after(10))
      yield* repo.finish([resultOf(only(yield* leaseDue(after(10))), after(11))])
      expect([yield* repo.prune(after(5), 2), yield* repo.prune(after(5), 2)]).toEqual([2, 1])
      expect(yield* repo.prune(after(5), 2)).toBe(0)
      const kept = (yield* repo.listDeliveries(tenant, 10)).map((one) => [one.id, one.attempts.length])
      expect(new Map(kept.map(([id, count]) => [String(id), count]))).toEqual(
        new Map([...finished.map((one): [string, number] => [one.id, 0]), [waiting.id, 1], [recent.id, 1]])
      )
      const [again] = finished
      if (again === undefined) throw new Error("three were finished")
      const resent = yield* repo.leaseResend(tenant, again.id, yield* newLease(after(20)))
      expect(Option.getOrThrow(resent).attempt).toBe(2)
    }))
}
