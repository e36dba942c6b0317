// The facilitator and x402 payments over HTTP.
import { Effect, Layer, Option, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../Api.ts"
import { AppConfig } from "../AppConfig.ts"
import { orChainUnavailable } from "../chain/orChainUnavailable.ts"
import {
  InvalidRequest,
  KeyKindNotAllowed,
  LiveModeGated,
  PaymentFailed,
  PaymentNotFound,
  RateLimited
} from "../domain/Errors.ts"
import type { Payment } from "../domain/Payment.ts"
import { CurrentPrincipal } from "../http/Authorization.ts"
import { RateLimiter } from "../http/RateLimiter.ts"
import { KeyAuth } from "../keys/KeyAuth.ts"
import { viewOf } from "../payments/Http.ts"
import { PaymentRepo } from "../payments/PaymentRepo.ts"
import { Facilitator, type SettleAnswer } from "./Facilitator.ts"
import { paymentRequiredV1, paymentRequiredV2, requirementsOf } from "./paymentRequirements.ts"
import {
  decodeHeader,
  type ExactPayment,
  encodeHeader,
  readPayment,
  readRequirements,
  type X402Version
} from "./Wire.ts"

const malformed = (path: string, version: X402Version) => (error: { readonly message: string }) =>
  new InvalidRequest({
    details: [{ path, message: `Not of x402 version ${version}: ${error.message}`.slice(0, 300) }]
  })

const facilitator = HttpApiBuilder.group(
  Api,
  "x402",
  Effect.fnUntraced(function* (handlers) {
    const service = yield* Facilitator

    const read = Effect.fnUntraced(function* (payload: {
      readonly x402Version: X402Version
      readonly paymentPayload: unknown
      readonly paymentRequirements: unknown
    }) {
      const version = payload.x402Version
      const payment = yield* readPayment(version, payload.paymentPayload).pipe(
        Effect.mapError(malformed("body.paymentPayload", version))
      )
      const requirements = yield* readRequirements(version, payload.paymentRequirements).pipe(
        Effect.mapError(malformed("body.paymentRequirements", version))
      )
      return { payment, requirements }
    })

    return handlers.handleAll({
      supported: () => Effect.map(CurrentPrincipal, service.supported),
      verify: Effect.fnUntraced(function* ({ payload }) {
        const { payment, requirements } = yield* read(payload)
        return yield* service.verify(yield* CurrentPrincipal, payment, requirements).pipe(orChainUnavailable)
      }),
      settle: Effect.fnUntraced(function* ({ payload }) {
        const { payment, requirements } = yield* read(payload)
        return yield* service.settle(yield* CurrentPrincipal, payment, requirements).pipe(orChainUnavailable)
      })
    })
  })
)

/** Looks at one payment by one key: 2 a second. */
const payLimit = { rate: 2, perSeconds: 1, burst: 30 }

const versionIn = Schema.decodeUnknownOption(Schema.Struct({ x402Version: Schema.Literals([1, 2]) }))

const payments = HttpApiBuilder.group(
  Api,
  "x402Payment",
  Effect.fnUntraced(function* (handlers) {
    const service = yield* Facilitator
    const keys = yield* KeyAuth
    const repo = yield* PaymentRepo
    const limiter = yield* RateLimiter
    const { baseUrl } = yield* AppConfig

    const paymentRequired = (payment: Payment, resource: string, error: string) =>
      HttpServerResponse.jsonUnsafe(paymentRequiredV1(payment, resource, error), {
        status: 402,
        headers: { "payment-required": encodeHeader(paymentRequiredV2(payment, resource, error)) }
      })

    const withOutcome = (
      response: HttpServerResponse.HttpServerResponse,
      answer: SettleAnswer,
      version: X402Version
    ) =>
      HttpServerResponse.setHeader(
        response,
        version === 1 ? "x-payment-response" : "payment-response",
        encodeHeader(answer)
      )

    /** The payment in a header of either version, or why it cannot be read. */
    const sentPayment = Effect.fnUntraced(function* (headers: Readonly<Record<string, string | undefined>>) {
      const text = headers["payment-signature"] ?? headers["x-payment"]
      if (text === undefined) return undefined
      const decoded = decodeHeader(text)
      const version = Option.flatMap(decoded, versionIn)
      if (Option.isNone(decoded) || Option.isNone(version))
        return "The payment header is not base64 of x402 JSON."
      return yield* readPayment(version.value.x402Version, decoded.value).pipe(
        Effect.match({
          onFailure: () => "The payment header does not hold an `exact` EIP-3009 payment.",
          onSuccess: (payment): ExactPayment => payment
        })
      )
    })

    return handlers.handle(
      "pay",
      Effect.fnUntraced(function* ({ params, query }) {
        const principal = yield* keys.authenticate(query.pk)
        if (principal.kind !== "publishable") return yield* new KeyKindNotAllowed()
        if (principal.env !== "test") return yield* new LiveModeGated()
        const wait = yield* limiter.take(`x402 ${principal.keyId} ${params.id}`, payLimit)
        if (wait > 0) return yield* new RateLimited({ retryAfter: wait })
        const tenant = { merchantId: principal.merchant.id, env: principal.env }
        const found = yield* repo.find(tenant, params.id)
        if (Option.isNone(found)) return yield* new PaymentNotFound()
        const payment = found.value
        if (payment.status === "failed") return yield* new PaymentFailed()
        const resource = `${baseUrl}/api/v1/payments/${payment.id}/x402?pk=${query.pk}`
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const sent = yield* sentPayment(headers)
        if (sent === undefined) {
          return payment.status === "settled"
            ? HttpServerResponse.jsonUnsafe({ payment: viewOf(payment) })
            : paymentRequired(payment, resource, "PAYMENT-SIGNATURE or X-PAYMENT header is required")
        }
        if (typeof sent === "string") return paymentRequired(payment, resource, sent)
        const answer = yield* service
          .settlePayment(principal.merchant, payment, sent, requirementsOf(payment, sent.version, resource))
          .pipe(orChainUnavailable)
        if (!answer.success) {
          const error = answer.errorReason ?? "invalid payment"
          return withOutcome(paymentRequired(payment, resource, error), answer, sent.version)
        }
        const settled = yield* repo.find(tenant, params.id)
        return withOutcome(
          HttpServerResponse.jsonUnsafe({ payment: viewOf(Option.getOrElse(settled, () => payment)) }),
          answer,
          sent.version
        )
      })
    )
  })
)

export const layer = Layer.merge(facilitator, payments)
