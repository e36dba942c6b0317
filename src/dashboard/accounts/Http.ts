// Signing up, in and out over HTTP.
import { createHash } from "node:crypto"
import { Effect, Option } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { AppConfig } from "../../AppConfig.ts"
import { Accounts, type Started } from "../../accounts/Accounts.ts"
import type { Session } from "../../accounts/Session.ts"
import { RateLimited, SignUpClosed } from "../../domain/Errors.ts"
import { clientAddressOf } from "../../http/RequestContext.ts"
import { type Limit, RateLimiter } from "../../limits/RateLimiter.ts"
import { DashboardApi } from "../Api.ts"
import { CurrentSession } from "../Session.ts"
import { browserTokens, withBrowser, withoutSession, withSession } from "../sessionCookie.ts"
import { typedAddress } from "../typedAddress.ts"
import type { SessionView, SignedUp } from "./Api.ts"

/** Attempts by one address: to sign in, to sign up, to use a link. */
const byAddress: Limit = { rate: 30, perSeconds: 300, burst: 30 }
/** Attempts at one account from one address. */
const byAccountAndAddress: Limit = { rate: 10, perSeconds: 300, burst: 10 }
/** Attempts at one account, from wherever they come but the browsers that it knows. */
const byAccount: Limit = { rate: 100, perSeconds: 3_600, burst: 100 }
/** Attempts of a browser that the account knows: strangers' guesses are not counted against it. */
const byBrowser: Limit = { rate: 10, perSeconds: 300, burst: 10 }

/** A limit's key may be kept outside of the process: the token itself stays out of it. */
const idOf = (token: string) => createHash("sha256").update(token).digest("hex").slice(0, 32)

const sessionView = ({ user, merchants }: Session): SessionView => ({
  user: { id: user.id, email: user.email, operator: user.operator },
  merchants: merchants.map(({ id, logoUrl, name, role }) => ({ id, name, role, logoUrl }))
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
  const ofAddress = Effect.flatMap(address, (from) => take(`sign-in address ${from}`, byAddress))
  return {
    address: ofAddress,
    /** A browser that the account knows has a limit of its own: others at its address use up none of it. */
    account: Effect.fnUntraced(function* (email: string) {
      const known = yield* accounts.knownBrowser(yield* browser, email)
      if (Option.isSome(known)) return yield* take(`sign-in browser ${idOf(known.value)} ${email}`, byBrowser)
      yield* ofAddress
      yield* take(`sign-in account ${email} ${yield* address}`, byAccountAndAddress)
      yield* take(`sign-in account ${email}`, byAccount)
    }),
    /** The cookie of the browser, which the account knows from now on, as do the others that did. */
    remember: Effect.fnUntraced(function* (session: Session) {
      const tokens = yield* browser
      const known = yield* accounts.knownBrowser(tokens, session.user.email)
      const own = Option.isSome(known) ? known.value : yield* accounts.rememberBrowser(session)
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
    const answer = (body: SessionView | SignedUp, { session, token }: Started, status: 200 | 201) =>
      Effect.map(limit.remember(session), (withKnownBrowser) =>
        HttpServerResponse.jsonUnsafe(body, { status }).pipe(withSession(baseUrl, token), withKnownBrowser)
      )

    return handlers.handleAll({
      signUp: Effect.fnUntraced(function* ({ payload }) {
        if (signUp === "closed") return yield* new SignUpClosed()
        yield* limit.address
        const receiver = yield* typedAddress("body.receiver", payload.receiver)
        const { keys, ...started } = yield* accounts.signUp({ ...payload, receiver })
        return yield* answer({ session: sessionView(started.session), keys }, started, 201)
      }),
      signIn: Effect.fnUntraced(function* ({ payload }) {
        yield* limit.account(payload.email)
        const started = yield* accounts.signIn(payload.email, payload.password)
        return yield* answer(sessionView(started.session), started, 200)
      }),
      redeem: Effect.fnUntraced(function* ({ payload }) {
        const email = yield* accounts.linkEmail(payload.token)
        yield* Option.match(email, { onNone: () => limit.address, onSome: limit.account })
        const started = yield* accounts.redeem(payload.token, payload.password)
        return yield* answer(sessionView(started.session), started, 200)
      })
    })
  })
)

export const layerAccount = HttpApiBuilder.group(
  DashboardApi,
  "account",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const { baseUrl } = yield* AppConfig
    const limit = yield* limits
    const signedOut = HttpServerResponse.empty({ status: 204 }).pipe(withoutSession(baseUrl))

    return handlers.handleAll({
      session: () => Effect.map(CurrentSession, sessionView),
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
        yield* accounts.confirm(session, payload.password)
      }),
      changePassword: Effect.fnUntraced(function* ({ payload }) {
        const session = yield* CurrentSession
        yield* limit.account(session.user.email)
        const started = yield* accounts.changePassword(session, payload.current, payload.next)
        // Known from now on by a fresh token.
        const withKnownBrowser = yield* limit.remember(started.session)
        return HttpServerResponse.empty({ status: 204 }).pipe(
          withSession(baseUrl, started.token),
          withKnownBrowser
        )
      })
    })
  })
)
