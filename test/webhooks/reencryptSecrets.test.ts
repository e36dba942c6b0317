// Encryption keys rotate: secrets under a former key are encrypted again, and undecryptable ones are reported.
import { expect } from "bun:test"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { Receipts } from "../../src/payments/receipts/Receipts.ts"
import { SecretBox } from "../../src/platform/SecretBox.ts"
import { reencryptSecrets } from "../../src/webhooks/reencryptSecrets.ts"
import { regenerateSecret } from "../../src/webhooks/regenerateSecret.ts"
import { SealedSecretRepo } from "../../src/webhooks/SealedSecretRepo.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { testDatabase } from "../support/database.ts"
import { testConfig } from "../support/memory.ts"
import { liveEffect } from "../support/run.ts"
import { newShop } from "./deliveries.ts"

const keyOf = (kid: string) => ({
  kid,
  secret: Redacted.make(Buffer.alloc(32, kid).toString("base64"))
})
const under = (...kids: ReadonlyArray<string>) => {
  const config = testConfig({ encryptionKeys: kids.map(keyOf) })
  const box = SecretBox.layer.pipe(Layer.provide(config))
  return Layer.mergeAll(
    config,
    box,
    SealedSecretRepo.layer,
    Receipts.layer.pipe(Layer.provide(config), Layer.provide(box))
  )
}
const signingKid = Effect.gen(function* () {
  const jws = yield* (yield* Receipts).signX402({ version: 1 })
  const header: { readonly kid: string } = JSON.parse(
    Buffer.from(jws.split(".")[0] ?? "", "base64url").toString()
  )
  return header.kid
})

liveEffect("the key that signs receipts outlives its encryption key", () =>
  Effect.gen(function* () {
    const kid = yield* signingKid.pipe(Effect.provide(under("old")))
    expect(yield* reencryptSecrets().pipe(Effect.provide(under("next", "old")))).toEqual({
      count: 1,
      kid: "next",
      retiredReceiptKeys: 0,
      lost: []
    })
    expect(yield* signingKid.pipe(Effect.provide(under("next")))).toBe(kid)
  }).pipe(Effect.provide(Layer.merge(testDatabase.layer, SecureRandom.layerWebCrypto)))
)

liveEffect("a signing key that no encryption key opens blocks nothing, still verifies, and is reported", () =>
  Effect.gen(function* () {
    const lost = yield* signingKid.pipe(Effect.provide(under("gone")))
    const kid = yield* signingKid.pipe(Effect.provide(under("old")))
    expect(kid).not.toBe(lost)
    const rotate = reencryptSecrets().pipe(Effect.provide(under("next", "old")))
    expect(yield* rotate).toEqual({ count: 1, kid: "next", retiredReceiptKeys: 1, lost: [] })
    expect(yield* rotate).toEqual({ count: 0, kid: "next", retiredReceiptKeys: 1, lost: [] })
    const jwks = yield* Effect.flatMap(Receipts, (receipts) => receipts.jwks).pipe(
      Effect.provide(under("next"))
    )
    expect(jwks).toContain(lost.split("#")[1] ?? "none")
    expect(yield* signingKid.pipe(Effect.provide(under("next")))).toBe(kid)
  }).pipe(Effect.provide(Layer.merge(testDatabase.layer, SecureRandom.layerWebCrypto)))
)

liveEffect(
  "secrets under a lost key do not stop the others' rotation, and are reported while they are in use",
  () =>
    Effect.gen(function* () {
      const at = new Date()
      const lost = yield* newShop(at).pipe(Effect.provide(under("lost")))
      const ended = yield* newShop(at).pipe(Effect.provide(under("lost")))
      yield* (yield* WebhookRepo).deleteEndpoint(ended.tenant, at)
      const kept = yield* newShop(at).pipe(Effect.provide(under("old")))
      const rotate = reencryptSecrets().pipe(Effect.provide(under("next", "old")))
      expect(yield* rotate).toMatchObject({ count: 1, lost: [{ owner: "endpoint", kid: "lost", count: 1 }] })
      const sql = yield* SqlClient.SqlClient
      expect(yield* sql`SELECT secret_kid FROM webhook_endpoints WHERE id = ${kept.endpoint.id}`).toEqual([
        { secret_kid: "next" }
      ])
      yield* regenerateSecret(lost.tenant).pipe(Effect.provide(under("next", "old")))
      expect(yield* rotate).toMatchObject({ count: 0, lost: [] })
    }).pipe(
      Effect.provide(
        Layer.mergeAll(KeyAuth.layer, WebhookRepo.layer).pipe(
          Layer.provideMerge(Layer.merge(testDatabase.layer, SecureRandom.layerWebCrypto))
        )
      )
    )
)
