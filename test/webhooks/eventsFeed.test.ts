// The feed's order on a real Postgres, with settlements that commit late and readers that race.
import { describe, expect } from "bun:test"
import { Deferred, Effect, Fiber, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { Tenant } from "../../src/domain/Merchant.ts"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { SecretBox } from "../../src/platform/SecretBox.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { testDatabase } from "../support/database.ts"
import { testConfig } from "../support/memory.ts"
import { liveEffect } from "../support/run.ts"
import { newShop, settle } from "./deliveries.ts"

const start = new Date("2026-05-01T12:00:00.000Z")
const after = (seconds: number) => new Date(start.getTime() + seconds * 1000)

const idsAfter = (tenant: Tenant, last: string | undefined, limit = 100) =>
  Effect.flatMap(WebhookRepo, (repo) =>
    Effect.map(repo.listEvents(tenant, { limit, after: last }), (page) =>
      Option.getOrThrow(page).events.map((one) => one.id)
    )
  )

describe("The feed of events", () => {
  const layer = Layer.mergeAll(
    PaymentRepo.layer,
    KeyAuth.layer,
    WebhookRepo.layer,
    SecretBox.layer.pipe(Layer.provide(testConfig()))
  ).pipe(Layer.provideMerge(SecureRandom.layerWebCrypto), Layer.provideMerge(testDatabase.layer))

  liveEffect("a settlement that commits after a later one was read comes next", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { tenant } = yield* newShop(start)
      const written = yield* Deferred.make<string>()
      const mayCommit = yield* Deferred.make<void>()
      const late = yield* sql
        .withTransaction(
          Effect.gen(function* () {
            const { id } = yield* settle(tenant, after(1))
            yield* Deferred.succeed(written, id)
            yield* Deferred.await(mayCommit)
          })
        )
        .pipe(Effect.forkChild)
      const lateId = yield* Deferred.await(written)
      const { id } = yield* settle(tenant, after(2))
      expect(yield* idsAfter(tenant, undefined)).toEqual([id])
      yield* Deferred.succeed(mayCommit, undefined)
      yield* Fiber.join(late)
      expect(yield* idsAfter(tenant, id)).toEqual([lateId])
      expect(yield* idsAfter(tenant, undefined)).toEqual([id, lateId])
    }).pipe(Effect.provide(layer))
  )

  liveEffect("an event behind a quarter of a million without a position is found", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { tenant } = yield* newShop(start)
      const count = 251_000
      yield* sql`
        INSERT INTO webhook_deliveries (id, merchant_id, env, type, body, status, created_at)
        SELECT gen_random_uuid(), ${tenant.merchantId}, ${tenant.env}, 'payment.settled', '', 'cancelled',
          ${start}::timestamptz + n * interval '1 second' FROM generate_series(1, ${count}) n`
      const [last] = yield* sql<{
        id: string
      }>`SELECT id FROM webhook_deliveries ORDER BY created_at DESC LIMIT 1`
      expect(yield* idsAfter(tenant, last?.id)).toEqual([])
    }).pipe(Effect.provide(layer))
  )

  liveEffect("a reader waits for the one that assigns positions, and reads what it has assigned", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { tenant } = yield* newShop(start)
      const { id } = yield* settle(tenant, start)
      const locked = yield* Deferred.make<void>()
      const mayCommit = yield* Deferred.make<void>()
      const other = yield* sql
        .withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${`events ${tenant.merchantId} ${tenant.env}`}, 0))`
            yield* sql`UPDATE webhook_deliveries SET feed_position = 41 WHERE id = ${id}`
            yield* Deferred.succeed(locked, undefined)
            yield* Deferred.await(mayCommit)
          })
        )
        .pipe(Effect.forkChild)
      yield* Deferred.await(locked)
      const reader = yield* Effect.forkChild(idsAfter(tenant, undefined))
      expect(Option.isNone(yield* Effect.timeoutOption(Fiber.await(reader), "300 millis"))).toBe(true)
      yield* Deferred.succeed(mayCommit, undefined)
      yield* Fiber.join(other)
      expect(yield* Fiber.join(reader)).toEqual([id])
      const next = yield* settle(tenant, after(-1))
      expect(yield* idsAfter(tenant, undefined)).toEqual([id, next.id])
      expect(yield* sql`SELECT feed_position FROM webhook_deliveries WHERE id = ${next.id}`).toEqual([
        { feed_position: 42n }
      ])
    }).pipe(Effect.provide(layer))
  )

  liveEffect("readers that race with settlements each read every event once, in the same order", () =>
    Effect.gen(function* () {
      const { tenant } = yield* newShop(start)
      const count = 120
      const settling = yield* Effect.forEach(
        Array.from({ length: count }, (_, index) => index),
        (index) => settle(tenant, after((index * 37) % 50)),
        { concurrency: 6 }
      ).pipe(Effect.forkChild)
      const readAll = Effect.gen(function* () {
        const read: Array<string> = []
        while (read.length < count) {
          const next = yield* idsAfter(tenant, read.at(-1), 7)
          read.push(...next)
          if (next.length === 0) yield* Effect.sleep(1)
        }
        return read
      })
      const reads = yield* Effect.all([readAll, readAll, readAll, readAll], { concurrency: 4 })
      const settled = yield* Fiber.join(settling)
      for (const read of reads) expect(read).toEqual(reads[0] ?? [])
      expect(new Set(reads[0])).toEqual(new Set(settled.map((one) => one.id)))
      expect(reads[0]).toHaveLength(count)
    }).pipe(Effect.timeout("30 seconds"), Effect.provide(layer))
  )

  liveEffect("a reader that reads to the end has read every event, whoever assigned the positions", () =>
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      const readAll = Effect.gen(function* () {
        const read: Array<string> = []
        for (let hasMore = true; hasMore; ) {
          const page = Option.getOrThrow(yield* repo.listEvents(tenant, { limit: 7, after: read.at(-1) }))
          read.push(...page.events.map((one) => one.id))
          hasMore = page.hasMore
        }
        return read.length
      })
      const pausing = (millis: number) => Effect.andThen(Effect.sleep(millis), readAll)
      for (let count = 1; count <= 40; count++) {
        yield* settle(tenant, after(count))
        const readers = [readAll, pausing(1), pausing(2), pausing(3), pausing(4), pausing(5)]
        expect(yield* Effect.all(readers, { concurrency: 6 })).toEqual(readers.map(() => count))
      }
    }).pipe(Effect.timeout("60 seconds"), Effect.provide(layer))
  )

  liveEffect("a row that a worker is writing does not delay the others, and comes later", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { tenant } = yield* newShop(start)
      const busy = yield* settle(tenant, start)
      const free = yield* settle(tenant, after(1))
      const locked = yield* Deferred.make<void>()
      const mayCommit = yield* Deferred.make<void>()
      const worker = yield* sql
        .withTransaction(
          Effect.gen(function* () {
            yield* sql`UPDATE webhook_deliveries SET attempts = 1 WHERE id = ${busy.id}`
            yield* Deferred.succeed(locked, undefined)
            yield* Deferred.await(mayCommit)
          })
        )
        .pipe(Effect.forkChild)
      yield* Deferred.await(locked)
      expect(yield* idsAfter(tenant, undefined)).toEqual([free.id])
      // As the cursor, it is waited for.
      const reader = yield* Effect.forkChild(idsAfter(tenant, busy.id))
      yield* Effect.sleep("100 millis")
      yield* Deferred.succeed(mayCommit, undefined)
      yield* Fiber.join(worker)
      expect(yield* Fiber.join(reader)).toEqual([])
      expect(yield* idsAfter(tenant, free.id)).toEqual([busy.id])
    }).pipe(Effect.provide(layer))
  )
})
