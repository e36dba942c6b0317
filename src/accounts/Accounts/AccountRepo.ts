// The SQL of users, memberships, sessions and one-time links.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { AddressBytes } from "../../chain/ChainBytes.ts"
import { isUniqueViolation } from "../../database/isUniqueViolation.ts"
import { Locale } from "../../domain/Locale.ts"
import { defaultTokenLifetime, MerchantId, Uuid } from "../../domain/Merchant.ts"
import { Role } from "../../domain/Role.ts"
import type { Membership, SeenFrom, Session } from "../Session.ts"

const SessionRow = Schema.Struct({
  user_id: Uuid,
  email: Schema.String,
  operator: Schema.Boolean,
  locale: Locale,
  has_passkeys: Schema.Boolean,
  has_authenticator: Schema.Boolean,
  session_id: Uuid,
  confirmed_at: Schema.Date,
  merchant_id: Schema.NullOr(MerchantId),
  role: Schema.NullOr(Role),
  name: Schema.NullOr(Schema.String),
  logo_url: Schema.NullOr(Schema.String),
  receiver_test: Schema.NullOr(AddressBytes),
  receiver_live: Schema.NullOr(AddressBytes),
  identity_audience: Schema.NullOr(Schema.String),
  bound_tokens_only: Schema.NullOr(Schema.Boolean),
  token_lifetime_seconds: Schema.NullOr(Schema.Int)
})
const decodeSession = Schema.decodeUnknownEffect(Schema.Array(SessionRow))

const membershipOf = (row: typeof SessionRow.Type): ReadonlyArray<Membership> =>
  row.merchant_id === null ||
  row.role === null ||
  row.name === null ||
  row.receiver_test === null ||
  row.receiver_live === null
    ? []
    : [
        {
          id: row.merchant_id,
          role: row.role,
          name: row.name,
          logoUrl: row.logo_url,
          receivers: { test: row.receiver_test, live: row.receiver_live },
          identityAudience: row.identity_audience,
          boundTokensOnly: row.bound_tokens_only ?? false,
          tokenLifetimeSeconds: row.token_lifetime_seconds ?? defaultTokenLifetime
        }
      ]

const OpenSession = Schema.Struct({
  id: Uuid,
  user_agent: Schema.NullOr(Schema.String),
  address: Schema.NullOr(Schema.String),
  created_at: Schema.Date,
  seen_at: Schema.NullOr(Schema.Date),
  current: Schema.Boolean
})
export type OpenSession = typeof OpenSession.Type
const decodeOpenSessions = Schema.decodeUnknownEffect(Schema.Array(OpenSession))

const Credentials = Schema.Struct({
  id: Uuid,
  password_hash: Schema.NullOr(Schema.String),
  locale: Locale
})
const decodeCredentials = Schema.decodeUnknownEffect(Schema.Array(Credentials))

const LinkRow = Schema.Struct({
  email: Schema.String,
  merchant_id: Schema.NullOr(MerchantId),
  role: Role,
  reset_password: Schema.Boolean,
  operator: Schema.Boolean,
  invited_by: Schema.NullOr(Uuid)
})
const decodeLinks = Schema.decodeUnknownEffect(Schema.Array(LinkRow))

const decodeBrowsers = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ hash: Schema.String })))

export interface OneTimeLink {
  readonly email: string
  readonly merchantId: MerchantId | null
  /** In the merchant. */
  readonly role: Role
  /** The operator's link sets the password of an account that has one. */
  readonly resetPassword: boolean
  readonly operator: boolean
  /** The member whose invitation it is; null where the operator has made it. */
  readonly invitedBy: string | null
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

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  /** An invitation dies when its inviter is no owner any more. */
  const isStanding = sql`(l.invited_by IS NULL OR EXISTS (
    SELECT 1 FROM merchant_members m
    WHERE m.merchant_id = l.merchant_id AND m.user_id = l.invited_by AND m.role = 'owner'))`

  return {
    transaction: <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      sql.withTransaction(effect).pipe(Effect.catchIf(SqlError.isSqlError, Effect.die)),

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
        yield* sql`SELECT id, password_hash, locale FROM users WHERE email = ${email}`
      )
      return Option.fromUndefinedOr(row)
    }, Effect.orDie),

    setPassword: Effect.fn("AccountRepo.setPassword")(function* (userId: string, hash: string, at: Date) {
      yield* sql`
        WITH changed AS (
          UPDATE users SET password_hash = ${hash} WHERE id = ${userId} RETURNING email
        ), forgotten AS (
          DELETE FROM known_browsers WHERE user_id = ${userId}
        )
        UPDATE one_time_links l SET used_at = ${at} FROM changed
        WHERE l.email = changed.email AND l.reset_password AND l.used_at IS NULL`
    }, Effect.orDie),

    makeOperator: Effect.fn("AccountRepo.makeOperator")(function* (userId: string) {
      const rows =
        yield* sql`UPDATE users SET operator = true WHERE id = ${userId} AND NOT operator RETURNING id`
      return rows.length > 0
    }, Effect.orDie),

    join: Effect.fn("AccountRepo.join")(function* (
      merchantId: MerchantId,
      userId: string,
      role: Role,
      at: Date
    ) {
      const rows = yield* sql`
        INSERT INTO merchant_members (merchant_id, user_id, role, created_at)
        VALUES (${merchantId}, ${userId}, ${role}, ${at}) ON CONFLICT DO NOTHING RETURNING user_id`
      return rows.length > 0
    }, Effect.orDie),

    insertSession: Effect.fn("AccountRepo.insertSession")(function* (session: NewSession) {
      yield* sql`
        WITH swept AS (DELETE FROM sessions WHERE expires_at < ${session.at})
        INSERT INTO sessions (hash, user_id, created_at, expires_at, confirmed_at)
        VALUES (${session.hash}, ${session.userId}, ${session.at}, ${session.expiresAt}, ${session.at})`
    }, Effect.orDie),

    confirmSession: Effect.fn("AccountRepo.confirmSession")(function* (hash: Uint8Array, at: Date) {
      yield* sql`UPDATE sessions SET confirmed_at = ${at} WHERE hash = ${hash}`
    }, Effect.orDie),

    findSession: Effect.fn("AccountRepo.findSession")(function* (
      hash: Uint8Array,
      times: {
        readonly at: Date
        readonly slideBefore: Date
        readonly slideTo: Date
        readonly startedAfter: Date
        readonly seenBefore: Date
      },
      from: SeenFrom
    ) {
      const rows = yield* decodeSession(
        yield* sql`
          WITH s AS (
            SELECT hash, id, user_id, confirmed_at FROM sessions
            WHERE hash = ${hash} AND expires_at > ${times.at} AND created_at > ${times.startedAfter}
          ), slid AS (
            UPDATE sessions SET seen_at = ${times.at}, user_agent = ${from.userAgent}, address = ${from.address},
              expires_at = CASE WHEN sessions.expires_at < ${times.slideBefore} THEN ${times.slideTo}::timestamptz
                ELSE sessions.expires_at END
            FROM s WHERE sessions.hash = s.hash
              AND (sessions.seen_at IS NULL OR (sessions.address IS NULL AND ${from.address}::text IS NOT NULL) OR sessions.seen_at < ${times.seenBefore}
                OR sessions.expires_at < ${times.slideBefore})
          )
          SELECT u.id AS user_id, u.email, u.operator, u.locale, s.id AS session_id, s.confirmed_at,
            EXISTS (SELECT FROM passkeys p WHERE p.user_id = u.id) AS has_passkeys,
            EXISTS (SELECT FROM authenticators a WHERE a.user_id = u.id AND a.confirmed_at IS NOT NULL)
              AS has_authenticator, m.id AS merchant_id, mm.role, m.name, m.logo_url,
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
        id: first.session_id,
        user: {
          id: first.user_id,
          email: first.email,
          operator: first.operator,
          locale: first.locale,
          hasPasskeys: first.has_passkeys,
          hasAuthenticator: first.has_authenticator
        },
        confirmedAt: first.confirmed_at,
        merchants: rows.flatMap(membershipOf)
      })
    }, Effect.orDie),

    setLocale: Effect.fn("AccountRepo.setLocale")(function* (userId: string, locale: Locale) {
      yield* sql`UPDATE users SET locale = ${locale} WHERE id = ${userId}`
    }, Effect.orDie),

    sessionsOf: Effect.fn("AccountRepo.sessionsOf")(function* (
      userId: string,
      hash: Uint8Array,
      at: Date,
      startedAfter: Date
    ) {
      return yield* decodeOpenSessions(
        yield* sql`
          SELECT id, user_agent, address, created_at, seen_at, hash = ${hash} AS current FROM sessions
          WHERE user_id = ${userId} AND expires_at > ${at} AND created_at > ${startedAfter}
          ORDER BY coalesce(seen_at, created_at) DESC, id LIMIT 100`
      )
    }, Effect.orDie),

    endSession: Effect.fn("AccountRepo.endSession")(function* (userId: string, id: string) {
      const rows = yield* sql`DELETE FROM sessions WHERE user_id = ${userId} AND id = ${id} RETURNING id`
      return rows.length > 0
    }, Effect.orDie),

    endOthers: Effect.fn("AccountRepo.endOthers")(function* (userId: string, hash: Uint8Array) {
      yield* sql`DELETE FROM sessions WHERE user_id = ${userId} AND hash <> ${hash}`
    }, Effect.orDie),

    deleteSession: Effect.fn("AccountRepo.deleteSession")(function* (hash: Uint8Array) {
      yield* sql`DELETE FROM sessions WHERE hash = ${hash}`
    }, Effect.orDie),

    deleteSessions: Effect.fn("AccountRepo.deleteSessions")(function* (userId: string) {
      yield* sql`DELETE FROM sessions WHERE user_id = ${userId}`
    }, Effect.orDie),

    endResets: Effect.fn("AccountRepo.endResets")(function* (email: string, at: Date) {
      yield* sql`
        UPDATE one_time_links SET used_at = ${at}
        WHERE email = ${email} AND reset_password AND used_at IS NULL`
    }, Effect.orDie),

    insertBrowser: Effect.fn("AccountRepo.insertBrowser")(function* (browser: NewSession) {
      yield* sql`
        WITH swept AS (
          DELETE FROM known_browsers WHERE expires_at < ${browser.at} OR hash = ANY (ARRAY(
            SELECT hash FROM known_browsers WHERE user_id = ${browser.userId}
            ORDER BY created_at DESC OFFSET 9))
        )
        INSERT INTO known_browsers (hash, user_id, created_at, expires_at)
        VALUES (${browser.hash}, ${browser.userId}, ${browser.at}, ${browser.expiresAt})`
    }, Effect.orDie),

    browsersOf: Effect.fn("AccountRepo.browsersOf")(function* (email: string, at: Date) {
      const rows = yield* decodeBrowsers(
        yield* sql`
          SELECT encode(b.hash, 'hex') AS hash FROM known_browsers b JOIN users u ON u.id = b.user_id
          WHERE b.expires_at > ${at} AND u.email = ${email}`
      )
      return new Set(rows.map(({ hash }) => hash))
    }, Effect.orDie),

    insertLink: Effect.fn("AccountRepo.insertLink")(function* (
      hash: Uint8Array,
      link: OneTimeLink,
      at: Date,
      expiresAt: Date
    ) {
      yield* sql`
        WITH swept AS (DELETE FROM one_time_links WHERE expires_at < ${at}), replaced AS (
          UPDATE one_time_links SET used_at = ${at}
          WHERE email = ${link.email} AND merchant_id IS NOT DISTINCT FROM ${link.merchantId}::uuid
            AND reset_password = ${link.resetPassword}
            AND (invited_by IS NULL) = (${link.invitedBy}::uuid IS NULL) AND used_at IS NULL
        )
        INSERT INTO one_time_links
          (hash, email, merchant_id, role, reset_password, operator, invited_by, created_at, expires_at)
        VALUES (${hash}, ${link.email}, ${link.merchantId}, ${link.role}, ${link.resetPassword}, ${link.operator},
          ${link.invitedBy}, ${at}, ${expiresAt})`
    }, Effect.orDie),

    findLink: Effect.fn("AccountRepo.findLink")(function* (hash: Uint8Array, at: Date) {
      const [row] = yield* decodeLinks(
        yield* sql`
          SELECT email, merchant_id, role, reset_password, operator, invited_by FROM one_time_links l
          WHERE hash = ${hash} AND used_at IS NULL AND expires_at > ${at} AND ${isStanding}`
      )
      return Option.map(
        Option.fromUndefinedOr(row),
        (found): OneTimeLink => ({
          email: found.email,
          merchantId: found.merchant_id,
          role: found.role,
          resetPassword: found.reset_password,
          operator: found.operator,
          invitedBy: found.invited_by
        })
      )
    }, Effect.orDie),

    useLink: Effect.fn("AccountRepo.useLink")(function* (hash: Uint8Array, at: Date) {
      const rows = yield* sql`
        UPDATE one_time_links l SET used_at = ${at}
        WHERE hash = ${hash} AND used_at IS NULL AND expires_at > ${at} AND ${isStanding} RETURNING hash`
      return rows.length > 0
    }, Effect.orDie),

    noteFailure: Effect.fn("AccountRepo.noteFailure")(function* (
      hash: Uint8Array,
      at: Date,
      allowed: number
    ) {
      yield* sql`
        UPDATE one_time_links SET failures = failures + 1,
          used_at = CASE WHEN failures + 1 >= ${allowed} THEN ${at}::timestamptz ELSE used_at END
        WHERE hash = ${hash}`
    }, Effect.orDie)
  }
})

export class AccountRepo extends Context.Service<
  AccountRepo,
  {
    /** All or nothing; a failure undoes what the effect wrote. */
    readonly transaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** False where the e-mail has an account. */
    readonly insertUser: (user: NewUser, at: Date) => Effect.Effect<boolean>
    readonly findCredentials: (email: string) => Effect.Effect<Option.Option<typeof Credentials.Type>>
    /** Also ends every open link that would set it again, and forgets the browsers that are known. */
    readonly setPassword: (userId: string, hash: string, at: Date) => Effect.Effect<void>
    /** False where the user is an operator already. */
    readonly makeOperator: (userId: string) => Effect.Effect<boolean>
    /** False where the user is a member already. */
    readonly join: (merchantId: MerchantId, userId: string, role: Role, at: Date) => Effect.Effect<boolean>
    /** Also sweeps away what has expired. */
    readonly insertSession: (session: NewSession) => Effect.Effect<void>
    readonly confirmSession: (hash: Uint8Array, at: Date) => Effect.Effect<void>
    /**
     * The session, which lives on until `slideTo` where less than that remained by `slideBefore`. Where it was
     * not seen since `seenBefore`, it is noted from where it is now.
     */
    readonly findSession: (
      hash: Uint8Array,
      times: {
        readonly at: Date
        readonly slideBefore: Date
        readonly slideTo: Date
        readonly startedAfter: Date
        readonly seenBefore: Date
      },
      from: SeenFrom
    ) => Effect.Effect<Option.Option<Session>>
    readonly setLocale: (userId: string, locale: Locale) => Effect.Effect<void>
    /** Those that have not ended, the last seen first. */
    readonly sessionsOf: (
      userId: string,
      current: Uint8Array,
      at: Date,
      startedAfter: Date
    ) => Effect.Effect<ReadonlyArray<OpenSession>>
    /** False where the person has none of that id. */
    readonly endSession: (userId: string, id: string) => Effect.Effect<boolean>
    readonly endOthers: (userId: string, current: Uint8Array) => Effect.Effect<void>
    readonly deleteSession: (hash: Uint8Array) => Effect.Effect<void>
    readonly deleteSessions: (userId: string) => Effect.Effect<void>
    /** Open links that set a password are void from now on. */
    readonly endResets: (email: string, at: Date) => Effect.Effect<void>
    /** Also sweeps away what has expired, and keeps a person's newest ten. */
    readonly insertBrowser: (browser: NewSession) => Effect.Effect<void>
    /** The browsers from which the account of this e-mail has been signed in to, as hex of their hashes. */
    readonly browsersOf: (email: string, at: Date) => Effect.Effect<ReadonlySet<string>>
    /** Takes the place of one of its kind for the same person. */
    readonly insertLink: (
      hash: Uint8Array,
      link: OneTimeLink,
      at: Date,
      expiresAt: Date
    ) => Effect.Effect<void>
    readonly findLink: (hash: Uint8Array, at: Date) => Effect.Effect<Option.Option<OneTimeLink>>
    /** False if another request won the race. */
    readonly useLink: (hash: Uint8Array, at: Date) => Effect.Effect<boolean>
    /** A wrong password through the link, which burns with the last that it may have. */
    readonly noteFailure: (hash: Uint8Array, at: Date, allowed: number) => Effect.Effect<void>
  }
>()("quittance/accounts/AccountRepo") {
  static readonly layer: Layer.Layer<AccountRepo, never, SqlClient.SqlClient> = Layer.effect(
    AccountRepo,
    make
  )
}
