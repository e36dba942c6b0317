// Races on a real Postgres: several workers, lost leases, endpoints deleted while settlements arrive.
import { describe, expect } from "bun:test"
import { Effect, Layer, Option, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { Attempts } from "../../src/webhooks/DeliveryWorker/Attempts.ts"
import * as DeliveryWorker from "../../src/webhooks/DeliveryWorker.ts"
import { WebhookEndpoints } from "../../src/webhooks/WebhookEndpoints.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { answered } from "../../src/webhooks/WebhookSender/SendOutcome.ts"
import { WebhookSenderMemory } from "../../src/webhooks/WebhookSender.ts"
import { testDatabase } from "../support/database.ts"
import { liveEffect } from "../support/run.ts"
import { hookUrl, leaseDue, newShop, refused, resultOf, settle } from "./deliveries.ts"
import { besideRepos } from "./deliverySide.ts"

const newId = Effect.flatMap(SecureRandom.SecureRandom, (random) => random.uuidV4())

const pendingCount = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql`SELECT count(*)::int AS count FROM webhook_deliveries WHERE status = 'pending'`,
    ([row]) => row?.["count"]
  )
)
const atRest = pendingCount.pipe(
  Effect.delay("50 millis"),
  Effect.repeat({ until: (count) => count === 0 }),
  Effect.timeout("20 seconds")
)

const onPostgres = Layer.merge(
  Attempts.layer,
  WebhookEndpoints.layer.pipe(Layer.provide(Attempts.layer))
).pipe(
  Layer.provideMerge(Layer.mergeAll(PaymentRepo.layer, KeyAuth.layer, WebhookRepo.layer)),
  Layer.provideMerge(besideRepos),
  Layer.provideMerge(testDatabase.layer)
)
const instance = Layer.fresh(DeliveryWorker.layer.pipe(Layer.provide(Layer.fresh(Attempts.layer))))

/** The leases of a process that was last seen 2.2 s ago, with leases of 30 s. */
const leases = (now: number) => ({
  at: new Date(now),
  leasedBefore: new Date(now + 27_800),
  leasedAfter: new Date(now + 60_000)
})

describe("races on Postgres", () => {
  liveEffect(
    "a process presumed dead keeps its leases from after it was last seen, and loses the earlier ones",
    () =>
      Effect.gen(function* () {
        const repo = yield* WebhookRepo
        const { tenant } = yield* newShop(new Date())
        const worker = "01a20000-0000-7000-8000-00000000000a"
        const watcher = "01a20000-0000-7000-8000-00000000000b"
        yield* repo.heartbeat(worker)
        const [seen] = yield* repo.heartbeat(watcher)
        if (seen === undefined) throw new Error("the other was not seen")
        const lease = (agoMillis: number) =>
          Effect.gen(function* () {
            yield* settle(tenant, new Date(Date.now() - 10_000))
            return yield* leaseDue(new Date(Date.now() - agoMillis), { leasedBy: worker, limit: 1 })
          })
        const [early] = yield* lease(5_000)
        const [late] = yield* lease(0)
        expect(yield* repo.takeOverDead(seen, leases(Date.now()))).toBe(1)
        // It is gone: taking it over again frees nothing.
        expect(
          yield* repo.takeOverDead(seen, {
            at: new Date(),
            leasedBefore: new Date(Date.now() + 60_000),
            leasedAfter: new Date()
          })
        ).toBe(0)
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql`SELECT id FROM webhook_deliveries WHERE due_at <= now() + interval '1 second'`
        expect(rows.map((row) => row["id"])).toEqual([early?.id])
        expect(late).toBeDefined()
      }).pipe(Effect.provide(onPostgres))
  )

  liveEffect("a dead process's leases from when the clock was hours ahead are freed", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(new Date())
      const worker = "01a20000-0000-7000-8000-00000000000e"
      yield* repo.heartbeat(worker)
      const [seen] = (yield* repo.heartbeat("01a20000-0000-7000-8000-00000000000f")).filter(
        ({ id }) => id === worker
      )
      if (seen === undefined) throw new Error("the other was not seen")
      yield* settle(tenant, new Date(Date.now() - 10_000))
      const ahead = new Date(Date.now() + 6 * 3_600_000)
      const leased = yield* leaseDue(ahead, { leasedBy: worker, limit: 1 })
      expect(leased).toHaveLength(1)
      expect(yield* repo.takeOverDead(seen, leases(Date.now()))).toBe(1)
    }).pipe(Effect.provide(onPostgres))
  )

  liveEffect("a resend stays leased when the process that delivered it before is presumed dead", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(new Date())
      const worker = "01a20000-0000-7000-8000-00000000000c"
      yield* repo.heartbeat(worker)
      const [seen] = (yield* repo.heartbeat("01a20000-0000-7000-8000-00000000000d")).filter(
        ({ id }) => id === worker
      )
      if (seen === undefined) throw new Error("the other was not seen")
      yield* settle(tenant, new Date(Date.now() - 10_000))
      const at = new Date(Date.now() - 5_000)
      const lease = { leaseId: yield* newId, at, leaseUntil: new Date(at.getTime() + 30_000) }
      const [first] = yield* leaseDue(at, { ...lease, leasedBy: worker, limit: 1 })
      if (first === undefined) throw new Error("nothing was due")
      yield* repo.finish([resultOf(first, at)])
      const again = Option.getOrThrow(
        yield* repo.leaseResend(tenant, first.id, { ...lease, leaseId: yield* newId })
      )
      const now = Date.now()
      expect(yield* repo.takeOverDead(seen, leases(now))).toBe(0)
      expect(yield* repo.finish([resultOf(again, new Date())])).toEqual([
        { id: first.id, status: "delivered" }
      ])
    }).pipe(Effect.provide(onPostgres))
  )

  liveEffect("concurrent leases never share a delivery, and only the lease's holder finishes it", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(new Date())
      yield* Effect.forEach(Array.from({ length: 60 }), () => settle(tenant, new Date()), {
        concurrency: 16
      })
      const at = new Date()
      const leases = yield* Effect.forEach(
        Array.from({ length: 24 }),
        () => leaseDue(at, { limit: 10, perEndpoint: 10 }),
        { concurrency: "unbounded" }
      )
      const all = leases.flat()
      expect(new Set(all.map((one) => one.id)).size).toBe(all.length)
      const [mine] = all
      if (mine === undefined) throw new Error("nothing leased")
      const stranger = { ...mine, leaseId: yield* newId }
      const later = new Date(at.getTime() + 60_000)
      const outcomes = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, index) => index),
        (index) =>
          repo.finish([index % 2 === 0 ? resultOf(mine, at) : resultOf(stranger, at, refused(later))]),
        { concurrency: "unbounded" }
      )
      expect(outcomes.flat()).toEqual([{ id: mine.id, status: "delivered" }])
    }).pipe(Effect.provide(onPostgres))
  )

  liveEffect("a lease skips rows that another is leasing, without waiting", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { tenant } = yield* newShop(new Date())
      const held = yield* settle(tenant, new Date())
      const free = yield* settle(tenant, new Date())
      const lease = leaseDue(new Date()).pipe(
        Effect.timeout("3 seconds"),
        Effect.provideContext(yield* Effect.context<WebhookRepo | SecureRandom.SecureRandom>())
      )
      const leased = yield* sql.withTransaction(
        Effect.andThen(
          sql`SELECT id FROM webhook_deliveries WHERE id = ${held.id} FOR UPDATE`,
          // On another connection than the transaction's.
          Effect.promise(() => Effect.runPromise(lease))
        )
      )
      expect(leased.map((one) => one.id)).toEqual([free.id])
    }).pipe(Effect.provide(onPostgres))
  )

  liveEffect("concurrent finishes for many endpoints from many instances do not deadlock", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const shops = yield* Effect.forEach([...Array(8).keys()], (index) =>
        newShop(new Date(), `https://shop${index}.example.com/`)
      )
      for (let round = 0; round < 10; round++) {
        yield* Effect.forEach(
          shops,
          (shop) => Effect.all([settle(shop.tenant, new Date()), settle(shop.tenant, new Date())]),
          {
            concurrency: 8
          }
        )
        const leased = yield* leaseDue(new Date())
        // Every batch touches every endpoint, in another order, and changes its health.
        const halves = [0, 1].map((half) => leased.filter((_, index) => index % 2 === half))
        const failure = { failure: "status", responseStatus: 500, status: "failed" } as const
        const finished = yield* Effect.forEach(
          halves,
          (batch, half) =>
            repo.finish(
              (half === 0 ? batch : [...batch].reverse()).map((one) =>
                resultOf(one, new Date(), (round + half) % 2 === 0 ? failure : {})
              )
            ),
          { concurrency: 2 }
        )
        expect(finished.flat()).toHaveLength(16)
      }
    }).pipe(Effect.provide(onPostgres))
  )

  liveEffect(
    "endpoints that are deleted and created again while settlements arrive leave nothing stuck",
    () =>
      Effect.gen(function* () {
        const endpoints = yield* WebhookEndpoints
        const sender = yield* WebhookSenderMemory
        yield* sender.script(hookUrl, [answered(500)])
        const { tenant } = yield* newShop(new Date())
        yield* Layer.buildWithScope(instance, yield* Scope.Scope)
        yield* Effect.all(
          [
            Effect.forEach(Array.from({ length: 200 }), () => settle(tenant, new Date()), { concurrency: 8 }),
            Effect.forEach(Array.from({ length: 30 }), () =>
              Effect.andThen(
                Effect.ignore(endpoints.remove(tenant)),
                Effect.ignore(endpoints.create(tenant, hookUrl))
              )
            )
          ],
          { concurrency: 2 }
        )
        yield* endpoints.remove(tenant)
        // If a finish did not see the deletion, the next lease of its delivery cancels it.
        const sql = yield* SqlClient.SqlClient
        yield* Effect.sleep("500 millis")
        yield* sql`UPDATE webhook_deliveries SET due_at = ${new Date()} WHERE status = 'pending' AND claim_id IS NULL`
        yield* atRest
        const rows =
          yield* sql`SELECT count(*)::int AS count FROM webhook_deliveries WHERE status = 'cancelled'`
        expect(rows).toEqual([{ count: 200 }])
      }).pipe(Effect.provide(onPostgres))
  )

  liveEffect("an exhausted delivery raises one alert row, in the statement that records it", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const sql = yield* SqlClient.SqlClient
      const { tenant } = yield* newShop(new Date())
      const { id } = yield* settle(tenant, new Date())
      const at = new Date()
      const [leased] = yield* leaseDue(at)
      if (leased === undefined) throw new Error("nothing leased")
      const failure = { failure: "timeout", responseStatus: null, status: "failed" } as const
      yield* repo.finish([resultOf(leased, at, failure)])
      expect(yield* sql`SELECT merchant_id, env, kind, subject FROM alerts`).toEqual([
        { merchant_id: tenant.merchantId, env: "test", kind: "webhook_exhausted", subject: id }
      ])
    }).pipe(Effect.provide(onPostgres))
  )
})
