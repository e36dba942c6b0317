// Receipts over HTTP.
import { Effect, Layer, Option } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../Api.ts"
import { NotFound, PaymentNotFound } from "../domain/Errors.ts"
import { CurrentPrincipal } from "../http/ApiKeyAuth.ts"
import { PaymentRepo } from "../payments/PaymentRepo.ts"
import { Receipts } from "./Receipts.ts"

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
        return HttpServerResponse.jsonUnsafe(yield* receipts.issue(payment.value, merchant.name))
      })
    )
  })
)

const reading = HttpApiBuilder.group(
  Api,
  "publicReceipts",
  Effect.fnUntraced(function* (handlers) {
    const receipts = yield* Receipts
    return handlers.handle(
      "read",
      Effect.fnUntraced(function* ({ params }) {
        const found = yield* receipts.read(params.id)
        return Option.isSome(found) ? HttpServerResponse.jsonUnsafe(found.value) : yield* new NotFound()
      })
    )
  })
)

export const layer = Layer.merge(issuing, reading)
