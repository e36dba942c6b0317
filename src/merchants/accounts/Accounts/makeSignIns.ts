// Signs users in by password and second factor, and starts their sessions.
import { DateTime, Effect, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import {
  type RateLimited,
  type SecondFactorFailed,
  type SecondFactorRequired,
  SignInFailed
} from "../../../domain/Errors.ts"
import { plusMillis } from "../../../domain/plusMillis.ts"
import { AuditLog } from "../../audit/AuditLog.ts"
import { ReceiverChangeRepo } from "../../ReceiverChangeRepo.ts"
import { withdrawnChange } from "../../withdrawnChange.ts"
import { SecondFactors } from "../SecondFactors.ts"
import { type SeenFrom, type Started, sessionMillis } from "../Session.ts"
import { AccountRepo } from "./AccountRepo.ts"
import { Passwords } from "./Passwords.ts"
import { type SessionProof, SessionRepo } from "./SessionRepo.ts"
import { hashOf, newToken } from "./Token.ts"

const day = 24 * 3_600_000
/** A session ends after this much time without use. */
const idleMillis = 7 * day
/** A session's use extends it at most once in this interval. */
const slideEveryMillis = 3_600_000
/** A session's origin is stored at most once in this interval. */
const seenEveryMillis = 60_000

const nowhere: SeenFrom = { userAgent: null, address: null }

/** The reason why a proof of identity failed. */
export type ProofFailed = SignInFailed | SecondFactorRequired | SecondFactorFailed | RateLimited

export const makeSignIns = Effect.gen(function* () {
  const repo = yield* AccountRepo
  const sessions = yield* SessionRepo
  const passwords = yield* Passwords
  const secondFactors = yield* SecondFactors
  const receiverChanges = yield* ReceiverChangeRepo
  const audit = yield* AuditLog
  const random = yield* SecureRandom.SecureRandom

  const find = Effect.fn("Accounts.find")(function* (token: string, from: SeenFrom = nowhere) {
    const at = yield* DateTime.nowAsDate
    return yield* sessions.findSession(
      hashOf(token),
      {
        at,
        slideBefore: plusMillis(at, idleMillis - slideEveryMillis),
        slideTo: plusMillis(at, idleMillis),
        startedAfter: plusMillis(at, -sessionMillis),
        seenBefore: plusMillis(at, -seenEveryMillis)
      },
      from
    )
  })

  /** The token of a new session; fails if the user's proof has changed since it was verified. */
  const begin = Effect.fnUntraced(function* (userId: string, proof: SessionProof) {
    const token = yield* newToken(random)
    const at = yield* DateTime.nowAsDate
    const session = { hash: hashOf(token), userId, at, expiresAt: plusMillis(at, idleMillis) }
    return (yield* sessions.begin(session, proof)) ? token : yield* new SignInFailed()
  })

  const begun = Effect.fnUntraced(function* (token: string): Effect.fn.Return<Started, SignInFailed> {
    const session = yield* find(token)
    // A new password may already have ended the session.
    return Option.isSome(session) ? { session: session.value, token } : yield* new SignInFailed()
  })

  const start = (userId: string, proof: SessionProof) => Effect.flatMap(begin(userId, proof), begun)

  /** Verifies password and code; returns the user's id and the proof. */
  const prove = Effect.fnUntraced(function* (email: string, password: string, code: string | undefined) {
    const user = yield* repo.findCredentials(email)
    const hash = Option.match(user, { onNone: () => null, onSome: (row) => row.password_hash })
    const ok = yield* passwords.verify(password, hash)
    if (!ok || Option.isNone(user) || hash === null) return yield* new SignInFailed()
    const authenticatorSince = yield* secondFactors.verify(user.value.id, code)
    return { id: user.value.id, proof: { _tag: "Password" as const, hash, authenticatorSince } }
  })

  /**
   * Replaces the verified password, ends the user's sessions and withdraws their pending changes. Runs inside
   * a transaction.
   */
  const replacePassword = Effect.fnUntraced(function* (
    { email, id }: { readonly id: string; readonly email: string },
    password: { readonly present: string | null; readonly next: string },
    at: Date
  ) {
    // Somebody else with the old password may have requested these changes.
    const withdrawn = yield* receiverChanges.withdrawOf(id, at)
    if (!(yield* repo.setPassword(id, password, at))) return yield* new SignInFailed()
    for (const change of withdrawn) {
      const withdrawal = Option.some(withdrawnChange(change, email, ", by setting a new password"))
      yield* audit.recording(change.merchantId, { id, name: email }, Effect.void, () => withdrawal)
    }
    yield* sessions.deleteSessions(id)
  })

  return { find, begin, begun, start, proved: prove, replacePassword }
})

export type SignIns = Effect.Success<typeof makeSignIns>
