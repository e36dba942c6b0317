// Lets members call endpoints of their merchant: the dashboard's own, and those that keys also call.
import { type Array as Arr, Effect } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { type Allowed, endpointGroup } from "../../platform/http/Access.ts"
import type { Caller, Mount } from "../../platform/http/Mount.ts"
import { BodyRules } from "../../platform/http/RequestRules.ts"
import { CurrentMember, MemberRequired, memberParams, SameOrigin, SessionRequired } from "./Session.ts"

/** A group of endpoints for members of the path's merchant, in the path's environment. */
export const memberGroup =
  <const Id extends string>(id: Id) =>
  <const Endpoints extends Arr.NonEmptyReadonlyArray<Allowed<HttpApiEndpoint.Constraint>>>(
    ...endpoints: Endpoints
  ) =>
    endpointGroup(id)(...endpoints)
      .prefix("/merchants/:merchantId/:env")
      .middleware(BodyRules)
      .middleware(MemberRequired)
      .middleware(SessionRequired)
      .middleware(SameOrigin)

/** For shared endpoints in such a group. */
export const forMembers: Mount<typeof memberParams> = {
  params: memberParams,
  access: ({ roles }) => ({ by: "member", roles })
}

export const memberCaller = Effect.map(
  CurrentMember,
  ({ merchant, tenant, user }): Caller => ({ merchant, env: tenant.env, tenant, name: user.email })
)
