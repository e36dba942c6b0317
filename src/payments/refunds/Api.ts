// The contract of refunds: a separate resource, because a payment has a fixed set of statuses.
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
import { everyRole, moneyRoles } from "../../domain/roleSets.ts"
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
      "`pending` until the transfer is verified. `failed`: the transaction does not prove the refund, or no transfer arrived. `cancelled`: the merchant cancelled it."
  }),
  paymentId: Schema.optionalKey(PaymentId.annotate({ description: "The refunded payment." })),
  incomingTransferId: Schema.optionalKey(
    Uuid.annotate({ description: "The refunded incoming transfer, which settled no payment." })
  ),
  amount: UsdAmount,
  currency: Schema.Literal("USD"),
  env: Env,
  livemode: Schema.Boolean,
  recipient: Address.annotate({ description: "The address that receives the USDC." }),
  reason: Schema.optionalKey(Schema.String),
  beyondPaid: Schema.Boolean.annotate({ description: "True if the refund may exceed the amount paid." }),
  createdAt: Timestamp,
  transactionId: Schema.optionalKey(
    TransactionHash.annotate({ description: "Reported by the merchant, or found on the chain." })
  ),
  sender: Schema.optionalKey(
    Address.annotate({ description: "The address that sent the refund, once it is proven." })
  ),
  provenAt: Schema.optionalKey(Timestamp),
  droppedAt: Schema.optionalKey(
    Timestamp.annotate({ description: "The time since which the chain no longer shows the transfer." })
  ),
  failureReason: Schema.optionalKey(RefundFailure),
  uri: Schema.optionalKey(
    Schema.String.annotate({
      description: "The transfer as an EIP-681 URI for a QR code, while pending.",
      examples: [
        "ethereum:0x036CbD53842c5426634e7929541eC2318f3dCF7e@84532/transfer?address=0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045&uint256=4200000"
      ]
    })
  ),
  token: Token
}).annotate({ identifier: "Refund" })
export type RefundView = typeof RefundView.Encoded

const RefundResponse = Schema.Struct({ refund: RefundView })

const wellFormed = Schema.makeFilter(
  (text: string) => (text.isWellFormed() && !/\p{Cc}/u.test(text)) || "text without control characters",
  { toJsonSchema: () => ({ pattern: "^\\P{Cc}*$" }) }
)

/** An address in any letter case or in its checksummed spelling. */
export const RefundTerms = {
  id: Schema.optionalKey(
    Uuid.annotate({
      description:
        "Your id for the refund. A repeated id returns the same refund. By default the service generates it."
    })
  ),
  amount: Schema.optionalKey(UsdAmount.annotate({ description: "By default the whole refundable amount." })),
  recipient: Schema.optionalKey(
    Address.annotate({
      description:
        "By default the payer. Set another address if the payer cannot receive there, for example an exchange's wallet."
    })
  ),
  transactionId: Schema.optionalKey(TransactionId),
  reason: Schema.optionalKey(
    Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(500), wellFormed).annotate({
      description: "For your books; the receipt does not show it."
    })
  ),
  beyondPaid: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "True to refund more than was paid. By default false." })
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
    access({ manage: true, roles: moneyRoles }),
    HttpApiEndpoint.post("create", "/refunds", {
      payload: NewRefund,
      success: [RefundResponse.pipe(HttpApiSchema.status(201)), RefundResponse],
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
          "Refunds a settled payment, or an incoming transfer that settled no payment. Send the USDC from your receiving address and set `transactionId`, or create the refund first and send afterwards: the service finds the transfer on the chain. The response is 200 if the same refund exists."
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
        hasMore: Schema.Boolean.annotate({ description: "True if older refunds exist." })
      })
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List refunds",
        description: "Refunds of the merchant and the key's environment, or of one payment, newest first."
      })
    )
  ),
  retrieve: allow(
    access({ roles: everyRole }),
    HttpApiEndpoint.get("retrieve", "/refunds/:id", {
      params: { ...params, id: Uuid },
      success: RefundResponse,
      error: [errorResponse(RefundNotFound)]
    }).annotateMerge(OpenApi.annotations({ summary: "Retrieve a refund" }))
  ),
  report: allow(
    access({ manage: true, roles: moneyRoles }),
    HttpApiEndpoint.post("report", "/refunds/:id/transaction", {
      params: { ...params, id: Uuid },
      payload: ReportedRefund,
      success: RefundResponse,
      error: [errorResponse(RefundNotFound), errorResponse(RefundEnded), errorResponse(RefundNotProven)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Set a refund's transaction",
        description:
          "The refund becomes `proven`, or stays `pending` until the transfer is indexed and confirmed."
      })
    )
  ),
  cancel: allow(
    access({ manage: true, roles: moneyRoles }),
    HttpApiEndpoint.post("cancel", "/refunds/:id/cancel", {
      params: { ...params, id: Uuid },
      success: RefundResponse,
      error: [errorResponse(RefundNotFound), errorResponse(RefundEnded)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Cancel a refund",
        description: "Cancels a refund that is pending, or whose transfer the chain no longer shows."
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
      description: "USDC that your wallet returns, verified on the chain."
    })
  ) {}
