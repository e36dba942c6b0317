// The requests of people about signatures: terms, and payments by authorization.
import { Effect, Option } from "effect"
import { orChainUnavailable } from "../../../src/chain/orChainUnavailable.ts"
import { Address, TransactionHash } from "../../../src/domain/Chain.ts"
import type { CodedError } from "../../../src/domain/Errors.ts"
import type { Principal } from "../../../src/domain/Merchant.ts"
import { PaymentId } from "../../../src/domain/Payment.ts"
import type { PaymentRepo } from "../../../src/payments/PaymentRepo.ts"
import type { Facilitator } from "../../../src/x402/Facilitator.ts"
import type { Answer, SigningAsk } from "../Door.ts"

export const answerSigning =
  ({
    facilitator,
    repo
  }: {
    readonly repo: PaymentRepo["Service"]
    readonly facilitator: Facilitator["Service"]
  }) =>
  ({ env, merchant }: Principal, ask: SigningAsk): Effect.Effect<Answer, CodedError> =>
    Effect.gen(function* () {
      const find = repo.find({ merchantId: merchant.id, env }, PaymentId.make(ask.paymentId))
      const found = yield* find
      if (Option.isNone(found)) return { status: 404 }
      const payment = found.value
      if (ask.do === "read terms") {
        const { obstacle, typedData } = yield* facilitator
          .terms(merchant, payment, ask.payer)
          .pipe(orChainUnavailable)
        const { from, nonce, to, ...rest } = typedData.message
        const terms = {
          from: Address.make(from),
          to: Address.make(to),
          nonce: TransactionHash.make(nonce),
          ...rest
        }
        return { status: 200, payment, terms: obstacle === undefined ? terms : undefined }
      }
      if (payment.status !== "pending") return { status: 200, payment }
      const { from, signature, validAfter, validBefore } = ask.authorization
      const { success } = yield* facilitator
        .settleSigned(merchant, payment, { payer: from, validAfter, validBefore, signature })
        .pipe(orChainUnavailable)
      const now = Option.getOrElse(yield* find, () => payment)
      return { status: now.status === "settled" ? 200 : success ? 202 : 402, payment: now }
    })
