// The contract of payments by signature: the buyer signs, the service sends and pays the network fee.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { Address } from "../../domain/Chain.ts"
import {
  AuthorizationRefused,
  ChainUnavailable,
  LiveModeGated,
  PaymentAttemptOpen,
  PaymentFailed,
  PaymentNotFound,
  PaymentSettled,
  RateLimited,
  RelayUnavailable
} from "../../domain/Errors.ts"
import { PaymentIdParam } from "../../payments/Api.ts"
import { PaymentResponse, PendingResponse } from "../../payments/PaymentView.ts"
import { allow, endpointGroup } from "../../platform/http/Access.ts"
import { ApiKeyAuth } from "../../platform/http/ApiKeyAuth.ts"
import { errorResponse } from "../../platform/http/Envelope.ts"
import { BodyRules } from "../../platform/http/RequestRules.ts"

const Digits = Schema.String.check(
  Schema.isPattern(/^[0-9]{1,78}$/u, { message: "a whole number, in digits" })
)
const Field = Schema.Struct({ name: Schema.String, type: Schema.String })

/** The reason why the service would not relay an authorization now. */
export const RelayReason = Schema.Literals([
  "not_configured",
  "empty",
  "reserve",
  "merchant_budget",
  "payer_budget",
  "total_budget",
  "price",
  "payer_reverts",
  "declined"
])
export type RelayReason = typeof RelayReason.Type

/** The reason why an authorization is refused. */
export const AuthorizationReason = Schema.Literals([
  "signature",
  "payer",
  "expired",
  "not_yet_valid",
  "already_used",
  "balance",
  "wallet_not_deployed",
  "reverts"
])
export type AuthorizationReason = typeof AuthorizationReason.Type

/** The terms that the wallet signs, and whether the service would send them. */
export const SigningTerms = Schema.Struct({
  relayed: Schema.Boolean.annotate({
    description: "True if the service would now send the authorization and pay the fee."
  }),
  reason: Schema.optionalKey(
    RelayReason.annotate({ description: "The reason why the service would not send it." })
  ),
  typedData: Schema.Struct({
    types: Schema.Struct({
      EIP712Domain: Schema.Array(Field),
      TransferWithAuthorization: Schema.Array(Field)
    }),
    primaryType: Schema.Literal("TransferWithAuthorization"),
    domain: Schema.Struct({
      name: Schema.String,
      version: Schema.String,
      chainId: Schema.Int,
      verifyingContract: Address
    }),
    message: Schema.Struct({
      from: Address,
      to: Address,
      value: Digits,
      validAfter: Digits,
      validBefore: Digits,
      nonce: Schema.String
    })
  }).annotate({ description: "The typed data for `eth_signTypedData_v4`, unchanged." })
}).annotate({ identifier: "SigningTerms" })

const UnixSeconds = Schema.String.check(Schema.isPattern(/^[0-9]{1,12}$/u, { message: "Unix seconds" }))

export class RelayingApi extends endpointGroup("relaying")(
  allow(
    { by: "key", kinds: ["publishable"], crossOrigin: true },
    HttpApiEndpoint.get("terms", "/payments/:id/authorization", {
      params: { id: PaymentIdParam },
      query: { payer: Address.annotate({ description: "The wallet that signs." }) },
      success: SigningTerms,
      error: [
        errorResponse(PaymentNotFound),
        errorResponse(LiveModeGated),
        errorResponse(PaymentSettled),
        errorResponse(PaymentFailed),
        errorResponse(RateLimited),
        errorResponse(ChainUnavailable)
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Retrieve the terms to sign",
        description:
          "A USDC `TransferWithAuthorization` (EIP-3009) of the payment's amount to its receiver. It is valid for ten minutes, and at most until the payment expires. Its nonce is derived from the payment's id, so the USDC contract accepts it once per wallet."
      })
    )
  ),
  allow(
    { by: "key", kinds: ["publishable"], crossOrigin: true },
    HttpApiEndpoint.post("pay", "/payments/:id/authorization", {
      params: { id: PaymentIdParam },
      payload: Schema.Struct({
        payer: Address,
        validAfter: UnixSeconds,
        validBefore: UnixSeconds,
        signature: Schema.String.check(
          Schema.isMaxLength(32_768),
          Schema.isPattern(/^0x(?:[0-9a-fA-F]{2})+$/u, { message: "a signature: 0x and hex digits" })
        ).annotate({
          description: "The signature of the terms; a contract wallet signs by ERC-1271 or ERC-6492."
        })
      }),
      success: [PendingResponse.pipe(HttpApiSchema.status(202)), PaymentResponse],
      error: [
        errorResponse(PaymentNotFound),
        errorResponse(LiveModeGated),
        errorResponse(PaymentFailed),
        errorResponse(PaymentAttemptOpen),
        errorResponse(AuthorizationRefused),
        errorResponse(RateLimited),
        errorResponse(RelayUnavailable),
        errorResponse(ChainUnavailable)
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Pay by a signature",
        description:
          "Sends the signed authorization to the chain once; repeated requests return the same result. The response is 200 with the settled payment, or 202 while the chain has not decided. The signature proves the payer, so no buyer's token is needed."
      })
    )
  )
)
  .middleware(BodyRules)
  .middleware(ApiKeyAuth)
  .annotateMerge(
    OpenApi.annotations({
      title: "Payments by signature",
      description: "The buyer signs once and needs no gas: the service sends the transfer."
    })
  ) {}
