// Endpoints that are mounted twice: for keys under `/api/v1`, and for members of the merchant at the dashboard.
import { Effect, type Schema } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import type { Merchant, Tenant } from "../../domain/Merchant.ts"
import type { Role } from "../../domain/Role.ts"
import type { Access } from "./Access.ts"
import { CurrentPrincipal } from "./ApiKeyAuth.ts"

interface SharedAccess {
  /** Keys need full access. */
  readonly manage?: true
  /** Members in these roles. */
  readonly roles: ReadonlyArray<Role>
}

export interface Mount<Params extends Schema.Struct.Fields> {
  /** Parameters of the path before the endpoint's own. */
  readonly params: Params
  readonly access: (shared: SharedAccess) => Access
}

/** A key identifies its merchant and environment itself. */
export type KeyParams = Record<never, never>

/** For secret keys. */
export const forKeys: Mount<KeyParams> = {
  params: {},
  access: ({ manage }) => ({ by: "key", kinds: ["secret"], ...(manage === true ? { manage } : {}) })
}

/** The caller of a shared endpoint, by key or as a member. */
export interface Caller {
  readonly merchant: Merchant
  readonly env: Tenant["env"]
  readonly tenant: Tenant
  /** For people who read what was done: a member's email. */
  readonly name: string
}

export const keyCaller = Effect.map(
  CurrentPrincipal,
  ({ env, merchant }): Caller => ({ merchant, env, tenant: { merchantId: merchant.id, env }, name: "API" })
)

/** The parts of a request that a shared handler reads, independent of its mount. */
export type RequestOf<Endpoint> = Omit<HttpApiEndpoint.Request<Endpoint>, "endpoint" | "group" | "request">
