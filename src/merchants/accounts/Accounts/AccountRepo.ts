// The SQL of users, memberships, known browsers and one-time links.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { Locale } from "../../../domain/Locale.ts"
import { MerchantId, Uuid } from "../../../domain/Merchant.ts"
import { Role } from "../../../domain/Role.ts"
import { isUniqueViolation } from "../../../platform/database/isUniqueViolation.ts"
import type { NewSession } from "./SessionRepo.ts"

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
  /** The user's role in the merchant. */
  readonly role: Role
  /** True if an operator's link sets the password of an account that already has one. */
  readonly resetPassword: boolean
  readonly operator: boolean
  /** The member who sent the invitation; null for an operator's link. */
  readonly invitedBy: string | null
}

export interface NewUser {
  readonly id: string
  readonly email: string
  readonly passwordHash: string
  readonly operator: boolean
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  /** An invitation becomes void if its inviter is no longer an owner. */
  const isStanding = sql`(l.invited_by IS NULL OR EXISTS (
    SELECT 1 FROM merchant_members m
    WHERE m.merchant_id = l.merchant_id AND m.user_id = l.invited_by AND m.role = 'owner'))`

  return AccountRepo.of({
    transaction: (effect) =>
      sql.withTransaction(effect).pipe(Effect.catchIf(SqlError.isSqlError, Effect.die)),

    insertUser: (user, at) =>
      sql`
        INSERT INTO users (id, email, password_hash, operator, created_at)
        VALUES (${user.id}, ${user.email}, ${user.passwordHash}, ${user.operator}, ${at})
        ON CONFLICT (email) DO NOTHING RETURNING id`.pipe(
        Effect.map((rows) => rows.length > 0),
        Effect.catchIf(isUniqueViolation, () => Effect.succeed(false)),
        Effect.orDie
      ),

    findCredentials: Effect.fn("AccountRepo.findCredentials")(function* (email) {
      const [row] = yield* decodeCredentials(
        yield* sql`SELECT id, password_hash, locale FROM users WHERE email = ${email}`
      )
      return Option.fromUndefinedOr(row)
    }, Effect.orDie),

    hold: Effect.fn("AccountRepo.hold")(function* (merchantId, userId) {
      yield* sql`
        SELECT id FROM merchants
        WHERE id = ${merchantId}::uuid
          OR id IN (SELECT merchant_id FROM merchant_members WHERE user_id = ${userId}::uuid)
        ORDER BY id FOR NO KEY UPDATE`
      yield* sql`SELECT id FROM users WHERE id = ${userId}::uuid FOR NO KEY UPDATE`
    }, Effect.orDie),

    setPassword: Effect.fn("AccountRepo.setPassword")(function* (userId, { next, present }, at) {
      const rows = yield* sql`
        WITH changed_user AS (
          UPDATE users SET password_hash = ${next}
          WHERE id = ${userId} AND password_hash IS NOT DISTINCT FROM ${present}::text RETURNING id, email
        ), deleted_browsers AS (
          DELETE FROM known_browsers WHERE user_id IN (SELECT id FROM changed_user)
        ), used_links AS (
          UPDATE one_time_links l SET used_at = ${at} FROM changed_user
          WHERE l.email = changed_user.email AND l.reset_password AND l.used_at IS NULL
        )
        SELECT id FROM changed_user`
      return rows.length > 0
    }, Effect.orDie),

    removePasskeys: Effect.fn("AccountRepo.removePasskeys")(function* (userId) {
      const rows = yield* sql`DELETE FROM passkeys WHERE user_id = ${userId} RETURNING id`
      return rows.length > 0
    }, Effect.orDie),

    makeOperator: Effect.fn("AccountRepo.makeOperator")(function* (userId) {
      const rows =
        yield* sql`UPDATE users SET operator = true WHERE id = ${userId} AND NOT operator RETURNING id`
      return rows.length > 0
    }, Effect.orDie),

    join: Effect.fn("AccountRepo.join")(function* (merchantId, userId, role, at) {
      const rows = yield* sql`
        INSERT INTO merchant_members (merchant_id, user_id, role, created_at)
        VALUES (${merchantId}, ${userId}, ${role}, ${at}) ON CONFLICT DO NOTHING RETURNING user_id`
      return rows.length > 0
    }, Effect.orDie),

    changeRole: Effect.fn("AccountRepo.changeRole")(function* (merchantId, userId, role) {
      const rows = yield* sql`
        UPDATE merchant_members SET role = ${role}
        WHERE merchant_id = ${merchantId} AND user_id = ${userId} AND role NOT IN ('owner', ${role}::text)
        RETURNING user_id`
      return rows.length > 0
    }, Effect.orDie),

    setLocale: Effect.fn("AccountRepo.setLocale")(function* (userId, locale) {
      yield* sql`UPDATE users SET locale = ${locale} WHERE id = ${userId}`
    }, Effect.orDie),

    endResets: Effect.fn("AccountRepo.endResets")(function* (email, at) {
      yield* sql`
        UPDATE one_time_links SET used_at = ${at}
        WHERE email = ${email} AND reset_password AND used_at IS NULL`
    }, Effect.orDie),

    insertBrowser: Effect.fn("AccountRepo.insertBrowser")(function* (browser) {
      yield* sql`
        WITH deleted_browsers AS (
          DELETE FROM known_browsers WHERE expires_at < ${browser.at} OR hash = ANY (ARRAY(
            SELECT hash FROM known_browsers WHERE user_id = ${browser.userId}
            ORDER BY created_at DESC OFFSET 9))
        )
        INSERT INTO known_browsers (hash, user_id, created_at, expires_at)
        VALUES (${browser.hash}, ${browser.userId}, ${browser.at}, ${browser.expiresAt})`
    }, Effect.orDie),

    browsersOf: Effect.fn("AccountRepo.browsersOf")(function* (email, at) {
      const rows = yield* decodeBrowsers(
        yield* sql`
          SELECT encode(b.hash, 'hex') AS hash FROM known_browsers b JOIN users u ON u.id = b.user_id
          WHERE b.expires_at > ${at} AND u.email = ${email}`
      )
      return new Set(rows.map(({ hash }) => hash))
    }, Effect.orDie),

    insertLink: Effect.fn("AccountRepo.insertLink")(function* (hash, link, at, expiresAt) {
      yield* sql`
        WITH deleted_links AS (
          DELETE FROM one_time_links WHERE hash IN (
            SELECT hash FROM one_time_links WHERE expires_at < ${at} FOR UPDATE SKIP LOCKED)
        ), replaced_links AS (
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

    findLink: Effect.fn("AccountRepo.findLink")(function* (hash, at) {
      const [row] = yield* decodeLinks(
        yield* sql`
          SELECT email, merchant_id, role, reset_password, operator, invited_by FROM one_time_links l
          WHERE hash = ${hash} AND used_at IS NULL AND expires_at > ${at} AND ${isStanding}`
      )
      return Option.map(
        Option.fromUndefinedOr(row),
        (row): OneTimeLink => ({
          email: row.email,
          merchantId: row.merchant_id,
          role: row.role,
          resetPassword: row.reset_password,
          operator: row.operator,
          invitedBy: row.invited_by
        })
      )
    }, Effect.orDie),

    useLink: Effect.fn("AccountRepo.useLink")(function* (hash, at) {
      const rows = yield* sql`
        UPDATE one_time_links l SET used_at = ${at}
        WHERE hash = ${hash} AND used_at IS NULL AND expires_at > ${at} AND ${isStanding} RETURNING hash`
      return rows.length > 0
    }, Effect.orDie),

    recordFailure: Effect.fn("AccountRepo.recordFailure")(function* (hash, at, allowed) {
      yield* sql`
        UPDATE one_time_links SET failures = failures + 1,
          used_at = CASE WHEN failures + 1 >= ${allowed} THEN ${at}::timestamptz ELSE used_at END
        WHERE hash = ${hash}`
    }, Effect.orDie)
  })
})

export class AccountRepo extends Context.Service<
  AccountRepo,
  {
    /** All or nothing; a failure undoes what the effect wrote. */
    readonly transaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** False if the email already has an account. */
    readonly insertUser: (user: NewUser, at: Date) => Effect.Effect<boolean>
    /**
     * Locks the merchant and, if given, the user with the merchants that the user belongs to, in the order
     * that all code uses. Links are locked after them, and sessions last. Runs inside a transaction.
     */
    readonly hold: (merchantId: MerchantId | null, userId: string | null) => Effect.Effect<void>
    readonly findCredentials: (email: string) => Effect.Effect<Option.Option<typeof Credentials.Type>>
    /**
     * Sets a password. Also ends every open reset link and forgets the known browsers. False if `present` is
     * no longer the stored hash: another password was set since it was proven.
     */
    readonly setPassword: (
      userId: string,
      password: { readonly present: string | null; readonly next: string },
      at: Date
    ) => Effect.Effect<boolean>
    /** Removes all of the user's passkeys; false if there were none. */
    readonly removePasskeys: (userId: string) => Effect.Effect<boolean>
    /** False if the user is already an operator. */
    readonly makeOperator: (userId: string) => Effect.Effect<boolean>
    /** False if the user is already a member. */
    readonly join: (merchantId: MerchantId, userId: string, role: Role, at: Date) => Effect.Effect<boolean>
    /** Changes the role of a member who is not an owner; false if nothing changed. */
    readonly changeRole: (merchantId: MerchantId, userId: string, role: Role) => Effect.Effect<boolean>
    readonly setLocale: (userId: string, locale: Locale) => Effect.Effect<void>
    /** Ends the open links that set this user's password. */
    readonly endResets: (email: string, at: Date) => Effect.Effect<void>
    /** Also deletes expired entries, and stores only the user's newest ten. */
    readonly insertBrowser: (browser: NewSession) => Effect.Effect<void>
    /** The browsers from which the account with this email was signed in to, as hex of their hashes. */
    readonly browsersOf: (email: string, at: Date) => Effect.Effect<ReadonlySet<string>>
    /** Replaces the user's earlier link of the same kind. */
    readonly insertLink: (
      hash: Uint8Array,
      link: OneTimeLink,
      at: Date,
      expiresAt: Date
    ) => Effect.Effect<void>
    readonly findLink: (hash: Uint8Array, at: Date) => Effect.Effect<Option.Option<OneTimeLink>>
    /** False if another request used the link first. */
    readonly useLink: (hash: Uint8Array, at: Date) => Effect.Effect<boolean>
    /** Counts a wrong password through the link; the last allowed failure voids it. */
    readonly recordFailure: (hash: Uint8Array, at: Date, allowed: number) => Effect.Effect<void>
  }
>()("quittance/merchants/AccountRepo") {
  static readonly layer: Layer.Layer<AccountRepo, never, SqlClient.SqlClient> = Layer.effect(
    AccountRepo,
    make
  )
}
