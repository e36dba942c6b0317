// The contract of every WebhookRepo for the feed of events.
import { expect } from "bun:test"
import { Effect, type Layer, Option } from "effect"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { liveEffect } from "../support/run.ts"
import { type DeliveryServices, leaseDue, newLease, newShop, newTenant, settle } from "./deliveries.ts"

const start = new Date("2026-05-01T12:00:00.000Z")
const after = (seconds: number) => new Date(start.getTime() + seconds * 1000)

/** Runs the contract on a layer that is rebuilt for each test. */
export const eventsContract = (layer: Layer.Layer<DeliveryServices>): void => {
  const it = <E>(name: string, effect: () => Effect.Effect<unknown, E, DeliveryServices>) =>
    liveEffect(name, () => Effect.provide(effect(), layer))

  it("events come in pages, each once, with the bytes that are delivered and their payment", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      const settled = yield* Effect.forEach([1, 2, 3, 4, 5], (second) => settle(tenant, after(second)))
      yield* settle(yield* newTenant, start)
      const read: Array<string> = []
      for (let page = 0, last: string | undefined; page < 3; page++) {
        const { events, hasMore } = Option.getOrThrow(
          yield* repo.listEvents(tenant, { limit: 2, after: last })
        )
        expect(hasMore).toBe(page < 2)
        for (const event of events) {
          const source = settled.find((one) => one.id === event.id)
          expect(event.paymentId).toBe(source?.paymentId ?? null)
          expect(Buffer.from(event.body)).toEqual(Buffer.from(source?.body ?? []))
          read.push(event.id)
        }
        last = events.at(-1)?.id
      }
      expect(read).toEqual(settled.map((one) => one.id))
      const again = Option.getOrThrow(yield* repo.listEvents(tenant, { limit: 100, after: undefined }))
      expect(again.events.map((one) => one.id)).toEqual(read)
    }))

  it("an event with an earlier time that commits later comes after those already read", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      const first = yield* settle(tenant, after(10))
      expect(yield* repo.listEvents(tenant, { limit: 10, after: undefined })).toMatchObject({
        value: { events: [{ id: first.id }], hasMore: false }
      })
      const late = yield* settle(tenant, after(-3600))
      expect(yield* repo.listEvents(tenant, { limit: 10, after: first.id })).toMatchObject({
        value: { events: [{ id: late.id }] }
      })
    }))

  it("an event keeps its position while it is delivered, and exists without an endpoint", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      const first = yield* settle(tenant, start)
      const list = Effect.map(repo.listEvents(tenant, { limit: 10, after: undefined }), (page) =>
        Option.getOrThrow(page).events.map((one) => one.id)
      )
      expect(yield* list).toEqual([first.id])
      yield* leaseDue(start)
      yield* repo.deleteEndpoint(tenant, after(1))
      const second = yield* settle(tenant, after(2))
      expect(yield* list).toEqual([first.id, second.id])
      expect(yield* list).toEqual([first.id, second.id])
    }))

  it("a test is an event without a payment", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      const id = crypto.randomUUID()
      yield* repo.leaseTest(tenant, { id, body: new Uint8Array([123, 125]) }, yield* newLease(start))
      expect(yield* repo.findEvent(tenant, id)).toMatchObject({ value: { id, paymentId: null } })
      expect(yield* repo.listEvents(tenant, { limit: 1, after: undefined })).toMatchObject({
        value: { events: [{ id, paymentId: null, createdAt: start }] }
      })
    }))

  it("events of other merchants and unknown ids are not found", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      const other = yield* newTenant
      const { id } = yield* settle(tenant, start)
      for (const stranger of [other, { ...tenant, env: "live" as const }]) {
        expect(Option.isNone(yield* repo.findEvent(stranger, id))).toBe(true)
        expect(Option.isNone(yield* repo.listEvents(stranger, { limit: 5, after: id }))).toBe(true)
      }
      expect(yield* repo.listEvents(other, { limit: 5, after: undefined })).toMatchObject({
        value: { events: [], hasMore: false }
      })
    }))

  it("a lease contains its order; a test event has none", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      const { paymentId } = yield* settle(tenant, start)
      const order = { paymentId, intentUrl: "https://shop.example.com/1" }
      expect(yield* leaseDue(start)).toMatchObject([{ order }])
      const id = crypto.randomUUID()
      const leased = yield* repo.leaseTest(tenant, { id, body: new Uint8Array([1]) }, yield* newLease(start))
      expect(Option.getOrThrow(leased).order).toBeNull()
    }))
}
