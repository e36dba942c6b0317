// Why a buyer's identity token was refused, and what the buyer can do about it.
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

const advice: { readonly [R in BuyerTokenReason]: string } = {
  malformed: "The buyer token cannot be read: send the token exactly as it was made.",
  signature: "The buyer token is not signed by the address that it names: sign in again with that wallet.",
  expired: "The buyer token has expired: make a new one.",
  not_yet_valid: "The buyer token is not valid yet: check the clock of the device and make a new one.",
  lifetime:
    "The buyer token lives too long: make one that expires within a day, or as soon as the shop asks.",
  audience:
    "The buyer token was made for another service: make one for this service's origin, or for the merchant's own audience where it has one.",
  payment: "The buyer token was made for another payment: make one whose `tid` is this payment's id.",
  issuer: "The buyer token comes from an issuer that is not accepted here: sign in through this checkout.",
  unavailable: "The buyer token cannot be checked at the moment: try again shortly."
}

/** `reason: "unavailable"` says nothing about the token: no node answered. */
export class BuyerTokenRefused extends Schema.TaggedError<BuyerTokenRefused>()("BuyerTokenRefused", {
  reason: BuyerTokenReason,
  message: Schema.String
}) {
  static because(reason: BuyerTokenReason): BuyerTokenRefused {
    return new BuyerTokenRefused({ reason, message: advice[reason] })
  }
}

/** The answer to the caller: 401 for a token that is refused, 503 while it cannot be checked. */
export const refusalOf = ({ message, reason }: BuyerTokenRefused): InvalidBuyerToken | ChainUnavailable =>
  reason === "unavailable"
    ? new ChainUnavailable({ reason: "buyer_token", message, retryAfter: 5 })
    : new InvalidBuyerToken({ reason, message })
