// The facilitator and x402 payments over HTTP.

import { Clock, Effect, Layer, Option, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../app/Api.ts"
import { orChainUnavailable } from "../chain/orChainUnavailable.ts"
import {
  InvalidRequest,
  invalidField,
  KeyKindNotAllowed,
  LiveModeGated,
  PaymentFailed,
  PaymentNotFound,
  RateLimited
} from "../domain/Errors.ts"
import { issueDetails } from "../domain/issueDetails.ts"
import type { Payment } from "../domain/Payment.ts"
import { KeyAuth } from "../merchants/keys/KeyAuth.ts"
import { paymentView } from "../payments/Http.ts"
import { PaymentRepo } from "../payments/PaymentRepo.ts"
import { Receipts } from "../payments/receipts/Receipts.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { CurrentPrincipal } from "../platform/http/ApiKeyAuth.ts"
import { jsonResponse } from "../platform/http/jsonResponse.ts"
import { makePublishableLimit } from "../platform/http/makePublishableLimit.ts"
import { clientAddressOf } from "../platform/http/RequestContext.ts"
import { unstorableAdvice, unstorablePlace } from "../platform/http/unstorableText.ts"
import { RateLimiter } from "../platform/limits/RateLimiter.ts"
import { Networks } from "../platform/Networks.ts"
import { idempotencyHeader } from "./Api.ts"
import { Facilitator, type SettleResult } from "./Facilitator.ts"
import { offerOf, offersEntry, receiptEntry, receiptOf } from "./offerReceipt.ts"
import { paymentRequiredV1, paymentRequiredV2, requirementsOf } from "./paymentRequirements.ts"
import {
  decodeHeader,
  type ExactPayment,
  encodeHeader,
  readPayment,
  readRequirements,
  type X402Version
} from "./Wire.ts"

const malformed = (path: string) => (error: Schema.SchemaError) =>
  new InvalidRequest({ details: issueDetails(error.issue, path) })

/** The header value with which a merchant asks for the payer's own identifier to be used. */
const payersIdentifier = "payment-identifier"

/**
 * The id under which a lost success is repeated. Only the merchant sets it: a payer chooses the content of a
 * payment and can send it repeatedly.
 */
const idempotencyKeyOf = (
  headers: { readonly [idempotencyHeader]?: string },
  { identifier }: ExactPayment
): string | undefined => {
  const key = headers[idempotencyHeader]
  if (key === undefined) return undefined
  if (key !== payersIdentifier) return `key ${key}`
  return identifier === undefined ? undefined : `payer ${identifier}`
}

const layerFacilitator = HttpApiBuilder.group(
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
        Effect.mapError(malformed("body.paymentPayload"))
      )
      const requirements = yield* readRequirements(version, payload.paymentRequirements).pipe(
        Effect.mapError(malformed("body.paymentRequirements"))
      )
      return { payment, requirements }
    })

    return handlers.handleAll({
      supported: () => Effect.map(CurrentPrincipal, service.supported),
      verify: Effect.fnUntraced(function* ({ headers, payload }) {
        const { payment, requirements } = yield* read(payload)
        return yield* service
          .verify(yield* CurrentPrincipal, payment, requirements, idempotencyKeyOf(headers, payment))
          .pipe(orChainUnavailable)
      }),
      settle: Effect.fnUntraced(function* ({ headers, payload }) {
        const { payment, requirements } = yield* read(payload)
        return yield* service
          .settle(yield* CurrentPrincipal, payment, requirements, idempotencyKeyOf(headers, payment))
          .pipe(orChainUnavailable)
      })
    })
  })
)

/** Reads of one payment per client and key: 2 a second. */
const payLimit = { rate: 2, perSeconds: 1, burst: 30 }
/** Payment headers per client and key, over all payments: each costs the nodes a simulation. */
const headerLimit = { rate: 20, perSeconds: 1, burst: 200 }

const versionIn = Schema.decodeUnknownOption(Schema.Struct({ x402Version: Schema.Literals([1, 2]) }))

const layerPayments = HttpApiBuilder.group(
  Api,
  "x402Payment",
  Effect.fnUntraced(function* (handlers) {
    const service = yield* Facilitator
    const keys = yield* KeyAuth
    const repo = yield* PaymentRepo
    const { executes } = yield* Networks
    const limiter = yield* RateLimiter
    const receipts = yield* Receipts
    const keyWaitOf = yield* makePublishableLimit
    const { baseUrl, trustedProxyHops } = yield* AppConfig

    const within = (wait: Effect.Effect<number, never, HttpServerRequest.HttpServerRequest>) =>
      Effect.flatMap(wait, (seconds) =>
        seconds > 0 ? Effect.fail(new RateLimited({ retryAfter: seconds })) : Effect.void
      )

    /** A response without a receipt signature is still valid: a settled payment stays settled. */
    const signed = (
      payload: Parameters<typeof receipts.signX402>[0],
      entry: (signature: string) => object
    ): Effect.Effect<{ readonly extensions?: object }> =>
      receipts.signX402(payload).pipe(
        Effect.map((signature) => ({ extensions: entry(signature) })),
        Effect.catchCause((cause) =>
          Effect.as(
            Effect.logWarning("Signing an x402 offer or receipt failed; the response goes without it", cause),
            {}
          )
        )
      )

    const paymentRequired = Effect.fnUntraced(function* (payment: Payment, resource: string, error: string) {
      const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const offer = yield* signed(offerOf(payment, resource, now), offersEntry)
      return jsonResponse(paymentRequiredV1(payment, resource, error), 402, {
        "payment-required": encodeHeader({ ...paymentRequiredV2(payment, resource, error), ...offer })
      })
    })

    const withOutcome = (
      response: HttpServerResponse.HttpServerResponse,
      answer: SettleResult & { readonly extensions?: object },
      version: X402Version
    ) =>
      HttpServerResponse.setHeader(
        response,
        version === 1 ? "x-payment-response" : "payment-response",
        encodeHeader(answer)
      )

    /** The payment in a header of either version, or the reason why it cannot be read. */
    const sentPayment = Effect.fnUntraced(function* (headers: Readonly<Record<string, string | undefined>>) {
      const text = headers["payment-signature"] ?? headers["x-payment"]
      if (text === undefined) return undefined
      const decoded = decodeHeader(text)
      const version = Option.flatMap(decoded, versionIn)
      if (Option.isNone(decoded) || Option.isNone(version))
        return "The payment header is not base64 of x402 JSON."
      const { x402Version } = version.value
      const place = unstorablePlace(JSON.stringify(decoded.value), decoded.value)
      if (place !== undefined) return yield* invalidField(place.replace(/^body/, "header"), unstorableAdvice)
      return yield* readPayment(x402Version, decoded.value).pipe(
        Effect.mapError(malformed(x402Version === 1 ? "header.x-payment" : "header.payment-signature"))
      )
    })

    const paymentBody = (payment: Payment) => jsonResponse({ payment: paymentView(payment) })

    /** The response for a settled payment, with any payment header. It moves nothing. */
    const settledResponse = Effect.fnUntraced(function* (
      payment: Payment,
      header: ExactPayment | string | undefined,
      resource: string
    ) {
      const { reported } = payment
      if (typeof header !== "object" || reported?.evidence.payer !== header.authorization.from)
        return paymentBody(payment)
      const { payer, transactionId: transaction } = reported.evidence
      const receipt = header.asksReceipt ? receiptOf(payment, resource) : undefined
      const extensions = receipt === undefined ? {} : yield* signed(receipt, receiptEntry)
      return withOutcome(
        paymentBody(payment),
        { success: true, payer, transaction, network: header.network, ...extensions },
        header.version
      )
    })

    return handlers.handle(
      "pay",
      Effect.fnUntraced(function* ({ params, query }) {
        const principal = yield* keys.authenticate(query.pk)
        if (principal.kind !== "publishable") return yield* new KeyKindNotAllowed()
        if (!executes(principal.env)) return yield* new LiveModeGated()
        yield* within(keyWaitOf(principal.keyId))
        const request = yield* HttpServerRequest.HttpServerRequest
        const { headers } = request
        const client = `${clientAddressOf(request, trustedProxyHops)} ${principal.keyId}`
        yield* within(limiter.take(`x402 ${client} ${params.id}`, payLimit))
        const tenant = { merchantId: principal.merchant.id, env: principal.env }
        const stored = yield* repo.find(tenant, params.id)
        if (Option.isNone(stored)) return yield* new PaymentNotFound()
        const payment = stored.value
        if (payment.status === "failed") return yield* new PaymentFailed()
        const resource = `${baseUrl}/api/v1/payments/${payment.id}/x402?pk=${query.pk}`
        const header = yield* sentPayment(headers)
        if (payment.status === "settled") return yield* settledResponse(payment, header, resource)
        if (header === undefined)
          return yield* paymentRequired(
            payment,
            resource,
            "PAYMENT-SIGNATURE or X-PAYMENT header is required"
          )
        if (typeof header === "string") return yield* paymentRequired(payment, resource, header)
        yield* within(limiter.take(`x402 ${client}`, headerLimit))
        const answer = yield* service
          .settlePayment(
            principal.merchant,
            payment,
            header,
            requirementsOf(payment, header.version, resource)
          )
          .pipe(orChainUnavailable)
        const now = Option.getOrElse(yield* repo.find(tenant, params.id), () => payment)
        // The payment was settled by this header or in another way: nothing is left to pay.
        if (now.status === "settled") return yield* settledResponse(now, header, resource)
        if (now.status === "failed") return yield* new PaymentFailed()
        const error = answer.success ? "settlement_pending" : (answer.errorReason ?? "invalid payment")
        return withOutcome(yield* paymentRequired(now, resource, error), answer, header.version)
      })
    )
  })
)

export const layer = Layer.merge(layerFacilitator, layerPayments)
