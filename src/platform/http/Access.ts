// Access rules of endpoints. Each endpoint of a contract declares its rule; the middleware, CORS and the OpenAPI
// document read it from there.
import type { Array as Arr } from "effect"
import { Context } from "effect"
import { type HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import type { KeyKind } from "../../domain/Merchant.ts"
import type { Role } from "../../domain/Role.ts"

/** Holders of an API key. */
export interface KeyAccess {
  readonly by: "key"
  readonly kinds: ReadonlyArray<KeyKind>
  /** Requires full access in addition to the kind. */
  readonly manage?: true
  /** Keys of a network without a faucet pass whatever their kind: `TestRail` refuses them with LIVE_MODE_NO_TEST_FUNDS. */
  readonly testRail?: true
  /** Open to pages of any origin, because buyers' browsers call it. */
  readonly crossOrigin?: true
}

/** Anyone who knows the URL, or whose query contains the required key. */
export interface PublicAccess {
  readonly by: "anyone"
  readonly crossOrigin?: true
}

/** Signed-in people, for their own account. */
export interface SessionAccess {
  readonly by: "session"
}

/** Members of the path's merchant, with one of these roles. */
export interface MemberAccess {
  readonly by: "member"
  readonly roles: ReadonlyArray<Role>
  /** Roles for the live environment, where fewer may call it. */
  readonly live?: ReadonlyArray<Role>
}

export type Access = KeyAccess | PublicAccess | SessionAccess | MemberAccess

class EndpointAccess extends Context.Service<EndpointAccess, Access>()("quittance/platform/EndpointAccess") {}

declare const allowed: unique symbol

/** An endpoint that states who may call it. */
export type Allowed<Endpoint> = Endpoint & { readonly [allowed]: true }

/** For OpenAPI: the security schemes, of which one is required, each with the role that its key needs (3.1, 4.8.30). */
const securityOf = (access: Access) =>
  access.by === "key"
    ? access.kinds.map((kind) => ({ [`${kind}Key`]: access.manage === true ? ["manage"] : [] }))
    : []

/** The endpoint, callable only with this access. */
export function allow<Endpoint extends HttpApiEndpoint.Constraint>(
  access: Access,
  endpoint: Endpoint
): Allowed<Endpoint>
export function allow(access: Access, endpoint: HttpApiEndpoint.Top) {
  return endpoint
    .annotate(EndpointAccess, access)
    .annotate(OpenApi.Override, { security: securityOf(access) })
}

/** The endpoints, callable only with the same access. */
export function allowAll<const Endpoints extends Arr.NonEmptyReadonlyArray<HttpApiEndpoint.Constraint>>(
  access: Access,
  ...endpoints: Endpoints
): { readonly [Index in keyof Endpoints]: Allowed<Endpoints[Index]> }
export function allowAll(access: Access, ...endpoints: ReadonlyArray<HttpApiEndpoint.Top>) {
  return endpoints.map((endpoint) => allow(access, endpoint))
}

/** A group of endpoints, each of which states who may call it. */
export const endpointGroup =
  <const Id extends string>(id: Id) =>
  <const Endpoints extends Arr.NonEmptyReadonlyArray<Allowed<HttpApiEndpoint.Constraint>>>(
    ...endpoints: Endpoints
  ): HttpApiGroup.HttpApiGroup<Id, Endpoints[number]> =>
    HttpApiGroup.make(id).add(...endpoints)

/** The access rule that an endpoint declares. */
export const accessOf = (endpoint: HttpApiEndpoint.Top): Access =>
  Context.getUnsafe(endpoint.annotations, EndpointAccess)

/** True if pages of any origin may read the responses. */
export const isCrossOrigin = (access: Access): boolean =>
  (access.by === "key" || access.by === "anyone") && access.crossOrigin === true
