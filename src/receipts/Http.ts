// Receipts over HTTP.
import { Effect, Layer, Option } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../Api.ts"
import { AppConfig } from "../AppConfig.ts"
import { NotFound, PaymentNotFound, RateLimited } from "../domain/Errors.ts"
import { formatUsd } from "../domain/Money.ts"
import { PaymentId } from "../domain/Payment.ts"
import { CurrentPrincipal } from "../http/ApiKeyAuth.ts"
import { clientAddressOf } from "../http/RequestContext.ts"
import { type Limit, RateLimiter } from "../limits/RateLimiter.ts"
import { PaymentRepo } from "../payments/PaymentRepo.ts"
import { ReceiptMails } from "./ReceiptMails.ts"
import { Receipts } from "./Receipts.ts"

/** Mails that one address asks for. */
const mailLimit: Limit = { rate: 10, perSeconds: 3_600, burst: 10 }

/** What the chain shows to have been sent back. */
const refundsOf = (repo: PaymentRepo["Service"], paymentId: PaymentId) =>
  Effect.map(repo.provenRefunds(paymentId), (refunds) =>
    refunds.map(({ amount, provenAt, recipient, transactionId }) => ({
      amount: formatUsd(amount),
      provenAt: provenAt?.toISOString(),
      recipient,
      transactionId
    }))
  )

const issuing = HttpApiBuilder.group(
  Api,
  "receipts",
  Effect.fnUntraced(function* (handlers) {
    const receipts = yield* Receipts
    const repo = yield* PaymentRepo
    return handlers.handle(
      "issue",
      Effect.fnUntraced(function* ({ params }) {
        const { merchant, env } = yield* CurrentPrincipal
        const payment = yield* repo.find({ merchantId: merchant.id, env }, params.id)
        if (Option.isNone(payment)) return yield* new PaymentNotFound()
        const signed = yield* receipts.issue(payment.value, merchant.name)
        return HttpServerResponse.jsonUnsafe({ ...signed, refunded: yield* refundsOf(repo, params.id) })
      })
    )
  })
)

const reading = HttpApiBuilder.group(
  Api,
  "publicReceipts",
  Effect.fnUntraced(function* (handlers) {
    const receipts = yield* Receipts
    const repo = yield* PaymentRepo
    const mails = yield* ReceiptMails
    const limiter = yield* RateLimiter
    const { trustedProxyHops } = yield* AppConfig
    return handlers.handleAll({
      read: Effect.fnUntraced(function* ({ params }) {
        const found = yield* receipts.read(params.id)
        if (Option.isNone(found)) return yield* new NotFound()
        const paymentId = PaymentId.make(found.value.receipt.paymentId)
        return HttpServerResponse.jsonUnsafe({ ...found.value, refunded: yield* refundsOf(repo, paymentId) })
      }),
      mail: Effect.fnUntraced(function* ({ params, payload: { email, language }, request }) {
        const from = clientAddressOf(request, trustedProxyHops)
        const wait = yield* limiter.take(`receipt mail ${from}`, mailLimit)
        if (wait > 0) return yield* new RateLimited({ retryAfter: wait })
        const found = yield* receipts.read(params.id)
        if (Option.isNone(found)) return yield* new NotFound()
        yield* mails.send(found.value, email, language)
      })
    })
  })
)

export const layer = Layer.merge(issuing, reading)
