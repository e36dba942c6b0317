// Signing up, in and out over HTTP.

import { createHash } from "node:crypto"
import { Effect, Option } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { NotFound, RateLimited, SignUpClosed } from "../../../domain/Errors.ts"
import { Accounts } from "../../../merchants/accounts/Accounts.ts"
import { Passkeys, type Site } from "../../../merchants/accounts/Passkeys.ts"
import { SecondFactors } from "../../../merchants/accounts/SecondFactors.ts"
import type { Session, Started } from "../../../merchants/accounts/Session.ts"
import { Branding, logoUrlOf } from "../../../merchants/Branding.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { isLoopback } from "../../../platform/http/isLoopback.ts"
import { jsonResponse } from "../../../platform/http/jsonResponse.ts"
import { clientAddressOf, siteOf } from "../../../platform/http/RequestContext.ts"
import { RateLimiter } from "../../../platform/limits/RateLimiter.ts"
import type { Limit } from "../../../platform/limits/RequestLimits.ts"
import { Networks } from "../../../platform/Networks.ts"
import { DashboardApi } from "../Api.ts"
import { recentPassword } from "../recentPassword.ts"
import { CurrentSession } from "../Session.ts"
import { browserTokens, withBrowser, withoutSession, withSession } from "../sessionCookie.ts"
import { typedAddress } from "../typedAddress.ts"
import { unknownObject } from "../unknownObject.ts"
import type { SecurityPage, SessionView, SignedUp } from "./Api.ts"
import { browserOf } from "./browserOf.ts"

/** Attempts per client address to sign in, to sign up or to use a link. */
const byAddress: Limit = { rate: 30, perSeconds: 300, burst: 30 }
/** The same per site: an IPv6 site has 65,536 networks, and all wait for the same password hashes. */
const bySite: Limit = { rate: 300, perSeconds: 300, burst: 300 }
/** Attempts per account and client address. */
const byAccountAndAddress: Limit = { rate: 10, perSeconds: 300, burst: 10 }
/** Attempts per account, from everywhere except browsers that the account knows. */
const byAccount: Limit = { rate: 100, perSeconds: 3_600, burst: 100 }
/** Attempts per browser that the account knows, so that strangers' guesses do not count against it. */
const byBrowser: Limit = { rate: 10, perSeconds: 300, burst: 10 }

/** Password reset emails per recipient. */
const resets: Limit = { rate: 3, perSeconds: 3_600, burst: 3 }

/** A limit's key may be stored outside the process, so it does not contain the token itself. */
const idOf = (token: string) => createHash("sha256").update(token).digest("hex").slice(0, 32)

const sessionView = Effect.map(Effect.all([Branding, Networks]), ([brandings, { begins, executing }]) =>
  Effect.fnUntraced(function* ({ user, merchants }: Session) {
    const view: SessionView = {
      user: {
        id: user.id,
        email: user.email,
        operator: user.operator,
        locale: user.locale,
        hasPasskeys: user.hasPasskeys,
        hasAuthenticator: user.hasAuthenticator
      },
      merchants: yield* Effect.forEach(merchants, ({ id, logoUrl, name, role }) =>
        Effect.map(brandings.find(id), (branding) => ({
          id,
          name,
          role,
          logoUrl: logoUrlOf(branding) ?? logoUrl
        }))
      ),
      open: executing.filter(begins)
    }
    return view
  })
)

/** The site of passkeys: this service's origin, or this machine's origin on which the page is. */
const passkeySiteOf = (baseUrl: string) =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }): Site => {
    const page = URL.parse(headers["origin"] ?? "")
    const isOwn = page !== null && page.host === headers["host"] && isLoopback(page.hostname)
    const { hostname, origin } = isOwn ? page : new URL(baseUrl)
    return { origin, id: hostname }
  })

const limits = Effect.gen(function* () {
  const limiter = yield* RateLimiter
  const accounts = yield* Accounts
  const { baseUrl, trustedProxyHops } = yield* AppConfig
  const take = Effect.fnUntraced(function* (key: string, limit: Limit) {
    const wait = yield* limiter.take(key, limit)
    if (wait > 0) return yield* new RateLimited({ retryAfter: wait })
  })
  const address = Effect.map(HttpServerRequest.HttpServerRequest, (request) =>
    clientAddressOf(request, trustedProxyHops)
  )
  const browser = Effect.map(HttpServerRequest.HttpServerRequest, (request) =>
    browserTokens(baseUrl, request)
  )
  const ofAddress = Effect.flatMap(address, (from) => {
    const site = siteOf(from)
    const own = take(`sign-in address ${from}`, byAddress)
    return site === from ? own : Effect.andThen(own, take(`sign-in site ${site}`, bySite))
  })
  return {
    address: ofAddress,
    reset: (email: string) => take(`password reset ${email}`, resets),
    /** A browser that the account knows has its own limit: others at its address use none of it. */
    account: Effect.fnUntraced(function* (email: string) {
      const knownBrowser = yield* accounts.knownBrowser(yield* browser, email)
      if (Option.isSome(knownBrowser))
        return yield* take(`sign-in browser ${idOf(knownBrowser.value)} ${email}`, byBrowser)
      yield* ofAddress
      yield* take(`sign-in account ${email} ${yield* address}`, byAccountAndAddress)
      yield* take(`sign-in account ${email}`, byAccount)
    }),
    /** Sets the cookie of a browser that the account knows from now on, in addition to the other known browsers. */
    remember: Effect.fnUntraced(function* (session: Session) {
      const tokens = yield* browser
      const knownBrowser = yield* accounts.knownBrowser(tokens, session.user.email)
      const own = Option.isSome(knownBrowser) ? knownBrowser.value : yield* accounts.rememberBrowser(session)
      return tokens[0] === own
        ? (response: HttpServerResponse.HttpServerResponse) => response
        : withBrowser(baseUrl, [own, ...tokens.filter((token) => token !== own)])
    })
  }
})

export const layerSignIn = HttpApiBuilder.group(
  DashboardApi,
  "signIn",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const { baseUrl, signUp } = yield* AppConfig
    const limit = yield* limits
    const view = yield* sessionView
    const passkeys = yield* Passkeys
    const site = passkeySiteOf(baseUrl)
    const answer = (body: SessionView | SignedUp, { session, token }: Started, status: 200 | 201) =>
      Effect.map(limit.remember(session), (withKnownBrowser) =>
        jsonResponse(body, status).pipe(withSession(baseUrl, token), withKnownBrowser)
      )

    return handlers.handleAll({
      signUp: Effect.fnUntraced(function* ({ payload }) {
        if (signUp === "closed") return yield* new SignUpClosed()
        yield* limit.address
        const receiver = yield* typedAddress("body.receiver", payload.receiver)
        const { keys, ...started } = yield* accounts.signUp({ ...payload, receiver })
        return yield* answer({ session: yield* view(started.session), keys }, started, 201)
      }),
      signIn: Effect.fnUntraced(function* ({ payload }) {
        yield* limit.account(payload.email)
        const started = yield* accounts.signIn(payload.email, payload.password, payload.code)
        return yield* answer(yield* view(started.session), started, 200)
      }),
      redeem: Effect.fnUntraced(function* ({ payload }) {
        const email = yield* accounts.linkEmail(payload.token)
        yield* Option.match(email, { onNone: () => limit.address, onSome: limit.account })
        const started = yield* accounts.redeem(payload.token, payload.password, payload.code)
        return yield* answer(yield* view(started.session), started, 200)
      }),
      beginPasskey: Effect.fnUntraced(function* () {
        yield* limit.address
        return { options: yield* passkeys.begin(yield* site, Option.none()) }
      }),
      signInByPasskey: Effect.fnUntraced(function* ({ payload }) {
        yield* limit.address
        const passkey = yield* passkeys.verify(yield* site, Option.none(), payload)
        const started = yield* accounts.signInByPasskey(passkey)
        return yield* answer(yield* view(started.session), started, 200)
      }),
      forgotPassword: Effect.fnUntraced(function* ({ payload }) {
        yield* limit.address
        yield* limit.reset(payload.email)
        yield* accounts.sendReset(payload.email)
      })
    })
  })
)

export const layerAccount = HttpApiBuilder.group(
  DashboardApi,
  "account",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const passkeys = yield* Passkeys
    const secondFactors = yield* SecondFactors
    const { baseUrl } = yield* AppConfig
    const limit = yield* limits
    const view = yield* sessionView
    const site = passkeySiteOf(baseUrl)
    const signedOut = HttpServerResponse.empty({ status: 204 }).pipe(withoutSession(baseUrl))

    return handlers.handleAll({
      session: () => Effect.flatMap(CurrentSession, view),
      signOut: Effect.fnUntraced(function* () {
        yield* accounts.signOut(yield* CurrentSession)
        return signedOut
      }),
      signOutEverywhere: Effect.fnUntraced(function* () {
        yield* accounts.signOutEverywhere(yield* CurrentSession)
        return signedOut
      }),
      confirm: Effect.fnUntraced(function* ({ payload }) {
        const session = yield* CurrentSession
        yield* limit.account(session.user.email)
        yield* accounts.confirm(session, payload.password, payload.code)
      }),
      changePassword: Effect.fnUntraced(function* ({ payload }) {
        const session = yield* CurrentSession
        yield* limit.account(session.user.email)
        const started = yield* accounts.changePassword(session, payload.current, payload.next, payload.code)
        // The account knows the browser from now on, by a new token.
        const withKnownBrowser = yield* limit.remember(started.session)
        return HttpServerResponse.empty({ status: 204 }).pipe(
          withSession(baseUrl, started.token),
          withKnownBrowser
        )
      }),
      beginConfirming: Effect.fnUntraced(function* () {
        const { user } = yield* CurrentSession
        return { options: yield* passkeys.begin(yield* site, Option.some(user.id)) }
      }),
      confirmByPasskey: Effect.fnUntraced(function* ({ payload }) {
        const session = yield* CurrentSession
        yield* limit.account(session.user.email)
        yield* passkeys.verify(yield* site, Option.some(session.user.id), payload)
        yield* accounts.recordConfirmed(session)
      }),
      setLocale: ({ payload }) =>
        Effect.flatMap(CurrentSession, (session) => accounts.setLocale(session, payload.locale)),
      security: Effect.fnUntraced(function* () {
        const session = yield* CurrentSession
        const [open, registeredPasskeys, recoveryCodesLeft] = yield* Effect.all(
          [
            accounts.sessions(session),
            passkeys.list(session.user.id),
            secondFactors.codesLeft(session.user.id)
          ],
          { concurrency: 3 }
        )
        const page: SecurityPage = {
          hasAuthenticator: session.user.hasAuthenticator,
          recoveryCodesLeft,
          passkeys: registeredPasskeys.map(({ createdAt, id, lastUsedAt, name }) => ({
            id,
            name,
            createdAt: createdAt.toISOString(),
            lastUsedAt: lastUsedAt?.toISOString() ?? null
          })),
          sessions: open.map((session) => ({
            id: session.id,
            browser: browserOf(session.user_agent),
            address: session.address,
            startedAt: session.created_at.toISOString(),
            lastSeenAt: (session.seen_at ?? session.created_at).toISOString(),
            current: session.current
          }))
        }
        return page
      }),
      endOtherSessions: () => Effect.flatMap(CurrentSession, accounts.endOtherSessions),
      endSession: Effect.fnUntraced(function* ({ params }) {
        if (!(yield* accounts.endSession(yield* CurrentSession, params.sessionId)))
          return yield* new NotFound({ message: unknownObject })
      }),
      beginAddingPasskey: Effect.fnUntraced(function* () {
        yield* recentPassword
        const { user } = yield* CurrentSession
        return { options: yield* passkeys.beginAdding(yield* site, user) }
      }),
      addPasskey: Effect.fnUntraced(function* ({ payload: { name, ...registration } }) {
        yield* recentPassword
        const session = yield* CurrentSession
        const adding = passkeys.add(yield* site, session.user.id, name, registration)
        yield* accounts.notifying(session, { what: "passkeyAdded", name }, adding)
      }),
      removePasskey: Effect.fnUntraced(function* ({ params }) {
        yield* recentPassword
        const session = yield* CurrentSession
        const removing = Effect.flatMap(
          passkeys.remove(session.user.id, params.passkeyId),
          Option.match({
            onNone: () => Effect.fail(new NotFound({ message: unknownObject })),
            onSome: Effect.succeed
          })
        )
        yield* accounts.notifying(session, { what: "passkeyRemoved" }, removing)
      }),
      beginAuthenticator: Effect.fnUntraced(function* () {
        yield* recentPassword
        const { user } = yield* CurrentSession
        const secret = yield* secondFactors.begin(user.id)
        const label = encodeURIComponent(`Quittance:${user.email}`)
        return { secret, uri: `otpauth://totp/${label}?secret=${secret}&issuer=Quittance` }
      }),
      confirmAuthenticator: Effect.fnUntraced(function* ({ payload }) {
        yield* recentPassword
        const session = yield* CurrentSession
        yield* limit.account(session.user.email)
        const confirming = secondFactors.confirm(session.user.id, payload.code)
        return { codes: yield* accounts.notifying(session, { what: "authenticatorAdded" }, confirming) }
      }),
      removeAuthenticator: Effect.fnUntraced(function* () {
        yield* recentPassword
        const session = yield* CurrentSession
        const removing = Effect.flatMap(secondFactors.remove(session.user.id), (removed) =>
          removed ? Effect.void : Effect.fail(new NotFound({ message: unknownObject }))
        )
        yield* accounts.notifying(session, { what: "authenticatorRemoved" }, removing)
      }),
      renewRecoveryCodes: Effect.fnUntraced(function* () {
        yield* recentPassword
        const session = yield* CurrentSession
        if (!session.user.hasAuthenticator) return yield* new NotFound({ message: unknownObject })
        const renewing = secondFactors.renewCodes(session.user.id)
        return { codes: yield* accounts.notifying(session, { what: "codesRenewed" }, renewing) }
      })
    })
  })
)
