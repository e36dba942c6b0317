// The contract of receipts: a settled payment, signed, readable by its unguessable id.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { Address, Env, TransactionHash } from "../../domain/Chain.ts"
import { Email } from "../../domain/Email.ts"
import { NotFound, PaymentNotFound, PaymentNotSettled, RateLimited } from "../../domain/Errors.ts"
import { Locale } from "../../domain/Locale.ts"
import { UsdAmount } from "../../domain/Money.ts"
import { PaymentId } from "../../domain/Payment.ts"
import { allow, endpointGroup } from "../../platform/http/Access.ts"
import { ApiKeyAuth } from "../../platform/http/ApiKeyAuth.ts"
import { errorResponse } from "../../platform/http/Envelope.ts"
import { BodyRules } from "../../platform/http/RequestRules.ts"
import { PaymentIdParam } from "../Api.ts"
import { Token } from "../intents/Api.ts"

/** The content of a receipt that its signature covers. */
export const Receipt = Schema.Struct({
  iss: Schema.String.annotate({ description: "The service." }),
  jti: Schema.String.annotate({ description: "The receipt's id, which cannot be guessed." }),
  iat: Schema.Int.annotate({ description: "Unix seconds at which the payment settled." }),
  paymentId: PaymentId,
  refCode: Schema.String,
  merchant: Schema.String,
  amount: UsdAmount,
  currency: Schema.Literal("USD"),
  env: Env,
  settledAt: Schema.String,
  payer: Address,
  receiver: Address,
  transactionId: TransactionHash,
  token: Token
}).annotate({ identifier: "Receipt" })

const ReceiptRefund = Schema.Struct({
  amount: UsdAmount,
  provenAt: Schema.String,
  recipient: Address,
  transactionId: TransactionHash
}).annotate({ identifier: "ReceiptRefund" })

export const SignedReceipt = Schema.Struct({
  receipt: Receipt,
  url: Schema.String.annotate({ description: "The receipt's page." }),
  jws: Schema.String.annotate({
    description: "The receipt as a compact JWS (ES256). Its keys are at `/.well-known/jwks.json`."
  }),
  refunded: Schema.Array(ReceiptRefund).annotate({
    description: "The amount refunded since then. Not part of the signed text."
  }),
  droppedAt: Schema.optionalKey(
    Schema.String.annotate({
      description:
        "The time since which the chain no longer shows the transfer, after a reorganisation. The merchant has not received it. Not part of the signed text."
    })
  ),
  replacedBy: Schema.optionalKey(
    TransactionHash.annotate({
      description:
        "The transaction that replaced the receipt's after a reorganisation. Not part of the signed text."
    })
  )
}).annotate({ identifier: "SignedReceipt" })

export class ReceiptsApi extends endpointGroup("receipts")(
  allow(
    { by: "key", kinds: ["publishable"], crossOrigin: true },
    HttpApiEndpoint.post("issue", "/payments/:id/receipt", {
      params: { id: PaymentIdParam },
      success: SignedReceipt,
      error: [errorResponse(PaymentNotFound), errorResponse(PaymentNotSettled)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Get a payment's receipt",
        description: "Repeated requests return the same receipt."
      })
    )
  )
)
  .middleware(BodyRules)
  .middleware(ApiKeyAuth)
  .annotateMerge(
    OpenApi.annotations({ title: "Receipts", description: "Signed receipts of settled payments." })
  ) {}

const ReceiptId = Schema.String.check(Schema.isPattern(/^[\w-]{22,64}$/u, { message: "a receipt's id" }))

export class PublicReceiptsApi extends endpointGroup("publicReceipts")(
  allow(
    { by: "anyone", crossOrigin: true },
    HttpApiEndpoint.get("read", "/receipts/:id", {
      params: { id: ReceiptId },
      success: SignedReceipt,
      error: [errorResponse(NotFound), errorResponse(RateLimited)]
    }).annotateMerge(
      OpenApi.annotations({ summary: "Read a receipt", description: "Needs only the receipt's id." })
    )
  ),
  allow(
    { by: "anyone" },
    HttpApiEndpoint.post("mail", "/receipts/:id/mail", {
      params: { id: ReceiptId },
      payload: Schema.Struct({
        email: Email.annotate({ description: "The buyer's email address, stored only for this email." }),
        language: Locale
      }),
      success: HttpApiSchema.NoContent,
      error: [errorResponse(NotFound), errorResponse(RateLimited)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Mail a receipt",
        description:
          "Emails the receipt to the buyer, once per address and to at most three addresses. If the service sends no email, nothing happens."
      })
    )
  )
)
  .middleware(BodyRules)
  .annotateMerge(OpenApi.annotations({ title: "Public receipts", description: "Receipts by their ids." })) {}
