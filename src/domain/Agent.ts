// A software agent that pays with its own wallet, within its merchant's caps.
import { Schema, SchemaGetter } from "effect"
import { Address, Env, TransactionHash } from "./Chain.ts"
import { MerchantId, Uuid } from "./Merchant.ts"
import { AtomicUsdc } from "./Money.ts"

export const AgentId = Uuid.pipe(Schema.brand("AgentId"))
export type AgentId = typeof AgentId.Type

/** A `paused` agent signs nothing until it is resumed; `revoked` is final and voids its key. */
export const AgentStatus = Schema.Literals(["active", "paused", "revoked"])
export type AgentStatus = typeof AgentStatus.Type

/** A host name, or `host:port`, in the form of a URL: lower case, without a default port. */
export const AllowedHost = Schema.String.check(
  Schema.isMaxLength(300),
  Schema.makeFilter((text) => {
    const url = URL.parse(`https://${text}`)
    const isHostOnly =
      url !== null && /^[^\s/?#@\\]+$/u.test(text) && url.hostname !== "" && !text.endsWith(":")
    if (!isHostOnly) return "a host, or host:port, such as api.example.com: no scheme, no path"
    return !/:(80|443)$/.test(text) || "a host without its default port: leave out 80 and 443"
  })
).pipe(
  Schema.decodeTo(Schema.String, {
    decode: SchemaGetter.transform((text) => URL.parse(`https://${text}`)?.host ?? text),
    encode: SchemaGetter.transform((text) => text)
  })
)

export const Agent = Schema.Struct({
  id: AgentId,
  merchantId: MerchantId,
  env: Env,
  name: Schema.String,
  /** The index of the agent's wallet under the mnemonic. */
  walletIndex: Schema.Int,
  address: Address,
  keyId: Uuid,
  /** The last four characters of the agent's key. */
  keyLastFour: Schema.String,
  capPerPayment: AtomicUsdc,
  /** The cap for any 24 hours. */
  capPerDay: AtomicUsdc,
  /** Host names, or `host:port`, that the agent may pay; null for any. */
  allowedHosts: Schema.NullOr(Schema.Array(Schema.String)),
  /** Addresses that the agent may pay; null for any. */
  allowedPayees: Schema.NullOr(Schema.Array(Address)),
  status: AgentStatus,
  createdAt: Schema.Date
})
export type Agent = typeof Agent.Type

/**
 * `reserved`: signed, may be used. `used`: used on the chain. `expired` and `released`: the chain shows that
 * it can never be used.
 */
export const AgentPaymentStatus = Schema.Literals(["reserved", "used", "expired", "released"])
export type AgentPaymentStatus = typeof AgentPaymentStatus.Type

export const AgentPayment = Schema.Struct({
  id: Uuid,
  agentId: AgentId,
  requestId: Schema.String,
  requestHash: Schema.Uint8Array,
  status: AgentPaymentStatus,
  x402Version: Schema.Literals([1, 2]),
  resource: Schema.String,
  /** The requirement as the resource wrote it, in JSON. */
  requirements: Schema.String,
  payTo: Address,
  amount: AtomicUsdc,
  /** Unix seconds. */
  validAfter: Schema.BigInt,
  validBefore: Schema.BigInt,
  nonce: TransactionHash,
  transactionId: Schema.NullOr(TransactionHash),
  createdAt: Schema.Date
})
export type AgentPayment = typeof AgentPayment.Type

/** The amounts spent and left of an agent's cap for the last 24 hours, in atomic USDC. */
export interface Allowance {
  readonly spent: bigint
  readonly remaining: bigint
}
