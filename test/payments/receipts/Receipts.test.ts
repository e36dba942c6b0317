// The key that signs receipts: a failure to create it is not cached.
import { expect } from "bun:test"
import { Effect, Exit, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { Receipts } from "../../../src/payments/receipts/Receipts.ts"
import { SecretBox } from "../../../src/platform/SecretBox.ts"
import { testConfig } from "../../support/memory.ts"
import { liveEffect } from "../../support/run.ts"

liveEffect("a key that could not be created at first is created for the next request", () =>
  Effect.gen(function* () {
    let failures = 1
    const failing = Layer.effect(
      SecretBox,
      Effect.map(SecretBox, (box) =>
        SecretBox.of({
          ...box,
          seal: (...secret) =>
            Effect.suspend(() => (failures-- > 0 ? Effect.die("cannot seal") : box.seal(...secret)))
        })
      )
    ).pipe(Layer.provide(SecretBox.layer))
    yield* Effect.gen(function* () {
      const receipts = yield* Receipts
      expect(Exit.isFailure(yield* Effect.exit(receipts.signX402({ version: 1 })))).toBe(true)
      const [header = ""] = (yield* receipts.signX402({ version: 1 })).split(".")
      expect(JSON.parse(Buffer.from(header, "base64url").toString())).toMatchObject({ alg: "ES256" })
    }).pipe(Effect.provide(Receipts.layerNone.pipe(Layer.provide(failing), Layer.provide(testConfig()))))
  }).pipe(Effect.provide(SecureRandom.layerWebCrypto))
)
