// Refunds over HTTP.
import { Effect, Option } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../Api.ts"
import { parseChecksummedAddress } from "../chain/Address.ts"
import { InvalidRequest } from "../domain/Errors.ts"
import { CurrentPrincipal } from "../http/ApiKeyAuth.ts"
import type { RefundedThing } from "../payments/PaymentRepo/RefundStore.ts"
import type { NewRefund } from "./Api.ts"
import { Refunds } from "./Refunds.ts"
import { refundView } from "./refundView.ts"

const defaultLimit = 20

const refused = (path: string, message: string) => new InvalidRequest({ details: [{ path, message }] })

const thingOf = ({ incomingTransferId, paymentId }: typeof NewRefund.Type): RefundedThing | undefined =>
  paymentId !== undefined && incomingTransferId === undefined
    ? { paymentId }
    : paymentId === undefined && incomingTransferId !== undefined
      ? { transferId: incomingTransferId }
      : undefined

export const layer = HttpApiBuilder.group(
  Api,
  "refunds",
  Effect.fnUntraced(function* (handlers) {
    const refunds = yield* Refunds
    const tenant = Effect.map(CurrentPrincipal, ({ env, merchant }) => ({ merchantId: merchant.id, env }))
    const answer = (refund: Parameters<typeof refundView>[0], status: 200 | 201 = 200) =>
      HttpServerResponse.jsonUnsafe({ refund: refundView(refund) }, { status })

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        const of = thingOf(payload)
        if (of === undefined)
          return yield* refused("body.paymentId", "Send either `paymentId` or `incomingTransferId`.")
        const { incomingTransferId: _, paymentId: __, recipient: typed, ...terms } = payload
        const recipient = typed === undefined ? undefined : parseChecksummedAddress(typed)
        if (typed !== undefined && recipient === undefined)
          return yield* refused("body.recipient", "The address has a wrong checksum. Copy it again.")
        const made = yield* refunds.create(yield* tenant, {
          ...terms,
          ...(recipient === undefined ? {} : { recipient }),
          of,
          by: "API"
        })
        return answer(made.refund, made.created ? 201 : 200)
      }),
      list: Effect.fnUntraced(function* ({ query: { limit = defaultLimit, paymentId, startingAfter } }) {
        const found = yield* refunds.list(yield* tenant, {
          limit: limit + 1,
          startingAfter,
          ...(paymentId === undefined ? {} : { of: { paymentId } })
        })
        if (Option.isNone(found))
          return yield* refused(
            "query.startingAfter",
            "No refund with this id exists; pass the last id of the page before."
          )
        return HttpServerResponse.jsonUnsafe({
          refunds: found.value.slice(0, limit).map(refundView),
          hasMore: found.value.length > limit
        })
      }),
      retrieve: Effect.fnUntraced(function* ({ params }) {
        return answer(yield* refunds.find(yield* tenant, params.id))
      }),
      report: Effect.fnUntraced(function* ({ params, payload }) {
        return answer(yield* refunds.report(yield* tenant, params.id, payload.transactionId))
      }),
      cancel: Effect.fnUntraced(function* ({ params }) {
        return answer(yield* refunds.cancel(yield* tenant, params.id))
      })
    })
  })
)
