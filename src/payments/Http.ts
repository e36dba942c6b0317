// Payments over HTTP.

import { Effect, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../app/Api.ts"
import { parseAddress } from "../chain/Address.ts"
import { errorCodes } from "../domain/ErrorCode.ts"
import { EnvironmentMismatch, invalidField, PaymentNotFound } from "../domain/Errors.ts"
import { formatUsd } from "../domain/Money.ts"
import { isTest, networks } from "../domain/networks.ts"
import type { Payment, PaymentSummary } from "../domain/Payment.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { CurrentPrincipal } from "../platform/http/ApiKeyAuth.ts"
import { errorBody } from "../platform/http/Envelope.ts"
import { jsonResponse } from "../platform/http/jsonResponse.ts"
import { clientAddressOf, RequestId } from "../platform/http/RequestContext.ts"
import { groupWithServices } from "../platform/http/withServices.ts"
import { shortened } from "../platform/pages/browser/shortened.ts"
import { defaultPageLimit } from "./Api.ts"
import type { KnownAttempts, PaymentAttempt } from "./AttemptRepo/AttemptStore.ts"
import { PaymentAttempts } from "./PaymentAttempts.ts"
import { PaymentRepo } from "./PaymentRepo.ts"
import { Payments } from "./Payments.ts"
import type {
  AddressResponse,
  AnnouncedAttempt,
  AttemptRefused,
  AttemptsResponse,
  OpenedPayment,
  PaymentList,
  PaymentResponse,
  PaymentView,
  PendingCode,
  PendingResponse
} from "./PaymentView.ts"

const attemptsView = ({ attempts, confirming, payment }: KnownAttempts): typeof AttemptsResponse.Encoded => ({
  payment: paymentView(payment),
  attempts: attempts.map(({ method, payer, since, transactionId }) => ({
    payer: shortened(payer),
    method,
    since: since.toISOString(),
    ...(transactionId === null ? {} : { transactionId })
  })),
  ...(confirming === null ? {} : { confirmingTransactionId: confirming })
})

const attemptView = (attempt: PaymentAttempt): (typeof AnnouncedAttempt.Encoded)["attempt"] => ({
  id: attempt.id,
  method: attempt.method,
  payer: attempt.payer,
  since: attempt.announcedAt.toISOString(),
  ...(attempt.nonce === null ? {} : { nonce: Number(attempt.nonce) })
})

/** The payment object of docs/contract.md 2.1. */
export const paymentView = (payment: PaymentSummary): typeof PaymentView.Encoded => {
  const { chainId, usdc } = networks[payment.env]
  const { reported } = payment
  return {
    id: payment.id,
    amount: formatUsd(payment.amount),
    currency: "USD",
    env: payment.env,
    livemode: !isTest(payment.env),
    status: payment.status,
    refCode: payment.refCode,
    intentUrl: payment.intentUrl,
    createdAt: payment.createdAt.toISOString(),
    payerType: payment.payerType,
    ...(reported === null || payment.status !== "settled"
      ? {}
      : {
          payerAddress: reported.evidence.payer,
          reportedAt: reported.at.toISOString(),
          reportedTransactionId: reported.evidence.transactionId
        }),
    ...(payment.settledAt === null ? {} : { settledAt: payment.settledAt.toISOString() }),
    ...(payment.status === "pending" ? {} : { failureReason: payment.failureReason }),
    token: { address: usdc.address, chainId }
  }
}

/**
 * Responses are built in their wire form, typed by the contract's encoded side, and sent unchanged: encoding them by
 * schema would cost more than the rest of the request. The test suite checks each one against the OpenAPI document.
 */
const paymentResponse = (body: typeof PaymentResponse.Encoded) => jsonResponse(body)
const pendingResponse = (body: typeof PendingResponse.Encoded) => jsonResponse(body, 202)
const listResponse = (body: typeof PaymentList.Encoded) => jsonResponse(body)

export const layer = HttpApiBuilder.group(
  Api,
  "payments",
  Effect.fnUntraced(function* (handlers) {
    const payments = yield* Payments
    const repo = yield* PaymentRepo
    const attempts = yield* PaymentAttempts
    const { baseUrl, trustedProxyHops } = yield* AppConfig
    const client = Effect.map(HttpServerRequest.HttpServerRequest, (request) =>
      clientAddressOf(request, trustedProxyHops)
    )

    const pending = (code: PendingCode, payment: Payment) =>
      Effect.map(RequestId, (requestId) =>
        pendingResponse({
          error: errorBody({ code, message: errorCodes[code].summary }, requestId, baseUrl),
          payment: paymentView(payment)
        })
      )

    const report = Effect.fnUntraced(function* ({
      params,
      payload
    }: {
      readonly params: { readonly id: Payment["id"] }
      readonly payload: Omit<Parameters<typeof payments.report>[2], "client">
    }) {
      const outcome = yield* payments.report(yield* CurrentPrincipal, params.id, {
        ...payload,
        client: yield* client
      })
      switch (outcome._tag) {
        case "Settled":
          return paymentResponse({ payment: paymentView(outcome.payment) })
        case "Pending":
          return yield* pending(networks[outcome.payment.env].reportCodes.pending, outcome.payment)
        case "Gated":
          return yield* pending("LIVE_SETTLEMENT_GATED", outcome.payment)
      }
    })
    const declineAttempt = Effect.fnUntraced(function* ({
      params
    }: {
      readonly params: { readonly id: Payment["id"]; readonly attemptId: string }
    }) {
      yield* attempts.decline(yield* CurrentPrincipal, params.id, params.attemptId)
    })

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const { merchant, env } = yield* CurrentPrincipal
        if (query.env !== undefined && query.env !== env) return yield* new EnvironmentMismatch()
        const page = yield* repo.list(
          { merchantId: merchant.id, env },
          { ...query, limit: query.limit ?? defaultPageLimit, startingAfter: query.startingAfter }
        )
        if (Option.isNone(page)) {
          return yield* invalidField(
            "query.startingAfter",
            "No payment with this id exists. Pass the last id of the previous page."
          )
        }
        return listResponse({ payments: page.value.payments.map(paymentView), hasMore: page.value.hasMore })
      }),
      open: Effect.fnUntraced(function* ({ payload }) {
        const { created, payment, resumeCode } = yield* payments.open(
          yield* CurrentPrincipal,
          payload.intentToken
        )
        const body: typeof OpenedPayment.Encoded = { payment: paymentView(payment), resumeCode }
        return jsonResponse(body, created ? 201 : 200)
      }),
      resume: Effect.fnUntraced(function* ({ payload }) {
        return { intentToken: yield* payments.resume(yield* CurrentPrincipal, payload.resumeCode) }
      }),
      retrieve: Effect.fnUntraced(function* ({ params }) {
        const { merchant, env } = yield* CurrentPrincipal
        const payment = yield* repo.find({ merchantId: merchant.id, env }, params.id)
        if (Option.isNone(payment)) return yield* new PaymentNotFound()
        return paymentResponse({ payment: paymentView(payment.value) })
      }),
      report,
      reportByPost: report,
      announceAttempt: Effect.fnUntraced(function* ({ params, payload: { nonce, ...payload } }) {
        const outcome = yield* attempts.announce(yield* CurrentPrincipal, params.id, {
          ...payload,
          ...(nonce === undefined ? {} : { nonce: BigInt(nonce) }),
          client: yield* client
        })
        if (outcome._tag === "AttemptAnnounced") {
          const body: typeof AnnouncedAttempt.Encoded = {
            attempt: attemptView(outcome.attempt),
            ...attemptsView(outcome.known)
          }
          return jsonResponse(body, outcome.created ? 201 : 200)
        }
        const refused: typeof AttemptRefused.Encoded = {
          error: errorBody(outcome.error, yield* RequestId, baseUrl),
          ...attemptsView(outcome.known)
        }
        return jsonResponse(refused, 409)
      }),
      attempts: Effect.fnUntraced(function* ({ params, query }) {
        const knownAttempts = yield* attempts.read(yield* CurrentPrincipal, params.id, {
          payer: query.payer === undefined ? undefined : parseAddress(query.payer),
          own:
            query.attemptId === undefined || query.nonce === undefined
              ? undefined
              : { attemptId: query.attemptId, nonce: query.nonce },
          client: yield* client
        })
        return jsonResponse(attemptsView(knownAttempts))
      }),
      showAddress: Effect.fnUntraced(function* ({ params }) {
        const payment = yield* attempts.showAddress(yield* CurrentPrincipal, params.id, yield* client)
        const { chainId, usdc } = networks[payment.env]
        const amountAtomic = payment.amount.toString()
        const body: typeof AddressResponse.Encoded = {
          payment: paymentView(payment),
          address: payment.receiver,
          amountAtomic,
          uri: `ethereum:${usdc.address}@${chainId}/transfer?address=${payment.receiver}&uint256=${amountAtomic}`
        }
        return jsonResponse(body)
      }),
      declineAttempt,
      declineAttemptByPost: declineAttempt
    })
  })
).pipe(groupWithServices(Payments, PaymentAttempts, PaymentRepo, AppConfig))
