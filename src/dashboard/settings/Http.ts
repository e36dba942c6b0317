// Settings over HTTP.
import { DateTime, Effect, Option } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { AppConfig } from "../../AppConfig.ts"
import { networks } from "../../domain/Chain.ts"
import { LastMember, NotFound, RateLimited } from "../../domain/Errors.ts"
import { type Limit, RateLimiter } from "../../http/RateLimiter.ts"
import { MerchantRepo } from "../../keys/MerchantRepo.ts"
import { Receivers } from "../../keys/Receivers.ts"
import { DashboardApi } from "../Api.ts"
import { Accounts } from "../accounts/Accounts.ts"
import { linkUrl } from "../accounts/linkUrl.ts"
import { AlertPagesRepo } from "../alerts/AlertPagesRepo.ts"
import { CurrentMember } from "../Session.ts"
import { typedAddress } from "../typedAddress.ts"
import { unknownObject } from "../unknownObject.ts"
import type { SettingsPage } from "./Api.ts"
import { MemberRepo } from "./MemberRepo.ts"

/** Signatures that one merchant's people may have checked. */
const signatureLimit: Limit = { rate: 10, perSeconds: 60, burst: 10 }
/** Invitations by one member. */
const inviteLimit: Limit = { rate: 10, perSeconds: 3_600, burst: 10 }

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "settingsPages",
  Effect.fnUntraced(function* (handlers) {
    const merchants = yield* MerchantRepo
    const receivers = yield* Receivers
    const limiter = yield* RateLimiter
    const members = yield* MemberRepo
    const accounts = yield* Accounts
    const alerts = yield* AlertPagesRepo
    const { baseUrl } = yield* AppConfig

    return handlers.handleAll({
      retrieve: Effect.fnUntraced(function* () {
        const { tenant, merchant } = yield* CurrentMember
        const at = yield* DateTime.nowAsDate
        const [people, invited, openAlerts] = yield* Effect.all(
          [members.members(merchant.id), members.invitations(merchant.id, at), alerts.countOpen(tenant)],
          { concurrency: 3 }
        )
        const { name, explorerUrl } = networks[tenant.env]
        const page: SettingsPage = {
          openAlerts,
          profile: {
            name: merchant.name,
            logoUrl: merchant.logoUrl,
            identityAudience: merchant.identityAudience,
            boundTokensOnly: merchant.boundTokensOnly,
            tokenLifetimeSeconds: merchant.tokenLifetimeSeconds
          },
          receiver: merchant.receivers[tenant.env],
          network: { name, explorerUrl },
          members: people.map(({ id, email, joined_at }) => ({
            id,
            email,
            joinedAt: joined_at.toISOString()
          })),
          invitations: invited.map(({ email, expires_at, id, invited_by }) => ({
            id,
            email,
            invitedBy: invited_by,
            expiresAt: expires_at.toISOString()
          }))
        }
        return HttpServerResponse.jsonUnsafe(page)
      }),
      update: Effect.fnUntraced(function* ({ payload }) {
        const { merchant } = yield* CurrentMember
        const { boundTokensOnly, tokenLifetimeSeconds, ...profile } = payload
        const rules = yield* merchants.updateProfile(merchant.id, profile, {
          ...(boundTokensOnly === undefined ? {} : { boundTokensOnly }),
          ...(tokenLifetimeSeconds === undefined ? {} : { tokenLifetimeSeconds })
        })
        return { ...profile, ...Option.getOrThrow(rules) }
      }),
      changeReceiver: Effect.fnUntraced(function* ({ payload }) {
        const { tenant, user } = yield* CurrentMember
        const receiver = yield* typedAddress("body.receiver", payload.receiver)
        const { signature } = payload
        if (signature !== undefined) {
          // A contract wallet's signature makes the service ask the chain.
          const wait = yield* limiter.take(`receiver ${tenant.merchantId}`, signatureLimit)
          if (wait > 0) return yield* new RateLimited({ retryAfter: wait })
        }
        const changed = Option.getOrThrow(
          yield* receivers.change({ ...tenant, address: receiver }, Option.fromUndefinedOr(signature))
        )
        yield* Effect.logInfo("A receiving address was changed").pipe(
          Effect.annotateLogs({ merchant: tenant.merchantId, env: tenant.env, user: user.id, ...changed })
        )
        return changed
      }),
      invite: Effect.fnUntraced(function* ({ payload }) {
        const { merchant, user } = yield* CurrentMember
        const wait = yield* limiter.take(`invite ${merchant.id} ${user.id}`, inviteLimit)
        if (wait > 0) return yield* new RateLimited({ retryAfter: wait })
        const token = yield* accounts.createLink({
          email: payload.email,
          merchantId: merchant.id,
          resetPassword: false,
          operator: false,
          invitedBy: user.id
        })
        return { link: linkUrl(baseUrl, token) }
      }),
      withdraw: Effect.fnUntraced(function* ({ params }) {
        const { merchant } = yield* CurrentMember
        const at = yield* DateTime.nowAsDate
        if (!(yield* members.withdraw(merchant.id, params.invitationId, at)))
          return yield* new NotFound({ message: unknownObject })
      }),
      remove: Effect.fnUntraced(function* ({ params }) {
        const { merchant } = yield* CurrentMember
        const outcome = yield* members.remove(merchant.id, params.userId)
        if (outcome === "unknown") return yield* new NotFound({ message: unknownObject })
        if (outcome === "last") return yield* new LastMember()
      })
    })
  })
)
