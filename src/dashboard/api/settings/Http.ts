// Settings over HTTP.
import { DateTime, Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { invalidField, LastOwner, NotFound, RateLimited, RoleRequired } from "../../../domain/Errors.ts"
import { networks } from "../../../domain/networks.ts"
import type { Role } from "../../../domain/Role.ts"
import { Accounts } from "../../../merchants/accounts/Accounts.ts"
import { linkUrl } from "../../../merchants/accounts/linkUrl.ts"
import { type MemberChange, MemberRepo } from "../../../merchants/accounts/MemberRepo.ts"
import type { User } from "../../../merchants/accounts/Session.ts"
import { AuditLog } from "../../../merchants/audit/AuditLog.ts"
import { AuditRepo } from "../../../merchants/audit/AuditRepo.ts"
import type { MerchantBranding } from "../../../merchants/Branding/BrandingRepo.ts"
import { Branding, logoUrlOf } from "../../../merchants/Branding.ts"
import { MerchantRepo } from "../../../merchants/MerchantRepo.ts"
import { Receivers } from "../../../merchants/Receivers.ts"
import { withdrawnChange } from "../../../merchants/withdrawnChange.ts"
import { Books } from "../../../payments/books/Books.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { RateLimiter } from "../../../platform/limits/RateLimiter.ts"
import type { Limit } from "../../../platform/limits/RequestLimits.ts"
import { DashboardApi } from "../Api.ts"
import { changedMeanwhile } from "../changedMeanwhile.ts"
import { currentCaller } from "../currentCaller.ts"
import { makeRecording } from "../makeRecording.ts"
import { recentPassword } from "../recentPassword.ts"
import { CurrentMember } from "../Session.ts"
import { typedAddress } from "../typedAddress.ts"
import { unknownObject } from "../unknownObject.ts"
import type { AuditPage, SettingsPage } from "./Api.ts"

/** Limit on requested receiver changes: each notifies the members, and a signature check queries the chain. */
const receiverLimit: Limit = { rate: 10, perSeconds: 3_600, burst: 10 }
/** Invitations per member. */
const inviteLimit: Limit = { rate: 10, perSeconds: 3_600, burst: 10 }

const auditPageSize = 20

const roleWords: Readonly<Record<Role, string>> = {
  owner: "owner",
  developer: "developer",
  support: "support",
  read_only: "read-only"
}

const actorOf = ({ email, id }: User) => ({ id, name: email })

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "settingsPages",
  Effect.fnUntraced(function* (handlers) {
    const merchants = yield* MerchantRepo
    const receivers = yield* Receivers
    const limiter = yield* RateLimiter
    const members = yield* MemberRepo
    const accounts = yield* Accounts
    const audit = yield* AuditLog
    const recording = yield* makeRecording
    const entries = yield* AuditRepo
    const brandings = yield* Branding
    const books = yield* Books
    const { explorerUrls, baseUrl } = yield* AppConfig

    const shown = (branding: MerchantBranding) => ({
      logo: logoUrlOf(branding),
      accentColor: branding.accentColor,
      support: branding.support
    })

    /** A change of members, recorded together with the receiver changes that it ends. */
    const changingMember = Effect.fnUntraced(function* (
      changing: Effect.Effect<MemberChange, RoleRequired>,
      action: "member.removed" | "member.role_changed" | "member.left",
      summaryOf: (email: string) => string,
      cause: (email: string) => string
    ) {
      const { merchant, user } = yield* CurrentMember
      const withdrawing = changing.pipe(
        Effect.tap((change) =>
          change._tag !== "Changed"
            ? Effect.void
            : Effect.forEach(
                change.withdrawn,
                (receiverChange) => {
                  const withdrawal = Option.some(
                    withdrawnChange(receiverChange, change.email, `, by ${cause(change.email)}`)
                  )
                  return audit.recording(merchant.id, actorOf(user), Effect.void, () => withdrawal)
                },
                { discard: true }
              )
        )
      )
      const outcome = yield* audit.recording(merchant.id, actorOf(user), withdrawing, (change) =>
        change._tag === "Changed"
          ? Option.some({ action, env: null, summary: summaryOf(change.email) })
          : Option.none()
      )
      if (outcome._tag === "Unknown") return yield* new NotFound({ message: unknownObject })
      if (outcome._tag === "NotPermitted") return yield* new RoleRequired()
      if (outcome._tag === "LastOwner") return yield* new LastOwner()
    })

    return handlers.handleAll({
      retrieve: Effect.fnUntraced(function* () {
        const { tenant, merchant } = yield* CurrentMember
        const at = yield* DateTime.nowAsDate
        const [people, invited, waiting, timeZone] = yield* Effect.all(
          [
            members.members(merchant.id),
            members.invitations(merchant.id, at),
            receivers.waiting(merchant.id, tenant.env),
            books.timeZone(merchant.id)
          ],
          { concurrency: 4 }
        )
        const { name } = networks[tenant.env]
        const page: SettingsPage = {
          branding: shown(yield* brandings.find(merchant.id)),
          profile: {
            name: merchant.name,
            logoUrl: merchant.logoUrl,
            identityAudience: merchant.identityAudience,
            boundTokensOnly: merchant.boundTokensOnly,
            tokenLifetimeSeconds: merchant.tokenLifetimeSeconds
          },
          receiver: merchant.receivers[tenant.env],
          receiverChange: Option.getOrNull(
            Option.map(waiting, ({ address, dueAt, requestedAt, requestedBy }) => ({
              address,
              requestedBy,
              requestedAt: requestedAt.toISOString(),
              dueAt: dueAt.toISOString()
            }))
          ),
          timeZone,
          network: { name, explorerUrl: explorerUrls[tenant.env] },
          members: people.map(({ id, email, joined_at, role }) => ({
            id,
            email,
            role,
            joinedAt: joined_at.toISOString()
          })),
          invitations: invited.map(({ email, expires_at, id, invited_by, role }) => ({
            id,
            email,
            role,
            invitedBy: invited_by,
            expiresAt: expires_at.toISOString()
          }))
        }
        return page
      }),
      audit: Effect.fnUntraced(function* ({ query }) {
        const { merchant } = yield* CurrentMember
        const auditEntries = yield* entries.list(merchant.id, { ...query, limit: auditPageSize + 1 })
        const page: AuditPage = {
          entries: auditEntries
            .slice(0, auditPageSize)
            .map(({ at, merchantId: _, ...entry }) => ({ ...entry, at: at.toISOString() })),
          hasMore: auditEntries.length > auditPageSize
        }
        return page
      }),
      update: Effect.fnUntraced(function* ({ payload }) {
        const { merchant } = yield* CurrentMember
        const { was = {}, ...change } = payload
        const { profile, updated } = Option.getOrThrow(
          yield* merchants.updateProfile(merchant.id, change, was)
        )
        return updated ? profile : yield* changedMeanwhile(was, profile)
      }),
      changeBranding: Effect.fnUntraced(function* ({ payload }) {
        const { merchant } = yield* CurrentMember
        const { was = {}, ...change } = payload
        const { changed, branding } = yield* brandings.change(merchant.id, change, was)
        return changed ? shown(branding) : yield* changedMeanwhile(was, branding)
      }),
      checkReceiver: ({ payload }) =>
        Effect.map(typedAddress("body.receiver", payload.receiver), (receiver) => ({ receiver })),
      changeReceiver: Effect.fnUntraced(function* ({ payload }) {
        const { tenant } = yield* CurrentMember
        yield* recentPassword
        const receiver = yield* typedAddress("body.receiver", payload.receiver)
        const wait = yield* limiter.take(`receiver ${tenant.merchantId}`, receiverLimit)
        if (wait > 0) return yield* new RateLimited({ retryAfter: wait })
        const { dueAt, ...changed } = Option.getOrThrow(
          yield* receivers.change(
            { ...tenant, address: receiver },
            Option.fromUndefinedOr(payload.signature),
            yield* currentCaller
          )
        )
        return { ...changed, dueAt: Option.getOrNull(Option.map(dueAt, (at) => at.toISOString())) }
      }),
      withdrawReceiver: Effect.fnUntraced(function* () {
        const { tenant } = yield* CurrentMember
        if (!(yield* receivers.withdraw(tenant.merchantId, tenant.env, yield* currentCaller)))
          return yield* new NotFound({ message: unknownObject })
      }),
      invite: Effect.fnUntraced(function* ({ payload }) {
        const { merchant, user } = yield* CurrentMember
        yield* recentPassword
        const wait = yield* limiter.take(`invite ${merchant.id} ${user.id}`, inviteLimit)
        if (wait > 0) return yield* new RateLimited({ retryAfter: wait })
        // Existing members keep their role: the link would change nothing.
        if ((yield* members.members(merchant.id)).some(({ email }) => email === payload.email))
          return yield* invalidField(
            "body.email",
            "This person is already a member. Change the role in the list."
          )
        const inviting = accounts.invite(user, merchant.name, {
          email: payload.email,
          merchantId: merchant.id,
          role: payload.role,
          resetPassword: false,
          operator: false,
          invitedBy: user.id
        })
        const token = yield* recording(inviting, () =>
          Option.some({
            action: "member.invited",
            env: null,
            summary: `invited ${payload.email} as ${roleWords[payload.role]}`
          })
        )
        return { link: linkUrl(baseUrl, token) }
      }),
      withdraw: Effect.fnUntraced(function* ({ params }) {
        const { merchant } = yield* CurrentMember
        const at = yield* DateTime.nowAsDate
        const withdrawn = yield* recording(
          members.withdraw(merchant.id, params.invitationId, at),
          Option.map((email) => ({
            action: "member.invitation_withdrawn" as const,
            env: null,
            summary: `withdrew the invitation of ${email}`,
            quiet: true
          }))
        )
        if (Option.isNone(withdrawn)) return yield* new NotFound({ message: unknownObject })
      }),
      remove: Effect.fnUntraced(function* ({ params }) {
        const { merchant, user } = yield* CurrentMember
        yield* recentPassword
        const change = { merchantId: merchant.id, userId: params.userId, by: user.id }
        yield* changingMember(
          audit.permitted(merchant.id, yield* currentCaller, members.remove(change)),
          "member.removed",
          (email) => `removed ${email}`,
          (email) => `removing ${email}`
        )
      }),
      changeRole: Effect.fnUntraced(function* ({ params, payload: { role } }) {
        const { merchant, user } = yield* CurrentMember
        yield* recentPassword
        const change = { merchantId: merchant.id, userId: params.userId, by: user.id }
        yield* changingMember(
          audit.permitted(merchant.id, yield* currentCaller, members.changeRole(change, role)),
          "member.role_changed",
          (email) => `gave ${email} the role ${roleWords[role]}`,
          (email) => `another role of ${email}`
        )
      }),
      leave: Effect.fnUntraced(function* () {
        const { merchant, user } = yield* CurrentMember
        yield* recentPassword
        const change = { merchantId: merchant.id, userId: user.id, by: user.id }
        yield* changingMember(
          members.remove(change),
          "member.left",
          () => "left",
          () => "leaving"
        ).pipe(
          // If the membership has ended in between, there is nothing left to end.
          Effect.catchTag("NotFound", () => Effect.void),
          Effect.catchTag("RoleRequired", () => Effect.void)
        )
      })
    })
  })
)
