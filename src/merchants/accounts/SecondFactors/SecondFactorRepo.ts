// The SQL of authenticator apps and recovery codes.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Sealed } from "../../../platform/SecretBox.ts"

const decodeSecrets = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      secret_kid: Schema.String,
      secret_ciphertext: Schema.Uint8Array,
      confirmed_at: Schema.NullOr(Schema.Date)
    })
  )
)
const decodeLeft = Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ left: Schema.Int })]))

interface Authenticator {
  readonly sealed: Sealed
  /** Null until a code has confirmed it. */
  readonly confirmedAt: Date | null
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  return SecondFactorRepo.of({
    findSecret: Effect.fn("SecondFactorRepo.findSecret")(function* (userId) {
      const [row] = yield* decodeSecrets(
        yield* sql`
          SELECT secret_kid, secret_ciphertext, confirmed_at FROM authenticators WHERE user_id = ${userId}`
      )
      return Option.map(
        Option.fromUndefinedOr(row),
        (row): Authenticator => ({
          sealed: { kid: row.secret_kid, ciphertext: row.secret_ciphertext },
          confirmedAt: row.confirmed_at
        })
      )
    }, Effect.orDie),

    begin: Effect.fn("SecondFactorRepo.begin")(function* (userId, sealed, at) {
      const rows = yield* sql`
        INSERT INTO authenticators (user_id, secret_kid, secret_ciphertext, created_at)
        VALUES (${userId}, ${sealed.kid}, ${sealed.ciphertext}, ${at})
        ON CONFLICT (user_id) DO UPDATE SET secret_kid = excluded.secret_kid,
          secret_ciphertext = excluded.secret_ciphertext, created_at = excluded.created_at
        WHERE authenticators.confirmed_at IS NULL RETURNING user_id`
      return rows.length > 0
    }, Effect.orDie),

    confirm: Effect.fn("SecondFactorRepo.confirm")(function* (userId, sealed, step, codes, at) {
      return yield* sql.withTransaction(
        Effect.gen(function* () {
          const rows = yield* sql`
            UPDATE authenticators SET confirmed_at = ${at}, last_step = ${step}
            WHERE user_id = ${userId} AND confirmed_at IS NULL AND secret_ciphertext = ${sealed.ciphertext}
            RETURNING user_id`
          if (rows.length > 0) yield* replaceCodes(userId, codes)
          return rows.length > 0
        })
      )
    }, Effect.orDie),

    useStep: Effect.fn("SecondFactorRepo.useStep")(function* (userId, step) {
      const rows = yield* sql`
        UPDATE authenticators SET last_step = ${step}
        WHERE user_id = ${userId} AND confirmed_at IS NOT NULL AND last_step < ${step} RETURNING user_id`
      return rows.length > 0
    }, Effect.orDie),

    useCode: Effect.fn("SecondFactorRepo.useCode")(function* (userId, hash, at) {
      const rows = yield* sql`
        UPDATE recovery_codes SET used_at = ${at}
        WHERE user_id = ${userId} AND hash = ${hash} AND used_at IS NULL RETURNING user_id`
      return rows.length > 0
    }, Effect.orDie),

    replaceCodes: Effect.fn("SecondFactorRepo.replaceCodes")(
      (userId, codes) => sql.withTransaction(replaceCodes(userId, codes)),
      Effect.orDie
    ),

    codesLeft: Effect.fn("SecondFactorRepo.codesLeft")(function* (userId) {
      const [{ left }] = yield* decodeLeft(
        yield* sql`
          SELECT count(*)::int AS left FROM recovery_codes WHERE user_id = ${userId} AND used_at IS NULL`
      )
      return left
    }, Effect.orDie),

    remove: Effect.fn("SecondFactorRepo.remove")(function* (userId) {
      const rows = yield* sql`
        WITH codes AS (DELETE FROM recovery_codes WHERE user_id = ${userId})
        DELETE FROM authenticators WHERE user_id = ${userId} RETURNING user_id`
      return rows.length > 0
    }, Effect.orDie)
  })

  function replaceCodes(userId: string, codes: ReadonlyArray<Uint8Array>) {
    return Effect.gen(function* () {
      yield* sql`SELECT user_id FROM authenticators WHERE user_id = ${userId} FOR UPDATE`
      yield* sql`DELETE FROM recovery_codes WHERE user_id = ${userId}`
      for (const hash of codes)
        yield* sql`INSERT INTO recovery_codes (user_id, hash) VALUES (${userId}, ${hash})`
    })
  }
})

export class SecondFactorRepo extends Context.Service<
  SecondFactorRepo,
  {
    readonly findSecret: (userId: string) => Effect.Effect<Option.Option<Authenticator>>
    /** False if an authenticator is active; replaces one that was never confirmed. */
    readonly begin: (userId: string, sealed: Sealed, at: Date) => Effect.Effect<boolean>
    /** Activates the authenticator with its recovery codes; false if it has been replaced since. */
    readonly confirm: (
      userId: string,
      sealed: Sealed,
      step: number,
      codes: ReadonlyArray<Uint8Array>,
      at: Date
    ) => Effect.Effect<boolean>
    /** False if the code of this step or a later one was already used. */
    readonly useStep: (userId: string, step: number) => Effect.Effect<boolean>
    /** False if the user has no such code, or it was used. */
    readonly useCode: (userId: string, hash: Uint8Array, at: Date) => Effect.Effect<boolean>
    readonly replaceCodes: (userId: string, codes: ReadonlyArray<Uint8Array>) => Effect.Effect<void>
    readonly codesLeft: (userId: string) => Effect.Effect<number>
    /** Also removes its recovery codes. False if there was none. */
    readonly remove: (userId: string) => Effect.Effect<boolean>
  }
>()("quittance/merchants/SecondFactorRepo") {
  static readonly layer: Layer.Layer<SecondFactorRepo, never, SqlClient.SqlClient> = Layer.effect(
    SecondFactorRepo,
    make
  )
}
