// A quarter of deliveries that was detached to an archive leaves its attempts behind, for as long as others are kept.
import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { KeyAuth } from "../../../src/keys/KeyAuth.ts"
import { SecretBox } from "../../../src/keys/SecretBox.ts"
import { PaymentRepo } from "../../../src/payments/PaymentRepo.ts"
import { WebhookRepo } from "../../../src/webhooks/WebhookRepo.ts"
import { partitionedDatabase } from "../../support/database.ts"
import { testConfig } from "../../support/memory.ts"
import { liveEffect } from "../../support/run.ts"
import { claimDue, newShop, resultOf, settle } from "../deliveries.ts"

const spring = new Date("2026-05-01T12:00:00.000Z")
const summer = new Date("2026-08-01T12:00:00.000Z")

const layer = Layer.mergeAll(
  PaymentRepo.layer,
  KeyAuth.layer,
  WebhookRepo.layer,
  SecretBox.layer.pipe(Layer.provide(testConfig()))
).pipe(Layer.provideMerge(SecureRandom.layerWebCrypto), Layer.provideMerge(partitionedDatabase.layer))

liveEffect("attempts of a detached quarter are pruned as others are", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const repo = yield* WebhookRepo
    const { tenant } = yield* newShop(spring)
    for (const at of [spring, summer]) {
      yield* settle(tenant, at)
      yield* repo.finish((yield* claimDue(at)).map((claim) => resultOf(claim, at)))
    }
    yield* sql`ALTER TABLE webhook_deliveries DETACH PARTITION webhook_deliveries_2026_q2`
    expect(yield* repo.prune(summer, 10)).toBe(1)
    expect(yield* sql`SELECT started_at FROM webhook_attempts`).toEqual([{ started_at: summer }])
    expect(yield* repo.prune(new Date(summer.getTime() + 1), 10)).toBe(1)
  }).pipe(Effect.provide(layer))
)
