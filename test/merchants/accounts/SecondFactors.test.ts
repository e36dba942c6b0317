// A second factor whose secret cannot be decrypted any more, as after a restore without the old ENCRYPTION_KEYS.
import { expect } from "bun:test"
import { Clock, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { SecondFactorFailed, SecondFactorRequired } from "../../../src/domain/Errors.ts"
import { codeOf, stepAt } from "../../../src/merchants/accounts/SecondFactors/totp.ts"
import { SecondFactors } from "../../../src/merchants/accounts/SecondFactors.ts"
import { SecretBox } from "../../../src/platform/SecretBox.ts"
import { testDatabase } from "../../support/database.ts"
import { testConfig } from "../../support/memory.ts"
import { liveEffect } from "../../support/run.ts"

const under = (kid: string) =>
  SecondFactors.layer.pipe(
    Layer.provide(SecretBox.layer),
    Layer.provide(
      testConfig({
        encryptionKeys: [{ kid, secret: Redacted.make(Buffer.alloc(32, kid).toString("base64")) }]
      })
    )
  )

const newUser = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const id = Bun.randomUUIDv7()
  yield* sql`
    INSERT INTO users (id, email, password_hash, operator, created_at) VALUES (${id}, ${`${id}@example.com`}, null, false, now())`
  return id
})

const bytesOf = (base32: string) => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
  const bits = [...base32].map((one) => alphabet.indexOf(one).toString(2).padStart(5, "0")).join("")
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2))
}

liveEffect("a recovery code is required, and signs in, if the app's secret is under a lost key", () =>
  Effect.gen(function* () {
    const user = yield* newUser
    const [recovery = ""] = yield* Effect.gen(function* () {
      const factors = yield* SecondFactors
      const secret = bytesOf(yield* factors.begin(user))
      return yield* factors.confirm(user, codeOf(secret, stepAt(yield* Clock.currentTimeMillis)))
    }).pipe(Effect.provide(under("lost")))
    yield* Effect.gen(function* () {
      const factors = yield* SecondFactors
      expect(yield* Effect.flip(factors.verify(user, undefined))).toBeInstanceOf(SecondFactorRequired)
      const refused = yield* Effect.flip(factors.verify(user, "123456"))
      expect(refused).toBeInstanceOf(SecondFactorFailed)
      expect(refused.message).toContain("Use a recovery code")
      expect(yield* factors.verify(user, recovery)).toBeInstanceOf(Date)
    }).pipe(Effect.provide(under("next")))
  }).pipe(Effect.provide(Layer.merge(testDatabase.layer, SecureRandom.layerWebCrypto)))
)

liveEffect("an app whose setup was never finished is not required, also if its key is lost", () =>
  Effect.gen(function* () {
    const user = yield* newUser
    yield* Effect.flatMap(SecondFactors, (factors) => factors.begin(user)).pipe(Effect.provide(under("lost")))
    const verified = Effect.flatMap(SecondFactors, (factors) => factors.verify(user, undefined))
    expect(yield* Effect.provide(verified, under("next"))).toBeNull()
  }).pipe(Effect.provide(Layer.merge(testDatabase.layer, SecureRandom.layerWebCrypto)))
)
