// The last use of a key, for a person who asks whether it is still needed.
import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { KeyAuth } from "../../../src/merchants/keys/KeyAuth.ts"
import { testDatabase } from "../../support/database.ts"
import { freshAddress } from "../../support/freshAddress.ts"
import { liveEffect } from "../../support/run.ts"

liveEffect("a key's last use is stored even if the instance stops before its half-minute write", () =>
  Effect.gen(function* () {
    const receiver = freshAddress()
    const { merchant } = yield* Effect.gen(function* () {
      const auth = yield* KeyAuth
      const made = yield* auth.createMerchant({
        name: "Shop",
        receivers: { test: receiver, live: receiver }
      })
      yield* auth.authenticate(made.keys.test.secret)
      return made
    }).pipe(Effect.provide(KeyAuth.layer))
    const keys = yield* Effect.flatMap(KeyAuth, (auth) => auth.listKeys(merchant.id)).pipe(
      Effect.provide(Layer.fresh(KeyAuth.layer))
    )
    expect(keys.filter(({ lastUsedAt }) => lastUsedAt !== null)).toMatchObject([
      { kind: "secret", env: "test" }
    ])
  }).pipe(Effect.provide(Layer.merge(testDatabase.layer, SecureRandom.layerWebCrypto)))
)
