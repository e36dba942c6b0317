// The SQL of re-encrypting endpoints' secrets.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Uuid } from "../../domain/Merchant.ts"
import type { Sealed } from "../../keys/SecretBox.ts"

const decodeRows = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ id: Uuid, secret_kid: Schema.String, secret_ciphertext: Schema.Uint8Array }))
)

export interface EndpointSecret {
  readonly endpointId: string
  readonly sealed: Sealed
}

export class SealedSecretRepo extends Context.Service<
  SealedSecretRepo,
  {
    /** Secrets sealed under another key than `kid`, also those of deleted endpoints. */
    readonly underOtherKeys: (kid: string, limit: number) => Effect.Effect<ReadonlyArray<EndpointSecret>>
    /** False if the secret was regenerated in between: the new one uses the current key. */
    readonly replace: (was: EndpointSecret, now: Sealed) => Effect.Effect<boolean>
  }
>()("quittance/webhooks/SealedSecretRepo") {
  static readonly layer: Layer.Layer<SealedSecretRepo, never, SqlClient.SqlClient> = Layer.effect(
    SealedSecretRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return SealedSecretRepo.of({
        underOtherKeys: Effect.fn("SealedSecretRepo.underOtherKeys")(function* (kid, limit) {
          const rows = yield* decodeRows(
            yield* sql`
              SELECT id, secret_kid, secret_ciphertext FROM webhook_endpoints
              WHERE secret_kid <> ${kid} ORDER BY id LIMIT ${limit}`
          )
          return rows.map((row) => ({
            endpointId: row.id,
            sealed: { kid: row.secret_kid, ciphertext: row.secret_ciphertext }
          }))
        }, Effect.orDie),
        replace: Effect.fn("SealedSecretRepo.replace")(function* ({ endpointId, sealed }, now) {
          const rows = yield* sql`
            UPDATE webhook_endpoints SET secret_kid = ${now.kid}, secret_ciphertext = ${now.ciphertext}
            WHERE id = ${endpointId} AND secret_kid = ${sealed.kid} AND secret_ciphertext = ${sealed.ciphertext}
            RETURNING id`
          return rows.length > 0
        }, Effect.orDie)
      })
    })
  )
}
