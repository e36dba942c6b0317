// Links that work once: invitations and password resets.
import { DateTime, Effect, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { OneTimeLinkInvalid } from "../../../domain/Errors.ts"
import { plusMillis } from "../../../domain/plusMillis.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { Mails } from "../../../platform/mail/Mails.ts"
import { fillPlaceholders, mailWords } from "../../../platform/mail/mailWords.ts"
import { AuditLog } from "../../audit/AuditLog.ts"
import { linkUrl } from "../linkUrl.ts"
import { SecondFactors } from "../SecondFactors.ts"
import type { User } from "../Session.ts"
import { AccountRepo, type OneTimeLink } from "./AccountRepo.ts"
import type { SignIns } from "./makeSignIns.ts"
import { Passwords } from "./Passwords.ts"
import { hashOf, newToken } from "./Token.ts"

/** The lifetime of a reset link, which anybody may request. */
const resetMillis = 3_600_000
const linkMillis = 3 * 24 * 3_600_000
/** A link is void after this many wrong passwords. */
const linkFailures = 10

export const makeOneTimeLinks = Effect.fnUntraced(function* ({
  begin,
  begun,
  proved,
  replacePassword
}: SignIns) {
  const repo = yield* AccountRepo
  const passwords = yield* Passwords
  const secondFactors = yield* SecondFactors
  const audit = yield* AuditLog
  const mails = yield* Mails
  const { baseUrl, smtp } = yield* AppConfig
  const random = yield* SecureRandom.SecureRandom

  return {
    linkEmail: (token: string) =>
      Effect.flatMap(DateTime.nowAsDate, (at) => repo.findLink(hashOf(token), at)).pipe(
        Effect.map(Option.map(({ email }) => email))
      ),
    createLink: Effect.fn("Accounts.createLink")(function* (link: OneTimeLink) {
      const token = yield* newToken(random)
      const at = yield* DateTime.nowAsDate
      yield* repo.insertLink(hashOf(token), link, at, plusMillis(at, linkMillis))
      return token
    }),
    invite: Effect.fn("Accounts.invite")(function* (inviter: User, merchantName: string, link: OneTimeLink) {
      const token = yield* newToken(random)
      const at = yield* DateTime.nowAsDate
      const words = mailWords[inviter.locale]
      const values = { inviter: inviter.email, merchant: merchantName }
      yield* repo.transaction(
        Effect.andThen(
          repo.insertLink(hashOf(token), link, at, plusMillis(at, linkMillis)),
          mails.queue({
            urgent: true,
            recipient: link.email,
            subject: fillPlaceholders(words.invitationSubject, values),
            body: [fillPlaceholders(words.invitation, values), linkUrl(baseUrl, token)].join("\n")
          })
        )
      )
      return token
    }),
    sendReset: Effect.fn("Accounts.sendReset")(function* (email: string) {
      // Without mail the link would reach nobody, and would void a link that the operator handed out.
      if (Option.isNone(smtp)) return
      const token = yield* newToken(random)
      const at = yield* DateTime.nowAsDate
      const expiresAt = plusMillis(at, resetMillis)
      const user = yield* repo.findCredentials(email)
      if (Option.isNone(user)) return
      const words = mailWords[user.value.locale]
      const link: OneTimeLink = {
        email,
        merchantId: null,
        role: "owner",
        resetPassword: true,
        operator: false,
        invitedBy: null
      }
      yield* repo.transaction(
        Effect.andThen(
          repo.insertLink(hashOf(token), link, at, expiresAt),
          mails.queue({
            urgent: true,
            recipient: email,
            subject: `Quittance: ${words.resetSubject}`,
            body: [words.reset, linkUrl(baseUrl, token), "", words.ignore].join("\n")
          })
        )
      )
    }),
    redeem: Effect.fn("Accounts.redeem")(function* (token: string, password: string, code?: string) {
      const at = yield* DateTime.nowAsDate
      const hash = hashOf(token)
      const link = yield* repo.findLink(hash, at)
      if (Option.isNone(link)) return yield* new OneTimeLinkInvalid()
      const { email, invitedBy, merchantId, resetPassword, operator, role } = link.value
      const existing = yield* repo.findCredentials(email)
      const keepsPassword = !resetPassword && Option.isSome(existing) && existing.value.password_hash !== null
      const recordFailure = () => repo.recordFailure(hash, at, linkFailures)
      const proof = yield* Effect.gen(function* () {
        if (keepsPassword) return (yield* proved(email, password, code)).proof
        // A link replaces the password but not the account's second factor.
        const authenticatorSince = Option.isSome(existing)
          ? yield* secondFactors.verify(existing.value.id, code)
          : null
        return { _tag: "Password" as const, hash: yield* passwords.hash(password), authenticatorSince }
      }).pipe(
        Effect.tapErrorTag("SignInFailed", recordFailure),
        Effect.tapErrorTag("SecondFactorFailed", recordFailure)
      )
      const freshId = yield* random.uuidV7()
      const userId = Option.match(existing, { onNone: () => freshId, onSome: ({ id }) => id })
      const actor = { id: userId, name: email }
      const sessionToken = yield* repo.transaction(
        Effect.gen(function* () {
          const isReplaced = Option.isSome(existing) && !keepsPassword
          yield* repo.hold(merchantId, isReplaced ? userId : null)
          if (!(yield* repo.useLink(hash, at))) return yield* new OneTimeLinkInvalid()
          if (Option.isNone(existing)) {
            const user = { id: userId, email, passwordHash: proof.hash, operator }
            if (!(yield* repo.insertUser(user, at))) return yield* new OneTimeLinkInvalid()
          } else if (isReplaced) {
            const password = { present: existing.value.password_hash, next: proof.hash }
            yield* replacePassword({ id: userId, email }, password, at)
            // The link proves who has the email. Somebody else may have signed up with it: their passkeys
            // end.
            if (yield* repo.removePasskeys(userId)) {
              const words = mailWords[existing.value.locale]
              yield* mails.queue({
                recipient: email,
                subject: `Quittance: ${words.passkeysEnded}`,
                body: fillPlaceholders(words.securityOf, { email, what: words.passkeysEnded })
              })
            }
          }
          if (operator && (Option.isNone(existing) || (yield* repo.makeOperator(userId)))) {
            const summary = "became an operator of the service through a link"
            yield* audit.note(actor, { action: "operator.granted", env: null, summary })
          }
          if (merchantId !== null) {
            const joining = repo.join(merchantId, userId, role, at)
            const joined = yield* audit.recording(merchantId, actor, joining, (isNew) =>
              isNew
                ? Option.some({ action: "member.joined", env: null, summary: "joined by a link" })
                : Option.none()
            )
            // Restores an owner if the last one is gone: no member could do that.
            if (!joined && invitedBy === null)
              yield* audit.recording(
                merchantId,
                actor,
                repo.changeRole(merchantId, userId, role),
                (changed) =>
                  changed
                    ? Option.some({
                        action: "member.role_changed",
                        env: null,
                        summary: `took the role ${role.replace("_", "-")} through an operator's link`
                      })
                    : Option.none()
              )
          }
          return yield* begin(userId, proof)
        })
      )
      return yield* begun(sessionToken)
    })
  }
})
