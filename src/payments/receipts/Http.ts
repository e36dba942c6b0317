// Receipts over HTTP.

import { Effect, Layer, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../app/Api.ts"
import { NotFound, PaymentNotFound, RateLimited } from "../../domain/Errors.ts"
import { formatUsd } from "../../domain/Money.ts"
import { PaymentId } from "../../domain/Payment.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { CurrentPrincipal } from "../../platform/http/ApiKeyAuth.ts"
import { jsonResponse } from "../../platform/http/jsonResponse.ts"
import { makeAddressLimit } from "../../platform/http/makeAddressLimit.ts"
import { clientAddressOf } from "../../platform/http/RequestContext.ts"
import { RateLimiter } from "../../platform/limits/RateLimiter.ts"
import type { Limit } from "../../platform/limits/RequestLimits.ts"
import { ClaimRepo } from "../ClaimRepo.ts"
import { PaymentRepo } from "../PaymentRepo.ts"
import { RefundRepo } from "../refunds/RefundRepo.ts"
import { ReceiptMails } from "./ReceiptMails.ts"
import { Receipts, type SignedReceipt } from "./Receipts.ts"

/** Receipt emails that one client address may request. */
const mailLimit: Limit = { rate: 10, perSeconds: 3_600, burst: 10 }

/** Refunds that the chain shows. */
const refundsOf = (refundRepo: RefundRepo["Service"], paymentId: PaymentId) =>
  Effect.map(refundRepo.provenRefunds(paymentId), (refunds) =>
    refunds.map(({ amount, provenAt, recipient, transactionId }) => ({
      amount: formatUsd(amount),
      provenAt: provenAt?.toISOString(),
      recipient,
      transactionId
    }))
  )

/** The state of a receipt's transfer since the receipt was signed. */
const makeSinceSigned = Effect.gen(function* () {
  const claimRepo = yield* ClaimRepo
  const refundRepo = yield* RefundRepo
  return Effect.fnUntraced(function* ({ paymentId, transactionId }: SignedReceipt["receipt"]) {
    const id = PaymentId.make(paymentId)
    const [claim, refunded] = yield* Effect.all([claimRepo.claimOf(id), refundsOf(refundRepo, id)], {
      concurrency: 2
    })
    const { droppedAt, transactionId: now } = Option.getOrElse(claim, () => ({
      droppedAt: null,
      transactionId
    }))
    return {
      refunded,
      ...(droppedAt === null ? {} : { droppedAt: droppedAt.toISOString() }),
      ...(now === transactionId ? {} : { replacedBy: now })
    }
  })
})

const layerReceipts = HttpApiBuilder.group(
  Api,
  "receipts",
  Effect.fnUntraced(function* (handlers) {
    const receipts = yield* Receipts
    const repo = yield* PaymentRepo
    const sinceSigned = yield* makeSinceSigned
    return handlers.handle(
      "issue",
      Effect.fnUntraced(function* ({ params }) {
        const { merchant, env } = yield* CurrentPrincipal
        const payment = yield* repo.find({ merchantId: merchant.id, env }, params.id)
        if (Option.isNone(payment)) return yield* new PaymentNotFound()
        const signed = yield* receipts.issue(payment.value, merchant.name)
        return jsonResponse({ ...signed, ...(yield* sinceSigned(signed.receipt)) })
      })
    )
  })
)

const layerPublicReceipts = HttpApiBuilder.group(
  Api,
  "publicReceipts",
  Effect.fnUntraced(function* (handlers) {
    const receipts = yield* Receipts
    const sinceSigned = yield* makeSinceSigned
    const mails = yield* ReceiptMails
    const limiter = yield* RateLimiter
    const readingWaitOf = yield* makeAddressLimit
    const { trustedProxyHops } = yield* AppConfig
    return handlers.handleAll({
      read: Effect.fnUntraced(function* ({ params }) {
        const wait = yield* readingWaitOf("read receipts")
        if (wait > 0) return yield* new RateLimited({ retryAfter: wait })
        const receipt = yield* receipts.read(params.id)
        if (Option.isNone(receipt)) return yield* new NotFound()
        return jsonResponse({
          ...receipt.value,
          ...(yield* sinceSigned(receipt.value.receipt))
        })
      }),
      mail: Effect.fnUntraced(function* ({ params, payload: { email, language }, request }) {
        const from = clientAddressOf(request, trustedProxyHops)
        const wait = yield* limiter.take(`receipt mail ${from}`, mailLimit)
        if (wait > 0) return yield* new RateLimited({ retryAfter: wait })
        const receipt = yield* receipts.read(params.id)
        if (Option.isNone(receipt)) return yield* new NotFound()
        yield* mails.send(receipt.value, email, language)
      })
    })
  })
)

export const layer = Layer.merge(layerReceipts, layerPublicReceipts)
