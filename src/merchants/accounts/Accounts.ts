// Users: sign-up and sign-in, sessions, one-time links.
import { Array as Arr, Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import type { Address } from "../../domain/Chain.ts"
import {
  EmailTaken,
  type OneTimeLinkInvalid,
  PasskeyFailed,
  type RateLimited,
  type ReceiverTaken,
  SignInRequired
} from "../../domain/Errors.ts"
import type { Locale } from "../../domain/Locale.ts"
import { plusMillis } from "../../domain/plusMillis.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { Mails } from "../../platform/mail/Mails.ts"
import { fillPlaceholders, mailWords } from "../../platform/mail/mailWords.ts"
import { SecretBox } from "../../platform/SecretBox.ts"
import { AuditLog, type Change } from "../audit/AuditLog.ts"
import { firstChanges } from "../audit/firstChanges.ts"
import { type FirstKeys, KeyAuth } from "../keys/KeyAuth.ts"
import { ReceiverChangeRepo } from "../ReceiverChangeRepo.ts"
import { AccountRepo, type OneTimeLink } from "./Accounts/AccountRepo.ts"
import { makeOneTimeLinks } from "./Accounts/makeOneTimeLinks.ts"
import { makeSignIns, type ProofFailed } from "./Accounts/makeSignIns.ts"
import { Passwords } from "./Accounts/Passwords.ts"
import { type OpenSession, SessionRepo } from "./Accounts/SessionRepo.ts"
import { hashOf, newToken } from "./Accounts/Token.ts"
import { SecondFactors } from "./SecondFactors.ts"
import { type SeenFrom, type Session, type Started, sessionMillis, type User } from "./Session.ts"

/** The time for which a browser stays known after a sign-in. */
export const browserMillis = 365 * 24 * 3_600_000

export interface SignUp {
  readonly email: string
  readonly password: string
  readonly merchantName: string
  readonly receiver: Address
}

/** Security changes that are mailed to the user, by the key of the mail's text. */
type SecurityChange =
  | "passkeyAdded"
  | "passkeyRemoved"
  | "authenticatorAdded"
  | "authenticatorRemoved"
  | "codesRenewed"

export class Accounts extends Context.Service<
  Accounts,
  {
    /** Creates a user, its merchant and the merchant's first keys: all or nothing. */
    readonly signUp: (
      input: SignUp & { readonly operator?: boolean }
    ) => Effect.Effect<
      Started & { readonly keys: Pick<FirstKeys, "test"> },
      EmailTaken | ReceiverTaken | RateLimited
    >
    /** Signs in. A wrong password and an unknown account get the same response in the same time. */
    readonly signIn: (email: string, password: string, code?: string) => Effect.Effect<Started, ProofFailed>
    /** Starts a session for the passkey's user, unless the passkey was removed since. */
    readonly signInByPasskey: (passkey: {
      readonly id: string
      readonly userId: string
    }) => Effect.Effect<Started, PasskeyFailed>
    /** Finds the session. Stores the time and origin of its use at most once a minute. */
    readonly find: (token: string, from?: SeenFrom) => Effect.Effect<Option.Option<Session>>
    /** Sets the language of the user's mails, dates and numbers. */
    readonly setLocale: (session: Session, locale: Locale) => Effect.Effect<void>
    /** The user's own sessions, last seen first. */
    readonly sessions: (session: Session) => Effect.Effect<ReadonlyArray<OpenSession>>
    /** False if the user has no session with that id. */
    readonly endSession: (session: Session, id: string) => Effect.Effect<boolean>
    readonly endOtherSessions: (session: Session) => Effect.Effect<void>
    readonly signOut: (session: Session) => Effect.Effect<void>
    /** Ends every session of the user. */
    readonly signOutEverywhere: (session: Session) => Effect.Effect<void>
    /** Proves the user again: for a while, the session may change receiving addresses. */
    readonly confirm: (session: Session, password: string, code?: string) => Effect.Effect<void, ProofFailed>
    /** Like `confirm`, after the user proved their identity in another way. */
    readonly recordConfirmed: (session: Session) => Effect.Effect<void>
    /**
     * Changes the security of the user's account, and queues a mail to the user in the same transaction.
     * Fails if the session has ended.
     */
    readonly notifying: <A, E, R>(
      session: Session,
      notice: { readonly what: SecurityChange; readonly name?: string },
      change: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | SignInRequired, R>
    /** Ends every other session, replaces this one, and forgets the account's known browsers. */
    readonly changePassword: (
      session: Session,
      current: string,
      next: string,
      code?: string
    ) => Effect.Effect<Started, ProofFailed>
    /** For operators, if a user has lost the app and the codes. False if there was nothing to remove. */
    readonly removeAuthenticator: (email: string) => Effect.Effect<boolean>
    /** The id of the user with this email. */
    readonly findUser: (email: string) => Effect.Effect<Option.Option<string>>
    /** A token for the cookie that marks this browser as known. It marks none if the session has ended. */
    readonly rememberBrowser: (session: Session) => Effect.Effect<string>
    /** The token by which the account with this email knows the browser; none if it knows none of them. */
    readonly knownBrowser: (
      tokens: ReadonlyArray<string>,
      email: string
    ) => Effect.Effect<Option.Option<string>>
    /** The email of a link's user, if the link is valid. */
    readonly linkEmail: (token: string) => Effect.Effect<Option.Option<string>>
    /** Like `createLink`, and also mails the link in the inviter's language. */
    readonly invite: (inviter: User, merchantName: string, link: OneTimeLink) => Effect.Effect<string>
    /** Mails a link that sets a new password, if the email has an account. */
    readonly sendReset: (email: string) => Effect.Effect<void>
    /** The token of a link that works once, for three days. */
    readonly createLink: (link: OneTimeLink) => Effect.Effect<string>
    /**
     * Signs the link's holder in. It sets the password of a new account or, with `resetPassword`, of any
     * account; otherwise the holder must prove the existing password.
     */
    readonly redeem: (
      token: string,
      password: string,
      code?: string
    ) => Effect.Effect<Started, OneTimeLinkInvalid | ProofFailed>
  }
>()("quittance/merchants/Accounts") {
  static readonly layer: Layer.Layer<
    Accounts,
    never,
    KeyAuth | AuditLog | AppConfig | SqlClient.SqlClient | SecureRandom.SecureRandom
  > = Layer.effect(
    Accounts,
    Effect.gen(function* () {
      const repo = yield* AccountRepo
      const sessions = yield* SessionRepo
      const passwords = yield* Passwords
      const keys = yield* KeyAuth
      const audit = yield* AuditLog
      const secondFactors = yield* SecondFactors
      const mails = yield* Mails
      const { baseUrl } = yield* AppConfig
      const random = yield* SecureRandom.SecureRandom

      const signIns = yield* makeSignIns
      const { begin, begun, find, proved, replacePassword, start } = signIns

      return Accounts.of({
        ...(yield* makeOneTimeLinks(signIns)),
        find,
        signUp: Effect.fn("Accounts.signUp")(function* (input) {
          const passwordHash = yield* passwords.hash(input.password)
          const id = yield* random.uuidV7()
          const at = yield* DateTime.nowAsDate
          const issued = yield* repo.transaction(
            Effect.gen(function* () {
              const user = { id, email: input.email, passwordHash, operator: input.operator ?? false }
              if (!(yield* repo.insertUser(user, at))) return yield* new EmailTaken()
              const creating = keys.createTestMerchant({
                name: input.merchantName,
                receivers: { test: input.receiver, live: input.receiver }
              })
              const created = yield* audit.recordingNew({ id, name: input.email }, creating, (outcome) => {
                const { changes, merchantId } = firstChanges(outcome)
                const joined: Change = {
                  action: "member.joined",
                  env: null,
                  summary: "signed up as its owner"
                }
                return { merchantId, changes: [...changes, joined] }
              })
              yield* repo.join(created.merchant.id, id, "owner", at)
              return created.keys
            })
          )
          const proof = { _tag: "Password" as const, hash: passwordHash, authenticatorSince: null }
          return { ...(yield* Effect.orDie(start(id, proof))), keys: issued }
        }),
        signIn: Effect.fn("Accounts.signIn")(function* (email, password, code) {
          const { id, proof } = yield* proved(email, password, code)
          return yield* start(id, proof)
        }),
        signInByPasskey: ({ id, userId }) =>
          Effect.catchTag(start(userId, { _tag: "Passkey", id }), "SignInFailed", () =>
            Effect.fail(new PasskeyFailed())
          ),
        sessions: Effect.fn("Accounts.sessions")(function* ({ hash, user }) {
          const at = yield* DateTime.nowAsDate
          return yield* sessions.sessionsOf(user.id, hash, at, plusMillis(at, -sessionMillis))
        }),
        setLocale: ({ user }, locale) => repo.setLocale(user.id, locale),
        endSession: ({ user }, id) => sessions.endSession(user.id, id),
        endOtherSessions: ({ hash, user }) => sessions.endOthers(user.id, hash),
        recordConfirmed: ({ hash }) =>
          Effect.flatMap(DateTime.nowAsDate, (at) => sessions.confirmSession(hash, at)),
        notifying: (session, { name = "", what }, change) =>
          Effect.suspend(() => {
            const { user } = session
            const words = mailWords[user.locale]
            const notice = fillPlaceholders(words[what], { name })
            const permitted = Effect.gen(function* () {
              return (yield* sessions.hold(session)) ? yield* change : yield* new SignInRequired()
            })
            return repo.transaction(
              Effect.tap(permitted, () =>
                mails.queue({
                  recipient: user.email,
                  subject: `Quittance: ${notice}`,
                  body: [
                    fillPlaceholders(words.securityOf, { email: user.email, what: notice }),
                    "",
                    words.securityNotYou,
                    `${baseUrl}/dashboard`
                  ].join("\n")
                })
              )
            )
          }),
        removeAuthenticator: Effect.fn("Accounts.removeAuthenticator")(function* (email) {
          const user = yield* repo.findCredentials(email)
          if (Option.isNone(user)) return false
          return yield* repo.transaction(
            Effect.gen(function* () {
              const removed = yield* secondFactors.remove(user.value.id)
              const words = mailWords[user.value.locale]
              if (removed)
                yield* mails.queue({
                  recipient: email,
                  subject: `Quittance: ${words.authenticatorRemoved}`,
                  body: fillPlaceholders(words.operatorRemoved, { email })
                })
              return removed
            })
          )
        }),
        findUser: (email) =>
          Effect.map(
            repo.findCredentials(email),
            Option.map(({ id }) => id)
          ),
        signOut: (session) => sessions.deleteSession(session.hash),
        signOutEverywhere: Effect.fn("Accounts.signOutEverywhere")(function* (session) {
          const at = yield* DateTime.nowAsDate
          yield* repo.transaction(
            Effect.andThen(repo.endResets(session.user.email, at), sessions.deleteSessions(session.user.id))
          )
        }),
        rememberBrowser: Effect.fn("Accounts.rememberBrowser")(function* (session) {
          const token = yield* newToken(random)
          const at = yield* DateTime.nowAsDate
          const browser = {
            ...{ hash: hashOf(token), userId: session.user.id },
            ...{ at, expiresAt: plusMillis(at, browserMillis) }
          }
          // A new password forgets browsers and ends the session in one step, so the session is locked.
          yield* repo.transaction(
            Effect.gen(function* () {
              if (yield* sessions.hold(session)) yield* repo.insertBrowser(browser)
            })
          )
          return token
        }),
        knownBrowser: Effect.fn("Accounts.knownBrowser")(function* (tokens, email) {
          if (tokens.length === 0) return Option.none()
          const hashes = yield* repo.browsersOf(email, yield* DateTime.nowAsDate)
          return Arr.findFirst(tokens, (token) => hashes.has(hashOf(token).toString("hex")))
        }),
        confirm: Effect.fn("Accounts.confirm")(function* (session, password, code) {
          yield* proved(session.user.email, password, code)
          yield* sessions.confirmSession(session.hash, yield* DateTime.nowAsDate)
        }),
        changePassword: Effect.fn("Accounts.changePassword")(function* (session, current, next, code) {
          const { email } = session.user
          const { id, proof } = yield* proved(email, current, code)
          const hash = yield* passwords.hash(next)
          const at = yield* DateTime.nowAsDate
          const token = yield* repo.transaction(
            Effect.andThen(
              replacePassword({ id, email }, { present: proof.hash, next: hash }, at),
              begin(id, { ...proof, hash })
            )
          )
          return yield* begun(token)
        })
      })
    })
  ).pipe(
    Layer.provide([AccountRepo.layer, SessionRepo.layer, Passwords.layer, ReceiverChangeRepo.layer]),
    Layer.provide([SecondFactors.layer.pipe(Layer.provide(SecretBox.layer)), Mails.layer])
  )
}
