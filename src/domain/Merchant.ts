// A merchant, and the principal an API key authenticates.
import { Schema } from "effect"
import { Address, Env } from "./Chain.ts"

export const Uuid = Schema.String.check(
  Schema.isPattern(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u, { message: "a UUID" })
)

export const MerchantId = Uuid.pipe(Schema.brand("MerchantId"))
export type MerchantId = typeof MerchantId.Type

/** Seconds, from a minute to a year. */
export const TokenLifetime = Schema.Int.check(
  Schema.isBetween({ minimum: 60, maximum: 31_536_000 }, { message: "60 to 31536000 seconds" })
)
export const defaultTokenLifetime = 86_400

export const Merchant = Schema.Struct({
  id: MerchantId,
  name: Schema.String,
  logoUrl: Schema.NullOr(Schema.String),
  /** The receiving address of each environment. */
  receivers: Schema.Struct({ test: Address, live: Address }),
  /** Environments whose current address belongs to another merchant now. */
  movedReceivers: Schema.optionalKey(Schema.Array(Env)),
  /** The only `aud` that buyer tokens for this merchant may carry; null is the service's origin. */
  identityAudience: Schema.NullOr(Schema.String),
  /** True if a buyer's token must contain the payment's id in `tid`. */
  boundTokensOnly: Schema.Boolean,
  /** The maximum lifetime of a buyer's token, in seconds. */
  tokenLifetimeSeconds: TokenLifetime
})
export type Merchant = typeof Merchant.Type

/** One environment of one merchant: the owner of rows and the scope of keys. */
export interface Tenant {
  readonly merchantId: MerchantId
  readonly env: Env
}

export const KeyKind = Schema.Literals(["secret", "publishable", "agent"])
export type KeyKind = typeof KeyKind.Type

/** `manage` can mutate; `read` can only read. */
export const Permission = Schema.Literals(["manage", "read"])
export type Permission = typeof Permission.Type

/** An API key without its secret part. */
export const ApiKey = Schema.Struct({
  id: Uuid,
  kind: KeyKind,
  env: Env,
  permission: Permission,
  prefix: Schema.String,
  lastFour: Schema.String,
  name: Schema.NullOr(Schema.String),
  /** The whole key, if it is publishable and was stored when created; such a key is public. */
  publicKey: Schema.NullOr(Schema.String),
  createdAt: Schema.Date,
  lastUsedAt: Schema.NullOr(Schema.Date),
  revokedAt: Schema.NullOr(Schema.Date)
})
export type ApiKey = typeof ApiKey.Type

/** The caller of a request: one key, bound to one environment of one merchant. */
export interface Principal {
  readonly keyId: string
  readonly kind: KeyKind
  readonly env: Env
  readonly permission: Permission
  readonly merchant: Merchant
}
