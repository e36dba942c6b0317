// A run's seed, and its reads and writes in the service's database through the service's own layers.
import { Effect, Layer, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { AppConfig } from "../../src/platform/AppConfig.ts"
import * as Database from "../../src/platform/Database.ts"
import { SecretBox } from "../../src/platform/SecretBox.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import type { Surroundings } from "./processes.ts"

/** mulberry32: the seed decides the run's choices. */
export const randomFrom = (seed: number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** The merchants of a run. */
export const shops = 8
const SealedRows = Schema.Array(
  Schema.Struct({ id: Schema.String, secret_kid: Schema.String, secret_ciphertext: Schema.Uint8Array })
)

/** Runs an Effect on the run's database with the service's own layers. */
export const onDatabase = <A, E>(
  surroundings: Surroundings,
  effect: Effect.Effect<
    A,
    E,
    WebhookRepo | KeyAuth | SecretBox | SecureRandom.SecureRandom | SqlClient.SqlClient
  >
): Promise<A> =>
  Effect.runPromise(
    effect.pipe(
      Effect.provide(
        Layer.mergeAll(KeyAuth.layer, WebhookRepo.layer, SecretBox.layer).pipe(
          Layer.provideMerge(Database.layer),
          Layer.provideMerge(SecureRandom.layerWebCrypto),
          Layer.provide(
            AppConfig.layer({
              DATABASE_URL: surroundings.databaseUrl,
              DATA_DIR: surroundings.dataDir,
              INTENT_TOKEN_SECRETS: `crash:${"s".repeat(40)}`,
              ENCRYPTION_KEYS: surroundings.encryptionKeys
            })
          )
        )
      )
    )
  )

/** The endpoints' present signing secrets. */
export const openSecrets = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const box = yield* SecretBox
  const rows = yield* Schema.decodeUnknownEffect(SealedRows)(
    yield* sql`SELECT id, secret_kid, secret_ciphertext FROM webhook_endpoints`
  )
  return yield* Effect.forEach(rows, (row) =>
    Effect.map(box.open({ kid: row.secret_kid, ciphertext: row.secret_ciphertext }, row.id), Redacted.value)
  )
})
