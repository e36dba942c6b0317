// Signing up, in and out over HTTP.
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { AppConfig } from "../../AppConfig.ts"
import { RateLimited, SignUpClosed } from "../../domain/Errors.ts"
import type { Merchant } from "../../domain/Merchant.ts"
import { type Limit, RateLimiter } from "../../http/RateLimiter.ts"
import { clientAddressOf } from "../../http/RequestContext.ts"
import { DashboardApi } from "../Api.ts"
import { CurrentSession, type Session } from "../Session.ts"
import { withoutSession, withSession } from "../sessionCookie.ts"
import { typedAddress } from "../typedAddress.ts"
import { Accounts } from "./Accounts.ts"
import type { SessionView, SignedUp } from "./Api.ts"

/** Attempts by one address: to sign in, to sign up, to use a link. */
const byAddress: Limit = { rate: 30, perSeconds: 300, burst: 30 }
/** Attempts at one account, from wherever they come. */
const byAccount: Limit = { rate: 10, perSeconds: 300, burst: 10 }

const sessionView = ({ user, merchants }: Session): SessionView => ({
  user: { id: user.id, email: user.email, operator: user.operator },
  merchants: merchants.map(({ id, name, logoUrl }: Merchant) => ({ id, name, logoUrl }))
})

const limits = Effect.gen(function* () {
  const limiter = yield* RateLimiter
  const { trustedProxyHops } = yield* AppConfig
  const take = Effect.fnUntraced(function* (key: string, limit: Limit) {
    const wait = yield* limiter.take(key, limit)
    if (wait > 0) return yield* new RateLimited({ retryAfter: wait })
  })
  return {
    address: Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      take(`sign-in address ${clientAddressOf(request, trustedProxyHops)}`, byAddress)
    ),
    account: (email: string) => take(`sign-in account ${email}`, byAccount)
  }
})

export const layerSignIn = HttpApiBuilder.group(
  DashboardApi,
  "signIn",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const { baseUrl, signUp } = yield* AppConfig
    const limit = yield* limits
    const answer = (body: SessionView | SignedUp, token: string, status: 200 | 201) =>
      HttpServerResponse.jsonUnsafe(body, { status }).pipe(withSession(baseUrl, token))

    return handlers.handleAll({
      signUp: Effect.fnUntraced(function* ({ payload }) {
        if (signUp === "closed") return yield* new SignUpClosed()
        yield* limit.address
        const receiver = yield* typedAddress("body.receiver", payload.receiver)
        const { session, token, keys } = yield* accounts.signUp({ ...payload, receiver })
        return answer({ session: sessionView(session), keys }, token, 201)
      }),
      signIn: Effect.fnUntraced(function* ({ payload }) {
        yield* limit.address
        yield* limit.account(payload.email)
        const { session, token } = yield* accounts.signIn(payload.email, payload.password)
        return answer(sessionView(session), token, 200)
      }),
      redeem: Effect.fnUntraced(function* ({ payload }) {
        yield* limit.address
        const { session, token } = yield* accounts.redeem(payload.token, payload.password)
        return answer(sessionView(session), token, 200)
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
      session: () =>
        Effect.map(CurrentSession, (session) => HttpServerResponse.jsonUnsafe(sessionView(session))),
      signOut: Effect.fnUntraced(function* () {
        yield* accounts.signOut(yield* CurrentSession)
        return signedOut
      }),
      signOutEverywhere: Effect.fnUntraced(function* () {
        yield* accounts.signOutEverywhere(yield* CurrentSession)
        return signedOut
      }),
      changePassword: Effect.fnUntraced(function* ({ payload }) {
        const session = yield* CurrentSession
        yield* limit.address
        yield* limit.account(session.user.email)
        const { token } = yield* accounts.changePassword(session, payload.current, payload.next)
        return HttpServerResponse.empty({ status: 204 }).pipe(withSession(baseUrl, token))
      })
    })
  })
)
