// Concurrent changes of the same rows wait for each other, without a deadlock.
import { describe, expect } from "bun:test"
import { Effect, Option, Result } from "effect"
import { SqlClient } from "effect/sql"
import { OneTimeLinkInvalid } from "../../../../src/domain/Errors.ts"
import { MemberRepo } from "../../../../src/merchants/accounts/MemberRepo.ts"
import { AuditLog, operator } from "../../../../src/merchants/audit/AuditLog.ts"
import { liveEffect } from "../../../support/run.ts"
import { accounts, signedUp } from "./signedUp.ts"

const password = "correct horse battery staple"

/** `second` begins during `first`'s pause. */
const inBetween = <A, E, R, A2, E2, R2>(first: Effect.Effect<A, E, R>, second: Effect.Effect<A2, E2, R2>) =>
  Effect.all([first, Effect.delay(second, "200 millis")], { concurrency: 2, mode: "result" })
const pause = Effect.sleep("2 seconds")

describe("at the same time", () => {
  liveEffect("an invitation that is being withdrawn cannot be redeemed", () =>
    Effect.gen(function* () {
      const { merchantId, people, user } = yield* signedUp(password)
      const members = yield* MemberRepo
      const audit = yield* AuditLog
      const token = yield* people.createLink({
        email: `guest-${crypto.randomUUID()}@example.com`,
        merchantId,
        role: "support",
        resetPassword: false,
        operator: false,
        invitedBy: user.id
      })
      const at = new Date()
      const [invitation] = yield* members.invitations(merchantId, at)
      const withdrawing = audit.recording(
        merchantId,
        operator,
        Effect.andThen(pause, members.withdraw(merchantId, invitation?.id ?? "", at)),
        () => Option.none()
      )
      const [withdrawn, redeemed] = yield* inBetween(withdrawing, people.redeem(token, password))
      expect(Result.map(withdrawn, Option.isSome)).toEqual(Result.succeed(true))
      expect(redeemed).toEqual(Result.fail(new OneTimeLinkInvalid()))
    }).pipe(Effect.provide(accounts))
  )

  liveEffect("a person can sign out everywhere while a new password ends the sessions", () =>
    Effect.gen(function* () {
      const { email, people, session, user } = yield* signedUp(password)
      const sql = yield* SqlClient.SqlClient
      yield* people.createLink({
        ...{ email, merchantId: null, role: "owner", resetPassword: true, operator: false },
        invitedBy: null
      })
      // In the order of a new password.
      const replacing = sql.withTransaction(
        Effect.all([
          sql`UPDATE one_time_links SET used_at = now() WHERE email = ${email} AND used_at IS NULL`,
          pause,
          sql`DELETE FROM sessions WHERE user_id = ${user.id}`
        ])
      )
      const ended = yield* inBetween(replacing, people.signOutEverywhere(session))
      expect(ended.map(({ _tag }) => _tag)).toEqual(["Success", "Success"])
    }).pipe(Effect.provide(accounts))
  )

  liveEffect("a sign-in does not wait for another that sweeps expired sessions", () =>
    Effect.gen(function* () {
      const { email, people, user } = yield* signedUp(password)
      const other = yield* signedUp(password)
      const sql = yield* SqlClient.SqlClient
      yield* sql`
        INSERT INTO sessions (hash, user_id, created_at, expires_at, confirmed_at)
        VALUES (${Buffer.alloc(32)}, ${user.id}, '2020-01-01', '2020-01-02', '2020-01-01')`
      const done: Array<string> = []
      const noted = (who: string) => Effect.sync(() => void done.push(who))
      // As when an invitation is redeemed, which writes more after the sign-in.
      const first = sql.withTransaction(
        Effect.all([people.signIn(email, password), noted("swept"), Effect.sleep("4 seconds")])
      )
      yield* Effect.all(
        [
          Effect.andThen(first, noted("first")),
          Effect.andThen(
            Effect.repeat(Effect.sleep("20 millis"), { until: () => done.length > 0 }),
            Effect.andThen(people.signIn(other.email, password), noted("second"))
          )
        ],
        { concurrency: 2 }
      )
      expect(done).toEqual(["swept", "second", "first"])
    }).pipe(Effect.provide(accounts))
  )
})
