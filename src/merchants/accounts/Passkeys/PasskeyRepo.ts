// The SQL of passkeys and their challenges.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Uuid } from "../../../domain/Merchant.ts"
import { isUniqueViolation } from "../../../platform/database/isUniqueViolation.ts"

const PasskeyRow = Schema.Struct({
  id: Uuid,
  user_id: Uuid,
  credential_id: Schema.String,
  public_key: Schema.Uint8Array,
  counter: Schema.Int,
  transports: Schema.Array(Schema.String),
  name: Schema.String,
  created_at: Schema.Date,
  last_used_at: Schema.NullOr(Schema.Date)
})
const decodePasskeys = Schema.decodeUnknownEffect(Schema.Array(PasskeyRow))
const decodeChallenges = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ user_id: Schema.NullOr(Uuid) }))
)
const decodeNames = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ name: Schema.String })))

/** The purpose of a challenge. */
export type PasskeyPurpose = "add" | "sign_in" | "confirm"

export interface StoredPasskey {
  readonly id: string
  readonly userId: string
  readonly credentialId: string
  readonly publicKey: Uint8Array
  readonly counter: number
  readonly transports: ReadonlyArray<string>
  readonly name: string
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
}

const passkeyOf = (row: typeof PasskeyRow.Type): StoredPasskey => ({
  id: row.id,
  userId: row.user_id,
  credentialId: row.credential_id,
  publicKey: row.public_key,
  counter: row.counter,
  transports: row.transports,
  name: row.name,
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at
})

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal(
    "id, user_id, credential_id, public_key, counter::float8 AS counter, transports, name, created_at, last_used_at"
  )

  return PasskeyRepo.of({
    insertChallenge: Effect.fn("PasskeyRepo.insertChallenge")(function* (
      challenge,
      purpose,
      userId,
      at,
      expiresAt
    ) {
      yield* sql`
        WITH swept AS (DELETE FROM passkey_challenges WHERE expires_at < ${at})
        INSERT INTO passkey_challenges (challenge, purpose, user_id, expires_at)
        VALUES (${challenge}, ${purpose}, ${userId}, ${expiresAt})`
    }, Effect.orDie),

    takeChallenge: Effect.fn("PasskeyRepo.takeChallenge")(function* (challenge, purpose, at) {
      const [row] = yield* decodeChallenges(
        yield* sql`
          DELETE FROM passkey_challenges
          WHERE challenge = ${challenge} AND purpose = ${purpose} AND expires_at > ${at} RETURNING user_id`
      )
      return Option.map(Option.fromUndefinedOr(row), ({ user_id }) => ({ userId: user_id }))
    }, Effect.orDie),

    insert: (passkey, max) =>
      sql
        .withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT id FROM users WHERE id = ${passkey.userId} FOR NO KEY UPDATE`
            const rows = yield* sql`
              INSERT INTO passkeys (id, user_id, credential_id, public_key, counter, transports, name, created_at)
              SELECT ${passkey.id}::uuid, ${passkey.userId}::uuid, ${passkey.credentialId},
                ${passkey.publicKey}::bytea, ${passkey.counter}::bigint, ${passkey.transports}::text[],
                ${passkey.name}, ${passkey.createdAt}::timestamptz
              WHERE (SELECT count(*) FROM passkeys WHERE user_id = ${passkey.userId}::uuid) < ${max}
              RETURNING id`
            return rows.length > 0
          })
        )
        .pipe(
          Effect.catchIf(isUniqueViolation, () => Effect.succeed(false)),
          Effect.orDie
        ),

    ofUser: Effect.fn("PasskeyRepo.ofUser")(function* (userId) {
      const rows = yield* decodePasskeys(
        yield* sql`SELECT ${columns} FROM passkeys WHERE user_id = ${userId} ORDER BY created_at, id`
      )
      return rows.map(passkeyOf)
    }, Effect.orDie),

    byCredential: Effect.fn("PasskeyRepo.byCredential")(function* (credentialId) {
      const [row] = yield* decodePasskeys(
        yield* sql`SELECT ${columns} FROM passkeys WHERE credential_id = ${credentialId}`
      )
      return Option.map(Option.fromUndefinedOr(row), passkeyOf)
    }, Effect.orDie),

    recordUse: Effect.fn("PasskeyRepo.recordUse")(function* (id, counter, at) {
      const rows = yield* sql`
        UPDATE passkeys SET counter = ${counter}, last_used_at = ${at}
        WHERE id = ${id} AND (counter < ${counter} OR (counter = 0 AND ${counter}::bigint = 0)) RETURNING id`
      return rows.length > 0
    }, Effect.orDie),

    remove: Effect.fn("PasskeyRepo.remove")(function* (userId, id) {
      const [row] = yield* decodeNames(
        yield* sql`DELETE FROM passkeys WHERE id = ${id} AND user_id = ${userId} RETURNING name`
      )
      return Option.map(Option.fromUndefinedOr(row), ({ name }) => name)
    }, Effect.orDie)
  })
})

export class PasskeyRepo extends Context.Service<
  PasskeyRepo,
  {
    /** Also deletes expired challenges. */
    readonly insertChallenge: (
      challenge: string,
      purpose: PasskeyPurpose,
      userId: string | null,
      at: Date,
      expiresAt: Date
    ) => Effect.Effect<void>
    /** Consumes a challenge. None if it is unknown, used, expired or for another purpose. */
    readonly takeChallenge: (
      challenge: string,
      purpose: PasskeyPurpose,
      at: Date
    ) => Effect.Effect<Option.Option<{ readonly userId: string | null }>>
    /** False if the credential is already stored, or the user has `max` passkeys. */
    readonly insert: (passkey: StoredPasskey, max: number) => Effect.Effect<boolean>
    readonly ofUser: (userId: string) => Effect.Effect<ReadonlyArray<StoredPasskey>>
    readonly byCredential: (credentialId: string) => Effect.Effect<Option.Option<StoredPasskey>>
    /** False if the counter did not grow, as for a copied key. */
    readonly recordUse: (id: string, counter: number, at: Date) => Effect.Effect<boolean>
    /** Returns the removed passkey's name; none if it is not the user's. */
    readonly remove: (userId: string, id: string) => Effect.Effect<Option.Option<string>>
  }
>()("quittance/merchants/PasskeyRepo") {
  static readonly layer: Layer.Layer<PasskeyRepo, never, SqlClient.SqlClient> = Layer.effect(
    PasskeyRepo,
    make
  )
}
