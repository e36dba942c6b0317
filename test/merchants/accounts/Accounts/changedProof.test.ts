// A person's proof may become invalid while it starts a session: a new password invalidates everything that the old one
// allowed, also requests under way.
import { describe, expect } from "bun:test"
import { Effect, Option, Result } from "effect"
import { SqlClient } from "effect/sql"
import { PasskeyFailed, SignInFailed, SignInRequired } from "../../../../src/domain/Errors.ts"
import { overtaken } from "../../../support/overtaken.ts"
import { liveEffect } from "../../../support/run.ts"
import { accounts, signedUp } from "./signedUp.ts"

const old = "the old password, known to a thief"
const fresh = "a new one, known to nobody else"

/** A person who has signed up, and the lock on their row. */
const known = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { email, people, session } = yield* signedUp(old)
  const { id } = session.user
  const person = sql`SELECT id FROM users WHERE id = ${id} FOR UPDATE`
  return { people, sql, email, session, id, person, changing: people.changePassword(session, old, fresh) }
})

describe("a session that is about to start", () => {
  liveEffect("does not start by a password that is replaced first", () =>
    Effect.gen(function* () {
      const { changing, email, people, person } = yield* known
      expect(yield* overtaken(person, people.signIn(email, old), changing)).toEqual(
        Result.fail(new SignInFailed())
      )
      expect((yield* Effect.exit(people.signIn(email, fresh)))._tag).toBe("Success")
    }).pipe(Effect.provide(accounts))
  )

  liveEffect("does not start by that password through a link either, and the link stays valid", () =>
    Effect.gen(function* () {
      const { changing, email, people, person } = yield* known
      const other = yield* known
      const merchantId = other.session.merchants[0]?.id ?? null
      const token = yield* people.createLink({
        ...{ email, merchantId, role: "support", resetPassword: false, operator: false },
        invitedBy: null
      })
      expect(yield* overtaken(person, people.redeem(token, old), changing)).toEqual(
        Result.fail(new SignInFailed())
      )
      expect(yield* people.linkEmail(token)).toEqual(Option.some(email))
      const { session } = yield* people.redeem(token, fresh)
      expect(session.merchants.map(({ role }) => role)).toEqual(["owner", "support"])
    }).pipe(Effect.provide(accounts))
  )

  liveEffect("does not start without the code of an authenticator that is confirmed first", () =>
    Effect.gen(function* () {
      const { email, id, people, person, sql } = yield* known
      const adding = sql`
        INSERT INTO authenticators (user_id, secret_kid, secret_ciphertext, created_at, confirmed_at)
        VALUES (${id}, 'k', '\\x00', now(), now())`
      expect(yield* overtaken(person, people.signIn(email, old), adding)).toEqual(
        Result.fail(new SignInFailed())
      )
    }).pipe(Effect.provide(accounts))
  )

  liveEffect("does not start by a passkey that is removed first", () =>
    Effect.gen(function* () {
      const { id, people, person, sql } = yield* known
      const passkey = { id: crypto.randomUUID(), userId: id }
      yield* sql`
        INSERT INTO passkeys (id, user_id, credential_id, public_key, counter, transports, name, created_at)
        VALUES (${passkey.id}, ${id}, ${passkey.id}, '\\x00', 0, '{}', 'Phone', now())`
      const { session } = yield* people.signInByPasskey(passkey)
      expect(session.user.id).toBe(id)
      const removing = sql`DELETE FROM passkeys WHERE id = ${passkey.id}`
      expect(yield* overtaken(person, people.signInByPasskey(passkey), removing)).toEqual(
        Result.fail(new PasskeyFailed())
      )
    }).pipe(Effect.provide(accounts))
  )
})

describe("a new password", () => {
  liveEffect("is not overwritten by a request that proved the old one", () =>
    Effect.gen(function* () {
      const { changing, email, id, people, sql } = yield* known
      const stolen = yield* people.signIn(email, old)
      const merchants = sql`
        SELECT id FROM merchants WHERE id IN (SELECT merchant_id FROM merchant_members WHERE user_id = ${id})
        FOR UPDATE`
      const stealing = people.changePassword(stolen.session, old, "the thief's own password")
      expect(yield* overtaken(merchants, stealing, changing)).toEqual(Result.fail(new SignInFailed()))
      expect((yield* Effect.exit(people.signIn(email, fresh)))._tag).toBe("Success")
    }).pipe(Effect.provide(accounts))
  )

  liveEffect(
    "set by a link removes the passkeys of anybody who had the account before, such as a stranger",
    () =>
      Effect.gen(function* () {
        const { email, id, people, sql } = yield* known
        const passkey = { id: crypto.randomUUID(), userId: id }
        yield* sql`
        INSERT INTO passkeys (id, user_id, credential_id, public_key, counter, transports, name, created_at)
        VALUES (${passkey.id}, ${id}, ${passkey.id}, '\\x00', 0, '{}', 'The stranger''s', now())`
        const link = { email, merchantId: null, role: "owner" as const, operator: false, invitedBy: null }
        // An invitation accepted with the present password keeps the passkey.
        yield* people.redeem(yield* people.createLink({ ...link, resetPassword: false }), old)
        expect((yield* people.signInByPasskey(passkey)).session.user.id).toBe(id)
        yield* people.redeem(yield* people.createLink({ ...link, resetPassword: true }), fresh)
        expect(yield* Effect.flip(people.signInByPasskey(passkey))).toEqual(new PasskeyFailed())
      }).pipe(Effect.provide(accounts))
  )

  liveEffect("stops a session that it has ended from changing the account's security", () =>
    Effect.gen(function* () {
      const { changing, email, people, person } = yield* known
      const stolen = yield* people.signIn(email, old)
      let isAdded = false
      const adding = people.notifying(
        stolen.session,
        { what: "passkeyAdded", name: "The thief's" },
        Effect.sync(() => {
          isAdded = true
        })
      )
      expect(yield* overtaken(person, adding, changing)).toEqual(Result.fail(new SignInRequired()))
      expect(isAdded).toBeFalse()
    }).pipe(Effect.provide(accounts))
  )
})

describe("a browser that is about to become known", () => {
  liveEffect("does not become known by a session that a new password ends first", () =>
    Effect.gen(function* () {
      const { changing, email, people, person, session } = yield* known
      const remembered = yield* overtaken(person, people.rememberBrowser(session), changing)
      const tokens = Result.isSuccess(remembered) ? [remembered.success] : []
      expect(tokens).toHaveLength(1)
      expect(yield* people.knownBrowser(tokens, email)).toEqual(Option.none())
      const { session: present } = yield* people.signIn(email, fresh)
      const own = yield* people.rememberBrowser(present)
      expect(yield* people.knownBrowser([own], email)).toEqual(Option.some(own))
    }).pipe(Effect.provide(accounts))
  )
})
