// The reasons for refusing a buyer's identity token, and what the buyer can do about each.
import { Schema } from "effect"
import { ChainUnavailable, InvalidBuyerToken } from "../../domain/Errors.ts"

export const BuyerTokenReason = Schema.Literals([
  "malformed",
  "signature",
  "expired",
  "not_yet_valid",
  "lifetime",
  "audience",
  "payment",
  "issuer",
  "unavailable"
])
export type BuyerTokenReason = typeof BuyerTokenReason.Type

export const buyerTokenAdvice: { readonly [R in BuyerTokenReason]: string } = {
  malformed: "The buyer's token is malformed: send it unchanged.",
  signature: "The buyer's token is not signed by the wallet that it names: sign a new one with that wallet.",
  expired: "The buyer's token has expired: sign a new one.",
  not_yet_valid: "The buyer's token is not valid yet: check the device's clock and sign a new one.",
  lifetime:
    "The lifetime of the buyer's token exceeds the merchant's limit, `tokenLifetimeSeconds`: sign one that expires sooner.",
  audience:
    "The buyer's token is for another service: sign one for this service's origin, or for the merchant's own audience if it has one.",
  payment: "The buyer's token is for another payment: sign one whose `tid` is this payment's id.",
  issuer: "The issuer of the buyer's token is not accepted here: sign one in this checkout.",
  unavailable: "The buyer's token cannot be checked at the moment: try again shortly."
}

/** `reason: "unavailable"` says nothing about the token: no node responded. */
export class BuyerTokenRefused extends Schema.TaggedError<BuyerTokenRefused>()("BuyerTokenRefused", {
  reason: BuyerTokenReason,
  message: Schema.String
}) {
  static because(reason: BuyerTokenReason): BuyerTokenRefused {
    return new BuyerTokenRefused({ reason, message: buyerTokenAdvice[reason] })
  }
}

/** The response to the caller: 401 if the token is refused, 503 while it cannot be checked. */
export const refusalOf = ({ message, reason }: BuyerTokenRefused): InvalidBuyerToken | ChainUnavailable =>
  reason === "unavailable"
    ? new ChainUnavailable({ reason: "buyer_token", message, retryAfter: 5 })
    : new InvalidBuyerToken({ reason, message })
