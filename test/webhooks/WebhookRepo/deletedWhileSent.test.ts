// An endpoint is deleted while one of its many deliveries is being sent: both succeed.
import { describe, expect } from "bun:test"
import { Deferred, Effect, Fiber, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { KeyAuth } from "../../../src/merchants/keys/KeyAuth.ts"
import { PaymentRepo } from "../../../src/payments/PaymentRepo.ts"
import { SecretBox } from "../../../src/platform/SecretBox.ts"
import { WebhookRepo } from "../../../src/webhooks/WebhookRepo.ts"
import { testDatabase } from "../../support/database.ts"
import { testConfig } from "../../support/memory.ts"
import { liveEffect } from "../../support/run.ts"
import { leaseDue, newShop, resultOf, settle } from "../deliveries.ts"

const start = new Date("2026-05-01T12:00:00.000Z")
const after = (seconds: number) => new Date(start.getTime() + seconds * 1000)

const layer = Layer.mergeAll(
  PaymentRepo.layer,
  KeyAuth.layer,
  WebhookRepo.layer,
  SecretBox.layer.pipe(Layer.provide(testConfig()))
).pipe(Layer.provideMerge(SecureRandom.layerWebCrypto), Layer.provideMerge(testDatabase.layer))

describe("An endpoint on Postgres", () => {
  liveEffect("is deleted while a delivery's outcome is recorded, and the outcome stays", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* WebhookRepo
      const { tenant } = yield* newShop(start)
      const waiting = yield* settle(tenant, start)
      const sent = yield* settle(tenant, after(1))
      const locked = yield* Deferred.make<void>()
      const mayCommit = yield* Deferred.make<void>()
      const worker = yield* sql
        .withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT id FROM webhook_deliveries WHERE id = ${waiting.id} FOR UPDATE`
            yield* Deferred.succeed(locked, undefined)
            yield* Deferred.await(mayCommit)
          })
        )
        .pipe(Effect.forkChild)
      yield* Deferred.await(locked)
      const [lease] = yield* leaseDue(after(2))
      if (lease === undefined) throw new Error("nothing was leased")
      expect(lease.id).toBe(sent.id)
      const deleting = sql.withTransaction(repo.deleteEndpoint(tenant, after(3)))
      const finishing = sql.withTransaction(repo.finish([resultOf(lease, after(2))]))
      // Neither waits for rows that the other, or a third, has locked.
      expect(yield* Effect.all([deleting, finishing], { concurrency: 2 })).toEqual([
        true,
        [{ id: sent.id, status: "delivered" }]
      ])
      yield* Deferred.succeed(mayCommit, undefined)
      yield* Fiber.join(worker)
      // The delivery that was locked ends when it is due.
      expect(yield* leaseDue(after(4))).toEqual([])
      const statusOf = (id: string) =>
        Effect.map(repo.findDelivery(tenant, id), (found) => Option.getOrThrow(found).status)
      expect([yield* statusOf(waiting.id), yield* statusOf(sent.id)]).toEqual(["cancelled", "delivered"])
    }).pipe(Effect.provide(layer))
  )
})
