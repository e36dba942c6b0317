// The context of a dashboard request: the signed-in user, the merchant and the environment.
// Sessions are cookies; API keys are not accepted.
import { Context, Schema } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import { CrossOriginRefused, NotFound, RoleRequired, SignInRequired } from "../../domain/Errors.ts"
import type { Merchant, Tenant } from "../../domain/Merchant.ts"
import type { Role } from "../../domain/Role.ts"
import type { Session, User } from "../../merchants/accounts/Session.ts"
import { errorResponse } from "../../platform/http/Envelope.ts"

/** The session of the request's cookie. */
export class CurrentSession extends Context.Service<CurrentSession, Session>()(
  "quittance/dashboard/CurrentSession"
) {}

export interface Member {
  readonly user: User
  readonly merchant: Merchant
  readonly role: Role
  readonly tenant: Tenant
}

/** A member of the path's merchant, in the path's environment. */
export class CurrentMember extends Context.Service<CurrentMember, Member>()(
  "quittance/dashboard/CurrentMember"
) {}

/** Mutations must come from the service's own pages, by `Sec-Fetch-Site` or `Origin`. */
export class SameOrigin extends HttpApiMiddleware.Service<SameOrigin>()("quittance/dashboard/SameOrigin", {
  error: [errorResponse(CrossOriginRefused)]
}) {}

/** A current session. Responses to GET have an `etag`; 304 if the page already has the content. */
export class SessionRequired extends HttpApiMiddleware.Service<
  SessionRequired,
  { provides: CurrentSession }
>()("quittance/dashboard/SessionRequired", { error: [errorResponse(SignInRequired)] }) {}

/** The path's parameters that `MemberRequired` checks, if an endpoint declares more of its own. */
export const memberParams = { merchantId: Schema.String, env: Schema.String }

/**
 * A role that the endpoint allows, in the path's merchant. Answers 404 for an unknown merchant and for one that the user
 * does not belong to.
 */
export class MemberRequired extends HttpApiMiddleware.Service<
  MemberRequired,
  { provides: CurrentMember; requires: CurrentSession }
>()("quittance/dashboard/MemberRequired", {
  error: [errorResponse(NotFound), errorResponse(RoleRequired)]
}) {}
