// Buyer tokens that an identity provider issues: signature by its JWKS, issuer,
// audience, times, and the claim in which it keeps the buyer's wallet address.
import { Clock, Effect, Predicate } from "effect"
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from "jose"
import { parseAddress } from "../chain/Address.ts"
import type { Address } from "../domain/Chain.ts"
import type { BuyerExpectation, ProvenBuyer } from "./BuyerIdentity.ts"
import { InvalidBuyerToken, type InvalidBuyerTokenReason } from "./InvalidBuyerToken.ts"

export interface JwtOptions {
  readonly jwksUrl: string
  readonly issuer: string
  /** The `aud` of tokens for this service. A merchant's own audience takes its place. */
  readonly audience: string
  /** Origin of the service: what a merchant without an audience of its own expects. */
  readonly origin: string
  /** Name of the claim that holds the address, or a dotted path to it. */
  readonly addressClaim: string
}

const maxTokenLength = 16_384
// Asymmetric only: a key from a public key set must never verify an HMAC.
const algorithms = ["EdDSA", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512"]

const claimReasons: { readonly [claim: string]: InvalidBuyerTokenReason } = {
  aud: "audience",
  iss: "issuer",
  nbf: "not_yet_valid"
}

const reasonOf = (cause: unknown): InvalidBuyerTokenReason => {
  if (cause instanceof errors.JWTExpired) return "expired"
  if (cause instanceof errors.JWTClaimValidationFailed) return claimReasons[cause.claim] ?? "malformed"
  if (cause instanceof errors.JWSSignatureVerificationFailed) return "signature"
  if (cause instanceof errors.JWKSNoMatchingKey) return "signature"
  if (cause instanceof errors.JOSEAlgNotAllowed) return "signature"
  if (cause instanceof errors.JWSInvalid || cause instanceof errors.JWTInvalid) return "malformed"
  if (cause instanceof errors.JOSENotSupported) return "malformed"
  return "unavailable"
}

const addressOf = (payload: JWTPayload, claim: string): Address | undefined => {
  const whole = payload[claim]
  const value =
    whole ??
    claim
      .split(".")
      .reduce<unknown>(
        (at, key) => (Predicate.isObject(at) && Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined),
        payload
      )
  return typeof value === "string" ? parseAddress(value) : undefined
}

/** Seconds from the token's making to its end; from `now` where it does not say when it was made. */
const lifeOf = ({ exp = 0, iat, nbf }: JWTPayload, now: number): number =>
  exp - Math.min(iat ?? nbf ?? now, nbf ?? iat ?? now)

/** The verifier behind `BuyerIdentity.layerJwt`; keys are fetched on first use and cached. */
export const makeJwtVerifier = (options: JwtOptions) => {
  const keys = createRemoteJWKSet(new URL(options.jwksUrl), { timeoutDuration: 5_000 })
  return Effect.fn("BuyerIdentity.verify")(function* (
    token: string,
    { audiences, longestSeconds }: BuyerExpectation
  ): Effect.fn.Return<ProvenBuyer, InvalidBuyerToken> {
    if (token.length > maxTokenLength) return yield* InvalidBuyerToken.because("malformed")
    const now = yield* Clock.currentTimeMillis
    const { payload } = yield* Effect.tryPromise({
      try: () =>
        jwtVerify(token, keys, {
          algorithms,
          issuer: options.issuer,
          audience: audiences.map((one) => (one === options.origin ? options.audience : one)),
          requiredClaims: ["exp"],
          currentDate: new Date(now)
        }),
      catch: (cause) => InvalidBuyerToken.because(reasonOf(cause))
    })
    if (longestSeconds !== undefined && lifeOf(payload, now / 1000) > longestSeconds) {
      return yield* InvalidBuyerToken.because("lifetime")
    }
    const address = addressOf(payload, options.addressClaim)
    return address === undefined
      ? yield* InvalidBuyerToken.because("address")
      : { address, tokenId: payload.jti }
  })
}
