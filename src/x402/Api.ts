// The contract of the x402 facilitator, in the wire form of the reference's clients, and of payments over
// x402.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import {
  ChainUnavailable,
  InvalidApiKey,
  KeyKindNotAllowed,
  LiveModeGated,
  PaymentFailed,
  PaymentNotFound,
  RateLimited
} from "../domain/Errors.ts"
import { SettleReason } from "../domain/SettleReason.ts"
import { PaymentIdParam } from "../payments/Api.ts"
import { PaymentResponse } from "../payments/PaymentView.ts"
import { allow, endpointGroup } from "../platform/http/Access.ts"
import { ApiKeyAuth } from "../platform/http/ApiKeyAuth.ts"
import { errorResponse } from "../platform/http/Envelope.ts"
import { BodyRules } from "../platform/http/RequestRules.ts"

const FacilitatorRequest = Schema.Struct({
  x402Version: Schema.Literals([1, 2]),
  paymentPayload: Schema.Unknown.annotate({ description: "The client's decoded payment header." }),
  paymentRequirements: Schema.Unknown.annotate({ description: "The resource's payment requirements." })
})

const VerifyResponse = Schema.Struct({
  isValid: Schema.Boolean,
  invalidReason: Schema.optionalKey(SettleReason),
  invalidMessage: Schema.optionalKey(Schema.String),
  payer: Schema.String
})

/** With this request header, a merchant's server can have a lost success repeated. */
export const idempotencyHeader = "quittance-idempotency-key"

const SaleHeaders = {
  [idempotencyHeader]: Schema.optionalKey(
    Schema.String.check(
      Schema.isPattern(/^[A-Za-z0-9._-]{1,128}$/u, { message: "1 to 128 of A-Z a-z 0-9 . _ -" })
    ).annotate({
      description:
        "Your own id for the sale: for ten minutes, the same key gets the same success. The value `payment-identifier` uses the payer's identifier from x402's extension of that name and is safe only if your server fulfils each identifier once."
    })
  )
}

export const SettleResponse = Schema.Struct({
  success: Schema.Boolean,
  errorReason: Schema.optionalKey(
    SettleReason.annotate({
      description: "`settlement_pending`: sent but not yet verified. Send the same payload again."
    })
  ),
  errorMessage: Schema.optionalKey(Schema.String),
  payer: Schema.String,
  transaction: Schema.String,
  network: Schema.String
})

export class X402Api extends endpointGroup("x402")(
  allow(
    { by: "key", kinds: ["secret"] },
    HttpApiEndpoint.get("supported", "/x402/supported", {
      success: Schema.Struct({
        kinds: Schema.Array(
          Schema.Struct({ x402Version: Schema.Int, scheme: Schema.String, network: Schema.String })
        ),
        extensions: Schema.Array(Schema.String),
        signers: Schema.Record(Schema.String, Schema.Array(Schema.String))
      })
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List supported payments",
        description:
          "The supported kinds of payment, and the relayer's wallet. With a live key, no kinds while Mainnet is closed."
      })
    )
  ),
  allow(
    { by: "key", kinds: ["secret"] },
    HttpApiEndpoint.post("verify", "/x402/verify", {
      headers: SaleHeaders,
      payload: FacilitatorRequest,
      success: VerifyResponse,
      error: [errorResponse(ChainUnavailable)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Verify a payment",
        description:
          "Verifies that the signed authorization pays the required amount to the merchant. It is also valid while it is being settled, and after settlement until `settle` has returned its success."
      })
    )
  ),
  allow(
    { by: "key", kinds: ["secret"], manage: true },
    HttpApiEndpoint.post("settle", "/x402/settle", {
      headers: SaleHeaders,
      payload: FacilitatorRequest,
      success: SettleResponse,
      error: [errorResponse(ChainUnavailable)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Settle a payment",
        description:
          "Sends the authorization to the chain once and responds when its transfer is verified. Only the first caller gets `success`; later requests get `invalid_exact_evm_nonce_already_used`. To be able to repeat a lost response, send the request header `quittance-idempotency-key`. The payment appears among the merchant's payments with `payerType: agent`."
      })
    )
  )
)
  .middleware(BodyRules)
  .middleware(ApiKeyAuth)
  .annotateMerge(
    OpenApi.annotations({
      title: "x402 facilitator",
      description: "For paid APIs: point an x402 server middleware at `/api/v1/x402`."
    })
  ) {}

/** 402: the requirements are in the body for version 1, in the header PAYMENT-REQUIRED for version 2. */
const PaymentRequired = Schema.Struct({
  x402Version: Schema.Literal(1),
  error: Schema.String,
  accepts: Schema.Array(Schema.Unknown)
}).pipe(HttpApiSchema.status(402))

const PublishableKeyParam = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200)).annotate({
  description: "A test publishable key of the payment's merchant."
})

export class X402PaymentApi extends endpointGroup("x402Payment")(
  allow(
    { by: "anyone", crossOrigin: true },
    HttpApiEndpoint.get("pay", "/payments/:id/x402", {
      params: { id: PaymentIdParam },
      query: { pk: PublishableKeyParam },
      success: [PaymentResponse, PaymentRequired],
      error: [
        errorResponse(InvalidApiKey),
        errorResponse(KeyKindNotAllowed),
        errorResponse(LiveModeGated),
        errorResponse(PaymentNotFound),
        errorResponse(PaymentFailed),
        errorResponse(RateLimited),
        errorResponse(ChainUnavailable)
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Pay by x402",
        description:
          "Without a payment header, the response is 402 with deterministic requirements: in the header PAYMENT-REQUIRED (version 2) and the body (version 1). With PAYMENT-SIGNATURE or X-PAYMENT, it settles the payment and returns it."
      })
    )
  )
).annotateMerge(
  OpenApi.annotations({ title: "x402 payments", description: "Payments that an x402 client pays." })
) {}
