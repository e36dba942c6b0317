// A one-time link is redeemed while something else ends it: one of them comes first, and the other fails.
import { describe, expect } from "bun:test"
import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { OneTimeLinkInvalid } from "../../../../src/domain/Errors.ts"
import type { OneTimeLink } from "../../../../src/merchants/accounts/Accounts/AccountRepo.ts"
import { MemberRepo } from "../../../../src/merchants/accounts/MemberRepo.ts"
import { overtaken } from "../../../support/overtaken.ts"
import { liveEffect } from "../../../support/run.ts"
import { accounts, signedUp } from "./signedUp.ts"

const old = "the password of before"
const fresh = "the password of afterwards"

/** A person who owns a merchant, and the lock on that merchant. */
const owner = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { email, merchantId, people, session } = yield* signedUp(old)
  const merchant = sql`SELECT id FROM merchants WHERE id = ${merchantId} FOR NO KEY UPDATE`
  const link = (of: Partial<OneTimeLink>) =>
    people.createLink({
      ...{ email, merchantId: null, role: "owner", resetPassword: false, operator: false, invitedBy: null },
      ...of
    })
  return { people, sql, session, merchantId, merchant, link }
})

describe("a one-time link", () => {
  liveEffect("is no invitation if its inviter is removed first", () =>
    Effect.gen(function* () {
      const { link, merchant, merchantId, people, session } = yield* owner
      const members = yield* MemberRepo
      const invited = { email: "other@example.com", merchantId, invitedBy: null }
      const { session: other } = yield* people.redeem(yield* link(invited), old)
      const token = yield* link({ email: "friend@example.com", merchantId, invitedBy: other.user.id })
      const removing = members.remove({ merchantId, userId: other.user.id, by: session.user.id })
      expect(yield* overtaken(merchant, people.redeem(token, fresh), removing)).toEqual(
        Result.fail(new OneTimeLinkInvalid())
      )
    }).pipe(Effect.provide(accounts))
  )

  liveEffect("sets no password if its person sets another first", () =>
    Effect.gen(function* () {
      const { link, merchant, people, session } = yield* owner
      const token = yield* link({ resetPassword: true })
      const changing = people.changePassword(session, old, fresh)
      const redeeming = people.redeem(token, "a third one, by the link")
      expect(yield* overtaken(merchant, redeeming, changing)).toEqual(Result.fail(new OneTimeLinkInvalid()))
      expect((yield* Effect.exit(people.signIn(session.user.email, fresh)))._tag).toBe("Success")
    }).pipe(Effect.provide(accounts))
  )

  liveEffect("sets a password before its person signs out everywhere", () =>
    Effect.gen(function* () {
      const { link, people, session, sql } = yield* owner
      const token = yield* link({ resetPassword: true })
      const waiting = sql`SELECT hash FROM one_time_links WHERE email = ${session.user.email} FOR NO KEY UPDATE`
      const redeeming = people.redeem(token, fresh)
      expect(yield* overtaken(waiting, people.signOutEverywhere(session), redeeming)).toEqual(
        Result.succeed(undefined)
      )
      expect((yield* Effect.exit(people.signIn(session.user.email, fresh)))._tag).toBe("Success")
    }).pipe(Effect.provide(accounts))
  )
})
