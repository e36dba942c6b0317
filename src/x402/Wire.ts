// x402 on the wire, versions 1 and 2, read leniently and converted to one form. Sources:
// x402-specification-v1 and -v2, transports http of both versions.
import { Effect, Option, Predicate, Schema } from "effect"
import { Base64 } from "effect/encoding"
import { getAddress } from "viem"
import { Address, type Env } from "../domain/Chain.ts"
import { byEnv, type Network, networks } from "../domain/networks.ts"
import type { Authorization, SignedAuthorization } from "./Authorization.ts"

export type X402Version = 1 | 2

/** Names of an environment's network in each version. */
export const networkNames: { readonly [E in Env]: Network["x402"] } = byEnv((env) => networks[env].x402)

const Text = Schema.String.check(Schema.isMaxLength(4096))
/** A uint256 in decimal. */
const Digits = Schema.String.check(
  Schema.isPattern(/^[0-9]{1,78}$/, { message: "a whole number as decimal digits" }).abort(),
  Schema.makeFilter((text) => BigInt(text) < 2n ** 256n || "a number of at most 256 bits")
)
const HexBytes = Schema.String.check(
  Schema.isPattern(/^0x(?:[0-9a-fA-F]{2}){0,16384}$/, { message: "bytes: 0x and hex digits, at most 16 KiB" })
)
const AnyAddress = Schema.String.check(
  Schema.isPattern(/^0x[0-9a-fA-F]{40}$/, { message: "an address: 0x and 40 hex digits" })
)

const Extra = Schema.Struct({
  name: Schema.optionalKey(Schema.NullOr(Text)),
  version: Schema.optionalKey(Schema.NullOr(Text)),
  assetTransferMethod: Schema.optionalKey(Schema.Unknown)
})

const common = {
  scheme: Text,
  network: Text,
  asset: AnyAddress,
  payTo: AnyAddress,
  maxTimeoutSeconds: Schema.Finite.check(Schema.isGreaterThan(0)),
  extra: Schema.optionalKey(Schema.NullOr(Extra))
}
const RequirementsV1 = Schema.Struct({
  ...common,
  maxAmountRequired: Digits,
  resource: Schema.optionalKey(Schema.NullOr(Text))
})
const RequirementsV2 = Schema.Struct({ ...common, amount: Digits })

const ExactPayload = Schema.Struct({
  signature: HexBytes,
  authorization: Schema.Struct({
    from: AnyAddress,
    to: AnyAddress,
    value: Digits,
    validAfter: Digits,
    validBefore: Digits,
    nonce: Schema.String.check(
      Schema.isPattern(/^0x[0-9a-fA-F]{64}$/, { message: "32 bytes: 0x and 64 hex digits" })
    )
  })
})
const PayloadV1 = Schema.Struct({
  x402Version: Schema.Literal(1),
  scheme: Text,
  network: Text,
  payload: ExactPayload
})
const PayloadV2 = Schema.Struct({
  x402Version: Schema.Literal(2),
  accepted: RequirementsV2,
  payload: ExactPayload,
  extensions: Schema.optionalKey(Schema.Unknown)
})
/** The extension `payment-identifier` of a payment of version 2. */
const decodeIdentifier = Schema.decodeUnknownOption(
  Schema.Struct({
    "payment-identifier": Schema.Struct({
      info: Schema.Struct({ id: Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{16,128}$/)) })
    })
  })
)

/** A resource's requirements, in either version. */
export interface Requirements {
  readonly version: X402Version
  readonly scheme: string
  readonly network: string
  /** Atomic units of the asset. */
  readonly amount: bigint
  readonly asset: Address
  readonly payTo: Address
  readonly maxTimeoutSeconds: number
  /** The token's EIP-712 domain, if given. */
  readonly domain: { readonly name: string; readonly version: string } | undefined
  readonly resource: string | undefined
  /** The way in which the asset is moved, if given: only `eip3009` is an authorization. */
  readonly transferMethod?: string | undefined
}

/** A payment as a client sends it, in either version. */
export interface ExactPayment {
  readonly version: X402Version
  readonly scheme: string
  readonly network: string
  readonly authorization: SignedAuthorization
  /** The payer's identifier of the payment, by x402's extension `payment-identifier`. */
  readonly identifier: string | undefined
  /** True if the payer asks for a signed receipt, by x402's extension `offer-receipt`. */
  readonly asksReceipt: boolean
}

const hex = (text: string): `0x${string}` => `0x${text.slice(2).toLowerCase()}`
const addressOf = (text: string): Address => Address.make(getAddress(hex(text)))

const domainIn = (extra: typeof Extra.Type | null | undefined) =>
  typeof extra?.name === "string" &&
  extra.name !== "" &&
  typeof extra.version === "string" &&
  extra.version !== ""
    ? { name: extra.name, version: extra.version }
    : undefined

const transferMethodIn = (extra: typeof Extra.Type | null | undefined) => {
  const method = extra?.assetTransferMethod ?? undefined
  return method === undefined || typeof method === "string" ? method : JSON.stringify(method)
}

const requirementsOf = (
  version: X402Version,
  requirements: Omit<typeof RequirementsV2.Type, "amount">,
  amount: string,
  resource: string | null | undefined
): Requirements => ({
  version,
  scheme: requirements.scheme,
  network: requirements.network,
  amount: BigInt(amount),
  asset: addressOf(requirements.asset),
  payTo: addressOf(requirements.payTo),
  maxTimeoutSeconds: requirements.maxTimeoutSeconds,
  domain: domainIn(requirements.extra),
  resource: resource ?? undefined,
  transferMethod: transferMethodIn(requirements.extra)
})

const paymentOf = (
  version: X402Version,
  scheme: string,
  network: string,
  { signature, authorization }: typeof ExactPayload.Type,
  extensions: unknown
): ExactPayment => {
  const terms: Authorization = {
    from: addressOf(authorization.from),
    to: addressOf(authorization.to),
    value: BigInt(authorization.value),
    validAfter: BigInt(authorization.validAfter),
    validBefore: BigInt(authorization.validBefore),
    nonce: hex(authorization.nonce)
  }
  return {
    version,
    scheme,
    network,
    authorization: { ...terms, signature: hex(signature) },
    identifier: Option.getOrUndefined(decodeIdentifier(extensions))?.["payment-identifier"].info.id,
    asksReceipt: Predicate.hasProperty(extensions, "offer-receipt")
  }
}

const lenient = { onExcessProperty: "ignore", errors: "all" } as const
const decodeRequirementsV1 = Schema.decodeUnknownEffect(RequirementsV1, lenient)
const decodeRequirementsV2 = Schema.decodeUnknownEffect(RequirementsV2, lenient)
const decodePayloadV1 = Schema.decodeUnknownEffect(PayloadV1, lenient)
const decodePayloadV2 = Schema.decodeUnknownEffect(PayloadV2, lenient)

/** Parses one entry of `accepts`. Fails with the schema's issue. */
export const readRequirements = (version: X402Version, value: unknown) =>
  version === 1
    ? Effect.map(decodeRequirementsV1(value), (requirements) =>
        requirementsOf(1, requirements, requirements.maxAmountRequired, requirements.resource)
      )
    : Effect.map(decodeRequirementsV2(value), (requirements) =>
        requirementsOf(2, requirements, requirements.amount, undefined)
      )

/** The decoded header `X-PAYMENT` or `PAYMENT-SIGNATURE`. Fails with the schema's issue. */
export const readPayment = (version: X402Version, value: unknown) =>
  version === 1
    ? Effect.map(decodePayloadV1(value), (payment) =>
        paymentOf(1, payment.scheme, payment.network, payment.payload, undefined)
      )
    : Effect.map(decodePayloadV2(value), (payment) =>
        paymentOf(2, payment.accepted.scheme, payment.accepted.network, payment.payload, payment.extensions)
      )

/** JSON as a header value: UTF-8 in base64 with padding. */
export const encodeHeader = (value: unknown): string => Base64.encode(JSON.stringify(value))

const parse = Option.liftThrowable((text: string): unknown => JSON.parse(text))

/** The same in the alphabet of base64 and with padding, which some writers omit. */
const paddedBase64 = (text: string): string => {
  const plain =
    /[-_]/.test(text) && !/[+/]/.test(text) ? text.replaceAll("-", "+").replaceAll("_", "/") : text
  return plain.includes("=") ? plain : plain.padEnd(Math.ceil(plain.length / 4) * 4, "=")
}

/** Reads a header value in base64 or base64url, with or without padding. */
export const decodeHeader = (text: string): Option.Option<unknown> =>
  Option.flatMap(Option.getSuccess(Base64.decodeString(paddedBase64(text.trim()))), parse)

const authorizationOnWire = (authorization: Authorization) => ({
  from: authorization.from,
  to: authorization.to,
  value: authorization.value.toString(),
  validAfter: authorization.validAfter.toString(),
  validBefore: authorization.validBefore.toString(),
  nonce: authorization.nonce
})

/** The resource's description, which a payment of version 2 repeats from its 402. */
export interface DescribedResource {
  readonly resource: unknown
  readonly extensions: unknown
}

/** The request header that carries a payment; `accepted` is the requirement as the resource wrote it. */
export const paymentHeader = (
  version: X402Version,
  accepted: unknown,
  names: { readonly scheme: string; readonly network: string },
  { extensions, resource }: DescribedResource,
  { signature, ...authorization }: SignedAuthorization
): { readonly name: "X-PAYMENT" | "PAYMENT-SIGNATURE"; readonly value: string } => {
  const payload = { signature, authorization: authorizationOnWire(authorization) }
  return version === 1
    ? { name: "X-PAYMENT", value: encodeHeader({ x402Version: 1, ...names, payload }) }
    : {
        name: "PAYMENT-SIGNATURE",
        value: encodeHeader({
          x402Version: 2,
          ...(resource === undefined ? {} : { resource }),
          accepted,
          payload,
          ...(extensions === undefined ? {} : { extensions })
        })
      }
}
