// Payments by signature over HTTP.

import { Effect, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { getTypesForEIP712Domain } from "viem"
import { Api } from "../../app/Api.ts"
import { parseAddress } from "../../chain/Address.ts"
import { orChainUnavailable } from "../../chain/orChainUnavailable.ts"
import { errorCodes } from "../../domain/ErrorCode.ts"
import {
  AuthorizationRefused,
  LiveModeGated,
  PaymentAttemptOpen,
  PaymentFailed,
  PaymentNotFound,
  PaymentSettled,
  RateLimited,
  RelayUnavailable
} from "../../domain/Errors.ts"
import { networks } from "../../domain/networks.ts"
import type { Payment, PaymentId } from "../../domain/Payment.ts"
import { paymentView } from "../../payments/Http.ts"
import { PaymentRepo } from "../../payments/PaymentRepo.ts"
import type { PaymentResponse, PendingResponse } from "../../payments/PaymentView.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { CurrentPrincipal } from "../../platform/http/ApiKeyAuth.ts"
import { errorBody } from "../../platform/http/Envelope.ts"
import { jsonResponse } from "../../platform/http/jsonResponse.ts"
import { clientAddressOf, RequestId } from "../../platform/http/RequestContext.ts"
import { groupWithServices } from "../../platform/http/withServices.ts"
import { RateLimiter } from "../../platform/limits/RateLimiter.ts"
import { Networks } from "../../platform/Networks.ts"
import { Facilitator, type SettleResult } from "../Facilitator.ts"
import type { SigningTerms } from "./Api.ts"
import { obstacleNames, refusalOf } from "./refusalOf.ts"

/** The rate limit per client and payment: 2 a second. */
const paymentLimit = { rate: 2, perSeconds: 1, burst: 30 }
/** Signatures per client and key, over all payments: each costs the nodes a simulation. */
const signedLimit = { rate: 20, perSeconds: 1, burst: 250 }

type SigningTermsView = typeof SigningTerms.Encoded

export const layer = HttpApiBuilder.group(
  Api,
  "relaying",
  Effect.fnUntraced(function* (handlers) {
    const facilitator = yield* Facilitator
    const repo = yield* PaymentRepo
    const limiter = yield* RateLimiter
    const { executes } = yield* Networks
    const { baseUrl, trustedProxyHops } = yield* AppConfig

    const enforceLimit = Effect.fnUntraced(function* (key: string, limit: typeof paymentLimit) {
      const wait = yield* limiter.take(key, limit)
      if (wait > 0) return yield* new RateLimited({ retryAfter: wait })
    })

    const findPayment = Effect.fnUntraced(function* (id: PaymentId) {
      const { keyId, merchant, env } = yield* CurrentPrincipal
      const client = clientAddressOf(yield* HttpServerRequest.HttpServerRequest, trustedProxyHops)
      yield* enforceLimit(`relaying ${keyId} ${client} ${id}`, paymentLimit)
      const payment = yield* repo.find({ merchantId: merchant.id, env }, id)
      if (Option.isNone(payment)) return yield* new PaymentNotFound()
      if (!executes(env)) return yield* new LiveModeGated()
      return { merchant, payment: payment.value, client: `${keyId} ${client}` }
    })

    const settled = (payment: Payment) => {
      const body: typeof PaymentResponse.Encoded = { payment: paymentView(payment) }
      return jsonResponse(body)
    }
    const pending = (payment: Payment) =>
      Effect.map(RequestId, (requestId) => {
        const code = networks[payment.env].reportCodes.pending
        const body: typeof PendingResponse.Encoded = {
          error: errorBody({ code, message: errorCodes[code].summary }, requestId, baseUrl),
          payment: paymentView(payment)
        }
        return jsonResponse(body, 202)
      })

    const refused = Effect.fnUntraced(function* (answer: SettleResult) {
      const refusal = refusalOf(answer.errorReason ?? "invalid_exact_evm_transaction_failed")
      switch (refusal._tag) {
        case "Taken":
          return yield* new PaymentAttemptOpen()
        case "Failed":
          return yield* new PaymentFailed()
        case "NotRelayed":
          return yield* new RelayUnavailable({ reason: refusal.reason, retryAfter: 60 })
        case "Refused":
          return yield* new AuthorizationRefused({ reason: refusal.reason })
      }
    })

    return handlers.handleAll({
      terms: Effect.fnUntraced(function* ({ params, query }) {
        const { merchant, payment } = yield* findPayment(params.id)
        // Anybody who sees a signature can submit it, so nothing is signed that is not owed.
        if (payment.status === "settled") return yield* new PaymentSettled()
        if (payment.status === "failed") return yield* new PaymentFailed()
        const payer = parseAddress(query.payer) ?? query.payer
        const { obstacle, typedData } = yield* facilitator
          .terms(merchant, payment, payer)
          .pipe(orChainUnavailable)
        const { message } = typedData
        const view: SigningTermsView = {
          relayed: obstacle === undefined,
          ...(obstacle === undefined ? {} : { reason: obstacleNames[obstacle] }),
          typedData: {
            ...typedData,
            types: { EIP712Domain: getTypesForEIP712Domain(typedData), ...typedData.types },
            message: {
              ...message,
              value: message.value.toString(),
              validAfter: message.validAfter.toString(),
              validBefore: message.validBefore.toString()
            }
          }
        }
        return jsonResponse(view)
      }),
      pay: Effect.fnUntraced(function* ({ params, payload }) {
        const { client, merchant, payment } = yield* findPayment(params.id)
        if (payment.status === "settled") return settled(payment)
        if (payment.status === "failed") return yield* new PaymentFailed()
        yield* enforceLimit(`relaying ${client}`, signedLimit)
        const answer = yield* facilitator
          .settleSigned(merchant, payment, {
            payer: parseAddress(payload.payer) ?? payload.payer,
            validAfter: BigInt(payload.validAfter),
            validBefore: BigInt(payload.validBefore),
            signature: `0x${payload.signature.slice(2).toLowerCase()}`
          })
          .pipe(orChainUnavailable)
        const tenant = { merchantId: merchant.id, env: payment.env }
        const now = Option.getOrElse(yield* repo.find(tenant, payment.id), () => payment)
        // The payment was settled by this signature or in another way: nothing is left to pay.
        if (now.status === "settled") return settled(now)
        if (now.status === "failed") return yield* new PaymentFailed()
        return answer.success || answer.errorReason === "settlement_pending"
          ? yield* pending(now)
          : yield* refused(answer)
      })
    })
  })
).pipe(groupWithServices(Facilitator, PaymentRepo, RateLimiter, AppConfig))
