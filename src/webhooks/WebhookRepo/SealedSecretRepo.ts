// The SQL of re-encrypting the secrets of endpoints and of authenticator apps.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Uuid } from "../../domain/Merchant.ts"
import type { Sealed } from "../../keys/SecretBox.ts"

const decodeRows = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      owner: Schema.Literals(["endpoint", "authenticator", "alert_hook"]),
      id: Uuid,
      secret_kid: Schema.String,
      secret_ciphertext: Schema.Uint8Array
    })
  )
)

export interface SealedSecret {
  /** Whose: an endpoint's, a person's authenticator's, or that of an address alerts are posted to. */
  readonly owner: "endpoint" | "authenticator" | "alert_hook"
  readonly id: string
  readonly sealed: Sealed
}

export class SealedSecretRepo extends Context.Service<
  SealedSecretRepo,
  {
    /** Secrets sealed under another key than `kid`, also those of deleted endpoints. */
    readonly underOtherKeys: (kid: string, limit: number) => Effect.Effect<ReadonlyArray<SealedSecret>>
    /** False if the secret was regenerated in between: the new one uses the current key. */
    readonly replace: (was: SealedSecret, now: Sealed) => Effect.Effect<boolean>
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
              SELECT 'endpoint' AS owner, id, secret_kid, secret_ciphertext FROM webhook_endpoints
              WHERE secret_kid <> ${kid}
              UNION ALL
              SELECT 'authenticator', user_id, secret_kid, secret_ciphertext FROM authenticators
              WHERE secret_kid <> ${kid}
              UNION ALL
              SELECT 'alert_hook', id, secret_kid, secret_ciphertext FROM alert_hooks WHERE secret_kid <> ${kid}
              LIMIT ${limit}`
          )
          return rows.map((row) => ({
            owner: row.owner,
            id: row.id,
            sealed: { kid: row.secret_kid, ciphertext: row.secret_ciphertext }
          }))
        }, Effect.orDie),
        replace: Effect.fn("SealedSecretRepo.replace")(function* ({ id, owner, sealed }, now) {
          const table = {
            endpoint: sql.literal("webhook_endpoints"),
            authenticator: sql.literal("authenticators"),
            alert_hook: sql.literal("alert_hooks")
          }[owner]
          const column = sql.literal(owner === "authenticator" ? "user_id" : "id")
          const rows = yield* sql`
            UPDATE ${table} SET secret_kid = ${now.kid}, secret_ciphertext = ${now.ciphertext}
            WHERE ${column} = ${id} AND secret_kid = ${sealed.kid} AND secret_ciphertext = ${sealed.ciphertext}
            RETURNING ${column}`
          return rows.length > 0
        }, Effect.orDie)
      })
    })
  )
}
