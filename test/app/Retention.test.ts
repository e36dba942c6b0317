// Old records are removed once they have ended; open and recent ones stay.
import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { RetentionRepo } from "../../src/app/RetentionRepo.ts"
import { testDatabase } from "../support/database.ts"
import { liveEffect } from "../support/run.ts"

liveEffect("old alerts, grants and nonces are deleted; open and recent ones stay", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { prune } = yield* RetentionRepo
    const merchant = crypto.randomUUID()
    yield* sql`INSERT INTO merchants (id, name, receiver_test, receiver_live, created_at)
      VALUES (${merchant}, 'Shop', decode(repeat('11', 20), 'hex'), decode(repeat('11', 20), 'hex'), now())`
    const days = (count: number) => new Date(Date.now() - count * 86_400_000)
    const alert = (kind: string, acknowledgedAt: Date | null) => sql`
      INSERT INTO alerts (id, merchant_id, env, kind, subject, message, created_at, acknowledged_at)
      VALUES (gen_random_uuid(), ${merchant}, 'test', ${kind}, gen_random_uuid(), '', ${days(800)}, ${acknowledgedAt})`
    yield* alert("webhook_exhausted", days(366))
    yield* alert("webhook_exhausted", days(364))
    yield* alert("transfer_dropped", null)
    yield* alert("settlements_unsent", days(700))
    for (const [status, age] of [
      ["sent", 91],
      ["sent", 89],
      ["reserved", 400]
    ] as const)
      yield* sql`
        INSERT INTO faucet_grants (id, merchant_id, recipient, client_address, status, usdc_atomic, gas_wei, created_at)
        VALUES (gen_random_uuid(), ${merchant}, decode(repeat('22', 20), 'hex'), '203.0.113.7', ${status}, 1, 1, ${days(age)})`
    for (const [byte, age] of [
      ["01", 366],
      ["02", 364]
    ] as const)
      yield* sql`INSERT INTO authorization_nonces (nonce, payment_id, asked_at)
        VALUES (decode(repeat(${byte}, 32), 'hex'), gen_random_uuid(), ${days(age)})`
    expect(yield* prune(new Date())).toBe(3)
    expect(yield* prune(new Date())).toBe(0)
    const count = (table: string) =>
      Effect.map(sql`SELECT count(*)::int AS count FROM ${sql(table)}`, ([row]) => row?.["count"])
    expect([
      yield* count("alerts"),
      yield* count("faucet_grants"),
      yield* count("authorization_nonces")
    ]).toEqual([3, 2, 1])
  }).pipe(
    Effect.provide(
      RetentionRepo.layer.pipe(
        Layer.provideMerge(Layer.merge(testDatabase.layer, SecureRandom.layerWebCrypto))
      )
    )
  )
)
