// The contract of refunds: a resource beside the payment, whose statuses are closed.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { Address, Env, TransactionHash } from "../../domain/Chain.ts"
import {
  IncomingTransferExplained,
  IncomingTransferNotFound,
  LiveModeGated,
  PaymentNotFound,
  PaymentNotSettled,
  RefundEnded,
  RefundExceedsPaid,
  RefundNotFound,
  RefundNotProven
} from "../../domain/Errors.ts"
import { Uuid } from "../../domain/Merchant.ts"
import { UsdAmount } from "../../domain/Money.ts"
import { PaymentId } from "../../domain/Payment.ts"
import { RefundFailure, RefundStatus } from "../../domain/Refund.ts"
import { everyRole, supporters } from "../../domain/roleSets.ts"
import { Timestamp } from "../../domain/Timestamp.ts"
import { allow, endpointGroup } from "../../platform/http/Access.ts"
import { ApiKeyAuth } from "../../platform/http/ApiKeyAuth.ts"
import { errorResponse } from "../../platform/http/Envelope.ts"
import { forKeys, type Mount } from "../../platform/http/Mount.ts"
import { BodyRules } from "../../platform/http/RequestRules.ts"
import { PageLimit, PaymentIdParam, TransactionId } from "../Api.ts"
import { Token } from "../intents/Api.ts"

export const RefundView = Schema.Struct({
  id: Uuid,
  status: RefundStatus.annotate({
    description:
      "`pending` until the chain proves the transfer. `failed`: the named transaction does not prove it, or none came. `cancelled`: it is not sent."
  }),
  paymentId: Schema.optionalKey(PaymentId.annotate({ description: "The payment that it refunds." })),
  incomingTransferId: Schema.optionalKey(
    Uuid.annotate({ description: "The incoming transfer that it refunds, which pays no payment." })
  ),
  amount: UsdAmount,
  currency: Schema.Literal("USD"),
  env: Env,
  livemode: Schema.Boolean,
  recipient: Address.annotate({ description: "Where the USDC goes." }),
  reason: Schema.optionalKey(Schema.String),
  beyondPaid: Schema.Boolean.annotate({ description: "Whether it may exceed what was paid." }),
  createdAt: Timestamp,
  transactionId: Schema.optionalKey(
    TransactionHash.annotate({ description: "Named by the merchant, or found on the chain." })
  ),
  sender: Schema.optionalKey(Address.annotate({ description: "Your address that sent it, once proven." })),
  provenAt: Schema.optionalKey(Timestamp),
  droppedAt: Schema.optionalKey(
    Timestamp.annotate({ description: "Since when the chain no longer shows the transfer." })
  ),
  failureReason: Schema.optionalKey(RefundFailure),
  uri: Schema.optionalKey(
    Schema.String.annotate({
      description: "While pending: the transfer by EIP-681, for a QR code.",
      examples: [
        "ethereum:0x036CbD53842c5426634e7929541eC2318f3dCF7e@84532/transfer?address=0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045&uint256=4200000"
      ]
    })
  ),
  token: Token
}).annotate({ identifier: "Refund" })
export type RefundView = typeof RefundView.Encoded

const RefundAnswer = Schema.Struct({ refund: RefundView })

const wellFormed = Schema.makeFilter(
  (text: string) => (text.isWellFormed() && !/\p{Cc}/u.test(text)) || "text without control characters"
)

/** An address in any letter case or in its checksummed spelling. */
export const RefundTerms = {
  id: Schema.optionalKey(
    Uuid.annotate({
      description: "Your id of the refund; sent again, it is the same refund. Drawn when absent."
    })
  ),
  amount: Schema.optionalKey(
    UsdAmount.annotate({ description: "All that is left of what was paid, when absent." })
  ),
  recipient: Schema.optionalKey(
    Address.annotate({
      description:
        "The payer, when absent. Name another where the payer cannot receive there, as an exchange's wallet."
    })
  ),
  transactionId: Schema.optionalKey(TransactionId),
  reason: Schema.optionalKey(
    Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(500), wellFormed).annotate({
      description: "For your books; the receipt does not show it."
    })
  ),
  beyondPaid: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "True to refund more than was paid. False when absent." })
  )
}

export const NewRefund = Schema.Struct({
  paymentId: Schema.optionalKey(PaymentId),
  incomingTransferId: Schema.optionalKey(Uuid),
  ...RefundTerms
})

export const ReportedRefund = Schema.Struct({ transactionId: TransactionId })

export const refundEndpoints = <Params extends Schema.Struct.Fields>({ access, params }: Mount<Params>) => ({
  create: allow(
    access({ manage: true, roles: supporters }),
    HttpApiEndpoint.post("create", "/refunds", {
      payload: NewRefund,
      success: [RefundAnswer.pipe(HttpApiSchema.status(201)), RefundAnswer],
      error: [
        errorResponse(PaymentNotFound),
        errorResponse(PaymentNotSettled),
        errorResponse(IncomingTransferNotFound),
        errorResponse(IncomingTransferExplained),
        errorResponse(RefundExceedsPaid),
        errorResponse(RefundNotProven),
        errorResponse(LiveModeGated)
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Create a refund",
        description:
          "Of a settled payment or of an incoming transfer that pays none. Send the USDC from your receiving address and name its transaction, or create the refund first and send it after: the transfer is found on the chain. 200 where the same refund is there already."
      })
    )
  ),
  list: allow(
    access({ roles: everyRole }),
    HttpApiEndpoint.get("list", "/refunds", {
      query: {
        limit: Schema.optionalKey(PageLimit),
        startingAfter: Schema.optionalKey(Uuid),
        paymentId: Schema.optionalKey(PaymentIdParam)
      },
      success: Schema.Struct({
        refunds: Schema.Array(RefundView),
        hasMore: Schema.Boolean.annotate({ description: "Whether older refunds follow." })
      })
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List refunds",
        description: "Newest first, of the merchant and the key's environment, or of one payment."
      })
    )
  ),
  retrieve: allow(
    access({ roles: everyRole }),
    HttpApiEndpoint.get("retrieve", "/refunds/:id", {
      params: { ...params, id: Uuid },
      success: RefundAnswer,
      error: [errorResponse(RefundNotFound)]
    }).annotateMerge(OpenApi.annotations({ summary: "Retrieve a refund" }))
  ),
  report: allow(
    access({ manage: true, roles: supporters }),
    HttpApiEndpoint.post("report", "/refunds/:id/transaction", {
      params: { ...params, id: Uuid },
      payload: ReportedRefund,
      success: RefundAnswer,
      error: [errorResponse(RefundNotFound), errorResponse(RefundEnded), errorResponse(RefundNotProven)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Name a refund's transaction",
        description: "Answers `proven`, or `pending` while the transfer is not indexed or confirmed."
      })
    )
  ),
  cancel: allow(
    access({ manage: true, roles: supporters }),
    HttpApiEndpoint.post("cancel", "/refunds/:id/cancel", {
      params: { ...params, id: Uuid },
      success: RefundAnswer,
      error: [errorResponse(RefundNotFound), errorResponse(RefundEnded)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Cancel a refund",
        description: "One that is pending, or whose transfer the chain no longer shows."
      })
    )
  )
})

const { cancel, create, list, report, retrieve } = refundEndpoints(forKeys)

export class RefundsApi extends endpointGroup("refunds")(create, list, retrieve, report, cancel)
  .middleware(BodyRules)
  .middleware(ApiKeyAuth)
  .annotateMerge(
    OpenApi.annotations({
      title: "Refunds",
      description: "USDC that your wallet sends back, proven on the chain."
    })
  ) {}
