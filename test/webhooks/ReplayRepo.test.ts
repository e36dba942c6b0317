// The operator's replay of permanently failed deliveries.
import { describe, expect } from "bun:test"
import { Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { SecretBox } from "../../src/platform/SecretBox.ts"
import { ReplayRepo } from "../../src/webhooks/ReplayRepo.ts"
import { UnsentRepo } from "../../src/webhooks/UnsentRepo.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { countingDatabase } from "../support/database.ts"
import { testConfig } from "../support/memory.ts"
import { liveEffect } from "../support/run.ts"
import { leaseDue, newShop, newTenant, registerEndpoint, resultOf, settle } from "./deliveries.ts"

const start = new Date("2026-05-01T12:00:00.000Z")
const hour = 3_600_000

let roundTrips = 0
const services = Layer.mergeAll(
  PaymentRepo.layer,
  KeyAuth.layer,
  WebhookRepo.layer,
  ReplayRepo.layer,
  UnsentRepo.layer
).pipe(
  Layer.provideMerge(SecretBox.layer.pipe(Layer.provide(testConfig()))),
  Layer.provideMerge(countingDatabase(() => roundTrips++).layer),
  Layer.provideMerge(SecureRandom.layerWebCrypto)
)

describe("a replay of failed deliveries", () => {
  liveEffect("queues each of them once, a thousand at a time, among other deliveries", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const replays = yield* ReplayRepo
      const { endpoint, tenant } = yield* newShop(start)
      const other = yield* newShop(start)
      /** This many deliveries of a shop, a second apart. */
      const stored = (shop: typeof other, status: string, count: number, from: Date) => sql`
        INSERT INTO webhook_deliveries
          (id, merchant_id, env, endpoint_id, type, body, status, attempts, created_at, finished_at)
        SELECT gen_random_uuid(), ${shop.tenant.merchantId}::uuid, ${shop.tenant.env}, ${shop.endpoint.id}::uuid,
          'test', ''::bytea, ${status}, 3, ${from}::timestamptz + number * interval '1 second', ${start}::timestamptz
        FROM generate_series(1, ${count}::integer) AS number`
      yield* stored({ ...other, endpoint, tenant }, "failed", 2_500, start)
      yield* stored({ ...other, endpoint, tenant }, "failed", 10, new Date(start.getTime() - hour))
      yield* stored({ ...other, endpoint, tenant }, "delivered", 10, start)
      yield* stored(other, "failed", 10, start)
      const at = new Date(start.getTime() + 24 * hour)
      roundTrips = 0
      expect(yield* replays.replayFailed(tenant, start, at)).toBe(2_500)
      expect(roundTrips).toBeGreaterThanOrEqual(3)
      expect(yield* replays.replayFailed(tenant, start, at)).toBe(0)
      const waiting = yield* sql`
        SELECT endpoint_id, count(*)::int AS count, min(due_at) AS due FROM webhook_deliveries
        WHERE status = 'pending' AND resent_from = 'failed' GROUP BY endpoint_id`
      expect(waiting).toEqual([{ endpoint_id: endpoint.id, count: 2_500, due: at }])
    }).pipe(Effect.provide(services))
  )

  liveEffect("sends settlements that had no endpoint once; until then alerts give their number", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const replays = yield* ReplayRepo
      const unsent = yield* UnsentRepo
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      const never = yield* newTenant
      yield* settle(never, start)
      const sent = yield* settle(tenant, start)
      const [leased] = yield* leaseDue(start)
      if (leased === undefined) throw new Error("one was due")
      yield* repo.finish([resultOf(leased, start)])
      yield* repo.deleteEndpoint(tenant, start)
      const minutes = (count: number) => new Date(start.getTime() + count * 60_000)
      const open = sql`SELECT merchant_id, message FROM alerts
        WHERE kind = 'settlements_unsent' AND acknowledged_at IS NULL`
      yield* settle(tenant, start)
      yield* unsent.raiseAlerts(start)
      expect(yield* open).toEqual([])
      yield* unsent.raiseAlerts(minutes(1))
      expect(yield* open).toMatchObject([
        {
          merchant_id: tenant.merchantId,
          message: expect.stringContaining("1 settled payment was not reported to your server")
        }
      ])
      yield* settle(tenant, minutes(2))
      yield* unsent.raiseAlerts(minutes(3))
      expect(yield* open).toMatchObject([{ message: expect.stringContaining("2 settled payments were") }])
      expect([yield* unsent.count(tenant), yield* unsent.count(never)]).toEqual([2, 1])
      // After an acknowledgement only new ones raise an alert.
      yield* sql`UPDATE alerts SET acknowledged_at = ${minutes(3)}, acknowledged_by = 'ada@example.com'`
      yield* unsent.raiseAlerts(minutes(4))
      expect(yield* open).toEqual([])
      yield* settle(tenant, minutes(5))
      yield* unsent.raiseAlerts(minutes(6))
      expect(yield* open).toMatchObject([{ message: expect.stringContaining("1 settled payment was") }])
      expect(yield* replays.replayUnsent(tenant, start, minutes(7))).toBe(0)
      yield* registerEndpoint(tenant, minutes(7))
      expect(yield* replays.replayUnsent(tenant, start, minutes(7))).toBe(3)
      expect(yield* replays.replayUnsent(tenant, start, minutes(7))).toBe(0)
      yield* unsent.raiseAlerts(minutes(8))
      expect(yield* open).toEqual([])
      const ids = (yield* leaseDue(minutes(8))).map(({ id }) => id)
      expect(ids).toHaveLength(3)
      expect(ids).not.toContain(sent.id)
    }).pipe(Effect.provide(services))
  )

  liveEffect("that its endpoint's deletion leaves unsent can be repeated with another endpoint", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const replays = yield* ReplayRepo
      const { tenant } = yield* newShop(start)
      yield* settle(tenant, start)
      const [leased] = yield* leaseDue(start)
      if (leased === undefined) throw new Error("one was due")
      yield* repo.finish([resultOf(leased, start, { failure: "status", status: "failed" })])
      expect(yield* replays.replayFailed(tenant, start, start)).toBe(1)
      yield* repo.deleteEndpoint(tenant, start)
      expect(yield* replays.replayFailed(tenant, start, start)).toBe(0)
      const { endpoint } = yield* registerEndpoint(tenant, start)
      expect(yield* replays.replayFailed(tenant, start, start)).toBe(1)
      expect(yield* leaseDue(start)).toMatchObject([
        { id: leased.id, attempt: 2, resentFrom: "failed", target: { endpointId: endpoint.id } }
      ])
      // The sending instance dies, and this endpoint is deleted too.
      const later = new Date(start.getTime() + 30_000)
      yield* repo.deleteEndpoint(tenant, later)
      expect(yield* leaseDue(later)).toEqual([])
      const second = Effect.map(
        repo.findDelivery(tenant, leased.id),
        (found) => Option.getOrThrow(found).attempts[1]
      )
      expect(yield* second).toMatchObject({ number: 2, failure: "interrupted" })
      yield* registerEndpoint(tenant, later)
      expect(yield* replays.replayFailed(tenant, start, later)).toBe(1)
      expect(yield* leaseDue(later)).toMatchObject([{ id: leased.id, attempt: 2 }])
      expect(yield* second).toMatchObject({ number: 2, startedAt: later, durationMs: null, failure: null })
    }).pipe(Effect.provide(services))
  )
})
