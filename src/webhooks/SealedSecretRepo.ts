// The SQL of re-encrypting every sealed secret.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Sealed } from "../platform/SecretBox.ts"

const Owner = Schema.Literals(["endpoint", "authenticator", "alert_hook", "receipt_key"])

const Row = Schema.Struct({
  owner: Owner,
  id: Schema.String,
  secret_kid: Schema.String,
  secret_ciphertext: Schema.Uint8Array
})
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))
const decodeUsedRows = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ ...Row.fields, used: Schema.Boolean }))
)

const toSealedSecret = (row: typeof Row.Type): SealedSecret => ({
  owner: row.owner,
  id: row.id,
  sealed: { kid: row.secret_kid, ciphertext: row.secret_ciphertext }
})

const LostSecrets = Schema.Struct({ owner: Owner, kid: Schema.String, count: Schema.Int })
/** The number of secrets in use that are sealed under a missing key. */
export type LostSecrets = typeof LostSecrets.Type
const decodeLost = Schema.decodeUnknownEffect(Schema.Array(LostSecrets))

const decodeCounts = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ count: Schema.Int })))

export interface SealedSecret {
  /** The owner of the secret: an endpoint, a user's authenticator, an alert webhook, or a receipt key. */
  readonly owner: typeof Owner.Type
  readonly id: string
  readonly sealed: Sealed
}

export class SealedSecretRepo extends Context.Service<
  SealedSecretRepo,
  {
    /**
     * Secrets, including those of deleted endpoints, that an older one of `kids` decrypts; the first of
     * `kids` is the newest.
     */
    readonly underOtherKeys: (
      kids: ReadonlyArray<string>,
      limit: number
    ) => Effect.Effect<ReadonlyArray<SealedSecret>>
    /** Secrets encrypted under this key; `used` is false if nobody would miss the secret. */
    readonly under: (
      kid: string,
      limit: number
    ) => Effect.Effect<ReadonlyArray<SealedSecret & { readonly used: boolean }>>
    /** Secrets that none of `kids` decrypts, without those of deleted endpoints and replaced receipt keys. */
    readonly lost: (kids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<LostSecrets>>
    /** The number of receipt keys that none of `kids` decrypts. Their receipts can still be verified. */
    readonly retiredReceiptKeys: (kids: ReadonlyArray<string>) => Effect.Effect<number>
    /** False if the secret was regenerated in between: the new one uses the current key. */
    readonly replace: (was: SealedSecret, now: Sealed) => Effect.Effect<boolean>
  }
>()("quittance/webhooks/SealedSecretRepo") {
  static readonly layer: Layer.Layer<SealedSecretRepo, never, SqlClient.SqlClient> = Layer.effect(
    SealedSecretRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return SealedSecretRepo.of({
        underOtherKeys: Effect.fn("SealedSecretRepo.underOtherKeys")(function* (kids, limit) {
          const others = sql.in(kids.slice(1))
          const rows = yield* decodeRows(
            yield* sql`
              SELECT 'endpoint' AS owner, id::text, secret_kid, secret_ciphertext FROM webhook_endpoints
              WHERE secret_kid IN ${others}
              UNION ALL
              SELECT 'authenticator', user_id::text, secret_kid, secret_ciphertext FROM authenticators
              WHERE secret_kid IN ${others}
              UNION ALL
              SELECT 'alert_hook', id::text, secret_kid, secret_ciphertext FROM alert_hooks
              WHERE secret_kid IN ${others}
              UNION ALL
              SELECT 'receipt_key', kid, private_kid, private_sealed FROM receipt_keys
              WHERE private_kid IN ${others}
              LIMIT ${limit}`
          )
          return rows.map(toSealedSecret)
        }, Effect.orDie),
        under: Effect.fn("SealedSecretRepo.under")(function* (kid, limit) {
          const rows = yield* decodeUsedRows(
            yield* sql`
              SELECT 'endpoint' AS owner, id::text, secret_kid, secret_ciphertext, deleted_at IS NULL AS used
              FROM webhook_endpoints WHERE secret_kid = ${kid}
              UNION ALL
              SELECT 'authenticator', user_id::text, secret_kid, secret_ciphertext, true FROM authenticators
              WHERE secret_kid = ${kid}
              UNION ALL
              SELECT 'alert_hook', id::text, secret_kid, secret_ciphertext, true FROM alert_hooks
              WHERE secret_kid = ${kid}
              UNION ALL
              SELECT 'receipt_key', kid, private_kid, private_sealed, false FROM receipt_keys
              WHERE private_kid = ${kid}
              LIMIT ${limit}`
          )
          return rows.map((row) => ({ ...toSealedSecret(row), used: row.used }))
        }, Effect.orDie),
        lost: Effect.fn("SealedSecretRepo.lost")(function* (kids) {
          return yield* decodeLost(
            yield* sql`
              SELECT 'endpoint' AS owner, secret_kid AS kid, count(*)::int AS count FROM webhook_endpoints
              WHERE deleted_at IS NULL AND NOT (secret_kid IN ${sql.in(kids)}) GROUP BY secret_kid
              UNION ALL
              SELECT 'authenticator', secret_kid, count(*)::int FROM authenticators
              WHERE NOT (secret_kid IN ${sql.in(kids)}) GROUP BY secret_kid
              UNION ALL
              SELECT 'alert_hook', secret_kid, count(*)::int FROM alert_hooks
              WHERE NOT (secret_kid IN ${sql.in(kids)}) GROUP BY secret_kid`
          )
        }, Effect.orDie),
        retiredReceiptKeys: Effect.fn("SealedSecretRepo.retiredReceiptKeys")(function* (kids) {
          const [row] = yield* decodeCounts(
            yield* sql`
              SELECT count(*)::int AS count FROM receipt_keys WHERE NOT (private_kid IN ${sql.in(kids)})`
          )
          return row?.count ?? 0
        }, Effect.orDie),
        replace: Effect.fn("SealedSecretRepo.replace")(function* ({ id, owner, sealed }, now) {
          if (owner === "receipt_key") {
            const keys = yield* sql`
              UPDATE receipt_keys SET private_kid = ${now.kid}, private_sealed = ${now.ciphertext}
              WHERE kid = ${id} AND private_kid = ${sealed.kid} AND private_sealed = ${sealed.ciphertext}
              RETURNING kid`
            return keys.length > 0
          }
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
