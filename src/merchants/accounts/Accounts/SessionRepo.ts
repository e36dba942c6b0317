// The SQL of sessions.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AddressBytes } from "../../../chain/ChainBytes.ts"
import { Locale } from "../../../domain/Locale.ts"
import { defaultTokenLifetime, MerchantId, Uuid } from "../../../domain/Merchant.ts"
import { Role } from "../../../domain/Role.ts"
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

export interface NewSession {
  readonly hash: Uint8Array
  readonly userId: string
  readonly at: Date
  readonly expiresAt: Date
}

/** The proof of the user's identity. */
export type SessionProof =
  | {
      readonly _tag: "Password"
      readonly hash: string
      /** The creation time of the authenticator whose code was verified; null if the user had none. */
      readonly authenticatorSince: Date | null
    }
  | { readonly _tag: "Passkey"; readonly id: string }

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const stands = (proof: SessionProof) =>
    proof._tag === "Passkey"
      ? sql`EXISTS (SELECT FROM passkeys p WHERE p.id = ${proof.id} AND p.user_id = u.id)`
      : sql`u.password_hash = ${proof.hash}
          AND (SELECT date_trunc('milliseconds', a.confirmed_at) FROM authenticators a WHERE a.user_id = u.id)
            IS NOT DISTINCT FROM ${proof.authenticatorSince}::timestamptz`

  return SessionRepo.of({
    begin: Effect.fn("SessionRepo.begin")(function* (session, proof) {
      return yield* sql.withTransaction(
        Effect.gen(function* () {
          // In its own statement, so that the next one sees what this one waited for.
          yield* sql`SELECT id FROM users WHERE id = ${session.userId} FOR SHARE`
          // Skips rows that another sweep holds: waiting for them could deadlock.
          const rows = yield* sql`
            WITH deleted_sessions AS (
              DELETE FROM sessions WHERE hash IN (
                SELECT hash FROM sessions WHERE expires_at < ${session.at} FOR UPDATE SKIP LOCKED)
            )
            INSERT INTO sessions (hash, user_id, created_at, expires_at, confirmed_at)
            SELECT ${session.hash}::bytea, u.id, ${session.at}::timestamptz, ${session.expiresAt}::timestamptz,
              ${session.at}::timestamptz
            FROM users u WHERE u.id = ${session.userId} AND ${stands(proof)} RETURNING hash`
          return rows.length > 0
        })
      )
    }, Effect.orDie),

    hold: Effect.fn("SessionRepo.hold")(function* ({ hash, user }) {
      // Locks the user first, in the same order as a new password, which ends the sessions.
      yield* sql`SELECT id FROM users WHERE id = ${user.id} FOR NO KEY UPDATE`
      const rows = yield* sql`SELECT hash FROM sessions WHERE hash = ${hash} FOR KEY SHARE`
      return rows.length > 0
    }, Effect.orDie),

    confirmSession: Effect.fn("SessionRepo.confirmSession")(function* (hash, at) {
      yield* sql`UPDATE sessions SET confirmed_at = ${at} WHERE hash = ${hash}`
    }, Effect.orDie),

    findSession: Effect.fn("SessionRepo.findSession")(function* (hash, times, from) {
      const rows = yield* decodeSession(
        yield* sql`
          WITH s AS (
            SELECT hash, id, user_id, confirmed_at FROM sessions
            WHERE hash = ${hash} AND expires_at > ${times.at} AND created_at > ${times.startedAfter}
          ), extended_session AS (
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

    sessionsOf: Effect.fn("SessionRepo.sessionsOf")(function* (userId, hash, at, startedAfter) {
      return yield* decodeOpenSessions(
        yield* sql`
          SELECT id, user_agent, address, created_at, seen_at, hash = ${hash} AS current FROM sessions
          WHERE user_id = ${userId} AND expires_at > ${at} AND created_at > ${startedAfter}
          ORDER BY coalesce(seen_at, created_at) DESC, id LIMIT 100`
      )
    }, Effect.orDie),

    endSession: Effect.fn("SessionRepo.endSession")(function* (userId, id) {
      const rows = yield* sql`DELETE FROM sessions WHERE user_id = ${userId} AND id = ${id} RETURNING id`
      return rows.length > 0
    }, Effect.orDie),

    endOthers: Effect.fn("SessionRepo.endOthers")(function* (userId, hash) {
      yield* sql`DELETE FROM sessions WHERE user_id = ${userId} AND hash <> ${hash}`
    }, Effect.orDie),

    deleteSession: Effect.fn("SessionRepo.deleteSession")(function* (hash) {
      yield* sql`DELETE FROM sessions WHERE hash = ${hash}`
    }, Effect.orDie),

    deleteSessions: Effect.fn("SessionRepo.deleteSessions")(function* (userId) {
      yield* sql`DELETE FROM sessions WHERE user_id = ${userId}`
    }, Effect.orDie)
  })
})

export class SessionRepo extends Context.Service<
  SessionRepo,
  {
    /**
     * False if the proof no longer holds: the password was changed, the passkey was removed, or the
     * authenticator is not the one whose code was verified. Also deletes expired sessions.
     */
    readonly begin: (session: NewSession, proof: SessionProof) => Effect.Effect<boolean>
    /**
     * Until the transaction ends, no other session of the user can begin, and this one cannot end. False if
     * it has already ended.
     */
    readonly hold: (session: Session) => Effect.Effect<boolean>
    readonly confirmSession: (hash: Uint8Array, at: Date) => Effect.Effect<void>
    /**
     * Finds a session. Extends it until `slideTo` if it would end before `slideBefore`. Stores its current
     * origin if it was last seen before `seenBefore`.
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
    /** The user's active sessions, last seen first. */
    readonly sessionsOf: (
      userId: string,
      current: Uint8Array,
      at: Date,
      startedAfter: Date
    ) => Effect.Effect<ReadonlyArray<OpenSession>>
    /** False if the user has no session with that id. */
    readonly endSession: (userId: string, id: string) => Effect.Effect<boolean>
    readonly endOthers: (userId: string, current: Uint8Array) => Effect.Effect<void>
    readonly deleteSession: (hash: Uint8Array) => Effect.Effect<void>
    readonly deleteSessions: (userId: string) => Effect.Effect<void>
  }
>()("quittance/merchants/SessionRepo") {
  static readonly layer: Layer.Layer<SessionRepo, never, SqlClient.SqlClient> = Layer.effect(
    SessionRepo,
    make
  )
}
