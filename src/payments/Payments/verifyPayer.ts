// The wallet that a buyer's token proves, for one payment.
import { Effect, Option, Schema } from "effect"
import type { Address } from "../../domain/Chain.ts"
import type { ChainUnavailable, InvalidBuyerToken } from "../../domain/Errors.ts"
import type { Principal } from "../../domain/Merchant.ts"
import { PaymentId } from "../../domain/Payment.ts"
import { audiencesOf } from "../buyers/audiencesOf.ts"
import type { BuyerIdentity } from "../buyers/BuyerIdentity.ts"
import { BuyerTokenRefused, refusalOf } from "../buyers/BuyerTokenRefused.ts"
import type { PaymentRepo } from "../PaymentRepo.ts"

const paymentIdIn = Schema.decodeUnknownOption(PaymentId)

/**
 * Verifies a token. A token whose id is the id of a payment is valid only for that payment. With `boundOnly`, or if
 * the merchant requires it, no other token is accepted.
 */
export const makeVerifyPayer =
  (buyers: BuyerIdentity["Service"], repo: PaymentRepo["Service"], baseUrl: string) =>
  (
    { merchant, env }: Principal,
    token: string,
    paymentId: PaymentId,
    { boundOnly = false }: { readonly boundOnly?: boolean } = {}
  ): Effect.Effect<Address, InvalidBuyerToken | ChainUnavailable> =>
    Effect.gen(function* () {
      const { address, tokenId } = yield* buyers.verify(token, {
        audiences: audiencesOf(merchant, baseUrl),
        env,
        maxSeconds: merchant.tokenLifetimeSeconds,
        // The chain is queried only for payments that exist, so nobody else can cause queries.
        mayAskChain: Effect.map(repo.find({ merchantId: merchant.id, env }, paymentId), Option.isSome)
      })
      const bound = paymentIdIn(tokenId?.toLowerCase())
      if (Option.isSome(bound) && bound.value === paymentId) return address
      const isOthers = Option.isSome(bound) && (yield* repo.exists(bound.value))
      return boundOnly || merchant.boundTokensOnly || isOthers
        ? yield* BuyerTokenRefused.because("payment")
        : address
    }).pipe(Effect.catchTag("BuyerTokenRefused", (error) => Effect.fail(refusalOf(error))))
