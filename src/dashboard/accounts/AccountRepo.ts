// The SQL of users, memberships, sessions and one-time links.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { AddressBytes } from "../../chain/ChainBytes.ts"
import type { Merchant } from "../../domain/Merchant.ts"
import { defaultTokenLifetime, MerchantId, Uuid } from "../../domain/Merchant.ts"
import type { Session } from "../Session.ts"

const SessionRow = Schema.Struct({
  user_id: Uuid,
  email: Schema.String,
  operator: Schema.Boolean,
  merchant_id: Schema.NullOr(MerchantId),
  name: Schema.NullOr(Schema.String),
  logo_url: Schema.NullOr(Schema.String),
  receiver_test: Schema.NullOr(AddressBytes),
  receiver_live: Schema.NullOr(AddressBytes),
  identity_audience: Schema.NullOr(Schema.String),
  bound_tokens_only: Schema.NullOr(Schema.Boolean),
  token_lifetime_seconds: Schema.NullOr(Schema.Int)
})
const decodeSession = Schema.decodeUnknownEffect(Schema.Array(SessionRow))

const merchantOf = (row: typeof SessionRow.Type): ReadonlyArray<Merchant> =>
  row.merchant_id === null || row.name === null || row.receiver_test === null || row.receiver_live === null
    ? []
    : [
        {
          id: row.merchant_id,
          name: row.name,
          logoUrl: row.logo_url,
          receivers: { test: row.receiver_test, live: row.receiver_live },
          identityAudience: row.identity_audience,
          boundTokensOnly: row.bound_tokens_only ?? false,
          tokenLifetimeSeconds: row.token_lifetime_seconds ?? defaultTokenLifetime
        }
      ]

const Credentials = Schema.Struct({ id: Uuid, password_hash: Schema.NullOr(Schema.String) })
const decodeCredentials = Schema.decodeUnknownEffect(Schema.Array(Credentials))

const LinkRow = Schema.Struct({
  email: Schema.String,
  merchant_id: Schema.NullOr(MerchantId),
  reset_password: Schema.Boolean,
  operator: Schema.Boolean
})
const decodeLinks = Schema.decodeUnknownEffect(Schema.Array(LinkRow))

export interface OneTimeLink {
  readonly email: string
  readonly merchantId: MerchantId | null
  /** The operator's link sets the password of an account that has one. */
  readonly resetPassword: boolean
  readonly operator: boolean
}

export interface NewUser {
  readonly id: string
  readonly email: string
  readonly passwordHash: string
  readonly operator: boolean
}

export interface NewSession {
  readonly hash: Uint8Array
  readonly userId: string
  readonly at: Date
  readonly expiresAt: Date
}

const isUniqueViolation = (error: SqlError.SqlError) => error.reason._tag === "UniqueViolation"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  return {
    /** All or nothing; a failure undoes what the effect wrote. */
    transaction: <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      sql.withTransaction(effect).pipe(Effect.catchIf(isSqlFailure, Effect.die)),

    /** False where the e-mail has an account. */
    insertUser: (user: NewUser, at: Date): Effect.Effect<boolean> =>
      sql`
        INSERT INTO users (id, email, password_hash, operator, created_at)
        VALUES (${user.id}, ${user.email}, ${user.passwordHash}, ${user.operator}, ${at})
        ON CONFLICT (email) DO NOTHING RETURNING id`.pipe(
        Effect.map((rows) => rows.length > 0),
        Effect.catchIf(isUniqueViolation, () => Effect.succeed(false)),
        Effect.orDie
      ),

    findCredentials: Effect.fn("AccountRepo.findCredentials")(function* (email: string) {
      const [row] = yield* decodeCredentials(
        yield* sql`SELECT id, password_hash FROM users WHERE email = ${email}`
      )
      return Option.fromUndefinedOr(row)
    }, Effect.orDie),

    setPassword: Effect.fn("AccountRepo.setPassword")(function* (
      userId: string,
      hash: string,
      operator: boolean
    ) {
      yield* sql`
        UPDATE users SET password_hash = ${hash}, operator = operator OR ${operator} WHERE id = ${userId}`
    }, Effect.orDie),

    join: Effect.fn("AccountRepo.join")(function* (merchantId: MerchantId, userId: string, at: Date) {
      yield* sql`
        INSERT INTO merchant_members (merchant_id, user_id, created_at)
        VALUES (${merchantId}, ${userId}, ${at}) ON CONFLICT DO NOTHING`
    }, Effect.orDie),

    /** Also sweeps away what has expired. */
    insertSession: Effect.fn("AccountRepo.insertSession")(function* (session: NewSession) {
      yield* sql`
        WITH swept AS (DELETE FROM sessions WHERE expires_at < ${session.at})
        INSERT INTO sessions (hash, user_id, created_at, expires_at)
        VALUES (${session.hash}, ${session.userId}, ${session.at}, ${session.expiresAt})`
    }, Effect.orDie),

    /** The session, which lives on until `slideTo` where less than that remained by `slideBefore`. */
    findSession: Effect.fn("AccountRepo.findSession")(function* (
      hash: Uint8Array,
      times: {
        readonly at: Date
        readonly slideBefore: Date
        readonly slideTo: Date
        readonly startedAfter: Date
      }
    ) {
      const rows = yield* decodeSession(
        yield* sql`
          WITH s AS (
            SELECT hash, user_id FROM sessions
            WHERE hash = ${hash} AND expires_at > ${times.at} AND created_at > ${times.startedAfter}
          ), slid AS (
            UPDATE sessions SET expires_at = ${times.slideTo} FROM s
            WHERE sessions.hash = s.hash AND sessions.expires_at < ${times.slideBefore}
          )
          SELECT u.id AS user_id, u.email, u.operator, m.id AS merchant_id, m.name, m.logo_url,
            m.receiver_test, m.receiver_live, m.identity_audience, m.bound_tokens_only,
            m.token_lifetime_seconds
          FROM s JOIN users u ON u.id = s.user_id
          LEFT JOIN merchant_members mm ON mm.user_id = u.id
          LEFT JOIN merchants m ON m.id = mm.merchant_id
          ORDER BY mm.created_at, m.id`
      )
      const [first] = rows
      if (first === undefined) return Option.none<Session>()
      return Option.some<Session>({
        hash,
        user: { id: first.user_id, email: first.email, operator: first.operator },
        merchants: rows.flatMap(merchantOf)
      })
    }, Effect.orDie),

    deleteSession: Effect.fn("AccountRepo.deleteSession")(function* (hash: Uint8Array) {
      yield* sql`DELETE FROM sessions WHERE hash = ${hash}`
    }, Effect.orDie),

    deleteSessions: Effect.fn("AccountRepo.deleteSessions")(function* (userId: string) {
      yield* sql`DELETE FROM sessions WHERE user_id = ${userId}`
    }, Effect.orDie),

    insertLink: Effect.fn("AccountRepo.insertLink")(function* (
      hash: Uint8Array,
      link: OneTimeLink,
      at: Date,
      expiresAt: Date
    ) {
      yield* sql`
        WITH swept AS (DELETE FROM one_time_links WHERE expires_at < ${at})
        INSERT INTO one_time_links (hash, email, merchant_id, reset_password, operator, created_at, expires_at)
        VALUES (${hash}, ${link.email}, ${link.merchantId}, ${link.resetPassword}, ${link.operator}, ${at},
          ${expiresAt})`
    }, Effect.orDie),

    findLink: Effect.fn("AccountRepo.findLink")(function* (hash: Uint8Array, at: Date) {
      const [row] = yield* decodeLinks(
        yield* sql`
          SELECT email, merchant_id, reset_password, operator FROM one_time_links
          WHERE hash = ${hash} AND used_at IS NULL AND expires_at > ${at}`
      )
      return Option.map(
        Option.fromUndefinedOr(row),
        (found): OneTimeLink => ({
          email: found.email,
          merchantId: found.merchant_id,
          resetPassword: found.reset_password,
          operator: found.operator
        })
      )
    }, Effect.orDie),

    /** False where somebody else was first. */
    useLink: Effect.fn("AccountRepo.useLink")(function* (hash: Uint8Array, at: Date) {
      const rows = yield* sql`
        UPDATE one_time_links SET used_at = ${at}
        WHERE hash = ${hash} AND used_at IS NULL AND expires_at > ${at} RETURNING hash`
      return rows.length > 0
    }, Effect.orDie)
  }
})

const isSqlFailure = (error: unknown): error is SqlError.SqlError =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "SqlError"

export class AccountRepo extends Context.Service<AccountRepo, Effect.Success<typeof make>>()(
  "quittance/dashboard/AccountRepo"
) {
  static readonly layer: Layer.Layer<AccountRepo, never, SqlClient.SqlClient> = Layer.effect(
    AccountRepo,
    make
  )
}
