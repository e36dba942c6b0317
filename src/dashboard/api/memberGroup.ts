import type { Array as Arr } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { type Allowed, endpointGroup } from "../../platform/http/Access.ts"
import { BodyRules } from "../../platform/http/RequestRules.ts"
import { MemberRequired, SameOrigin, SessionRequired } from "./Session.ts"

/** A group of endpoints for members of the merchant, in the environment, that the path names. */
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
