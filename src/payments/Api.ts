// The contract of payments (docs/contract.md 2.1, 3, 4.1 and 4.3).
import { Schema, SchemaGetter } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { Address, Env, TransactionHash } from "../domain/Chain.ts"
import {
  ChainUnavailable,
  EnvironmentMismatch,
  IntentTokenExpired,
  IntentTokenKeyMismatch,
  InvalidBuyerToken,
  InvalidIntentToken,
  LiveModeGated,
  PaymentFailed,
  PaymentNotFound,
  PaymentReportConflict,
  PaymentSettled,
  SettlementMismatch,
  TestSettlementMismatch
} from "../domain/Errors.ts"
import { Uuid } from "../domain/Merchant.ts"
import { AttemptMethod, PaymentId } from "../domain/Payment.ts"
import { TokenChange } from "../domain/TokenChange.ts"
import { allow, endpointGroup } from "../platform/http/Access.ts"
import { ApiKeyAuth } from "../platform/http/ApiKeyAuth.ts"
import { errorResponse } from "../platform/http/Envelope.ts"
import { BodyRules } from "../platform/http/RequestRules.ts"
import {
  AddressResponse,
  AnnouncedAttempt,
  AttemptRefused,
  AttemptsResponse,
  OpenedPayment,
  PaymentList,
  PaymentResponse,
  PendingResponse
} from "./PaymentView.ts"

/** A UUID in any letter case. */
export const PaymentIdParam = Schema.String.check(
  Schema.isPattern(/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/u, { message: "a UUID" })
)
  .annotate({ description: "A payment's id, a UUID.", examples: ["01a1fc34-7205-710e-9410-874fee9a4996"] })
  .pipe(
    Schema.decodeTo(PaymentId, {
      decode: SchemaGetter.transform((text) => text.toLowerCase()),
      encode: SchemaGetter.transform((id) => id)
    })
  )

/** A transaction hash in any letter case. */
export const TransactionId = Schema.String.check(
  Schema.isPattern(/^0x[0-9a-fA-F]{64}$/u, { message: "a transaction hash: 0x and 64 hex digits" })
)
  .annotate({ description: "The hash of the transaction that holds the transfer." })
  .pipe(
    Schema.decodeTo(TransactionHash, {
      decode: SchemaGetter.transform((text) => TransactionHash.make(`0x${text.slice(2).toLowerCase()}`)),
      encode: SchemaGetter.transform((hash) => hash)
    })
  )

const QueryNonce = Schema.String.check(
  Schema.isPattern(/^(0|[1-9][0-9]{0,14})$/u, { message: "an account nonce" })
).pipe(
  Schema.decodeTo(Schema.BigInt, {
    decode: SchemaGetter.transform(BigInt),
    encode: SchemaGetter.transform(String)
  })
)

/** Default page size. */
export const defaultPageLimit = 20

export const PageLimit = Schema.String.check(
  Schema.isPattern(/^([1-9][0-9]?|100)$/u, { message: "an integer from 1 to 100" })
)
  .annotate({ description: "Page size, 1 to 100; 20 by default.", examples: ["20"] })
  .pipe(
    Schema.decodeTo(Schema.Int, {
      decode: SchemaGetter.transform(Number),
      encode: SchemaGetter.transform(String)
    })
  )

const reportOptions = {
  params: { id: PaymentIdParam },
  payload: Schema.Struct({
    buyerDidToken: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(16384)).annotate({
      description: "The buyer's own token. Its address must be the payer of the transfer."
    }),
    transactionId: TransactionId,
    tokenChanges: Schema.Array(TokenChange).check(Schema.isMinLength(1), Schema.isMaxLength(16)).annotate({
      description:
        "The amounts that the transaction moved. They are compared with the chain and never trusted."
    })
  }),
  success: [PendingResponse.pipe(HttpApiSchema.status(202)), PaymentResponse],
  error: [
    errorResponse(PaymentNotFound),
    errorResponse(InvalidBuyerToken),
    errorResponse(PaymentReportConflict),
    errorResponse(PaymentFailed),
    errorResponse(TestSettlementMismatch),
    errorResponse(SettlementMismatch),
    errorResponse(ChainUnavailable)
  ]
}

const declineOptions = {
  params: { id: PaymentIdParam, attemptId: Uuid },
  success: HttpApiSchema.NoContent,
  error: [errorResponse(PaymentNotFound)]
}

export class PaymentsApi extends endpointGroup("payments")(
  allow(
    { by: "key", kinds: ["secret"] },
    HttpApiEndpoint.get("list", "/payments", {
      query: {
        limit: Schema.optionalKey(PageLimit),
        env: Schema.optionalKey(Env.annotate({ description: "Must equal the key's environment." })),
        startingAfter: Schema.optionalKey(PaymentIdParam),
        transactionId: Schema.optionalKey(
          TransactionId.annotate({ description: "Only payments that this transaction has settled." })
        ),
        intentUrl: Schema.optionalKey(
          Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(2048)).annotate({
            description: "Only payments of this order, by its exact `intentUrl`.",
            examples: ["https://shop.example.com/orders/1042"]
          })
        )
      },
      success: PaymentList,
      error: [errorResponse(EnvironmentMismatch)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List payments",
        description:
          "The payments of the merchant and the key's environment, newest first. The query can select one order or one transaction."
      })
    )
  ),
  allow(
    { by: "key", kinds: ["publishable"], crossOrigin: true },
    HttpApiEndpoint.post("open", "/payments", {
      payload: Schema.Struct({
        intentToken: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(8192)).annotate({
          description: "The token of the payment intent."
        })
      }),
      success: [OpenedPayment.pipe(HttpApiSchema.status(201)), OpenedPayment],
      error: [
        errorResponse(InvalidIntentToken),
        errorResponse(IntentTokenExpired),
        errorResponse(IntentTokenKeyMismatch)
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Open a payment",
        description:
          "Opens a pending payment from an intent token: 201 on first use, 200 with the same payment on replay."
      })
    )
  ),
  allow(
    { by: "key", kinds: ["publishable"], crossOrigin: true },
    HttpApiEndpoint.post("resume", "/payments/resume", {
      payload: Schema.Struct({
        resumeCode: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(64)).annotate({
          description: "The code that came with the opened payment.",
          examples: ["AaH8NHIFcQ6UEIdP7pqZlhIJmKxkq2hPm7E"]
        })
      }),
      success: Schema.Struct({
        intentToken: Schema.String.annotate({ description: "A token of the same payment and terms." })
      }),
      error: [errorResponse(PaymentNotFound), errorResponse(PaymentSettled), errorResponse(PaymentFailed)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Resume a payment on another device",
        description:
          "Returns a token of the pending payment. The code ends with the payment: 409 once it has settled or failed."
      })
    )
  ),
  allow(
    { by: "key", kinds: ["secret"] },
    HttpApiEndpoint.get("retrieve", "/payments/:id", {
      params: { id: PaymentIdParam },
      success: PaymentResponse,
      error: [errorResponse(PaymentNotFound)]
    }).annotateMerge(OpenApi.annotations({ summary: "Retrieve a payment" }))
  ),
  allow(
    { by: "key", kinds: ["publishable"], crossOrigin: true },
    HttpApiEndpoint.patch("report", "/payments/:id", reportOptions).annotateMerge(
      OpenApi.annotations({
        summary: "Report a transfer",
        description:
          "On an open network, the transfer is verified on the chain: 200 if the payment settled, 202 while the transfer is not indexed or confirmed, 422 if it does not match. While Mainnet is closed, the report is recorded, the response is 202, and the payment stays pending. The first verified report counts."
      })
    )
  ),
  allow(
    { by: "key", kinds: ["publishable"], crossOrigin: true },
    HttpApiEndpoint.post("reportByPost", "/payments/:id/report", reportOptions).annotateMerge(
      OpenApi.annotations({
        summary: "Report a transfer by POST",
        description: "The same as PATCH of the payment, for proxies that pass only GET and POST."
      })
    )
  ),
  allow(
    { by: "key", kinds: ["publishable"], crossOrigin: true },
    HttpApiEndpoint.post("announceAttempt", "/payments/:id/attempts", {
      params: { id: PaymentIdParam },
      payload: Schema.Struct({
        buyerDidToken: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(16384)).annotate({
          description: "The buyer's own token. Its `tid` must be the payment's id."
        }),
        method: AttemptMethod,
        attemptId: Schema.optionalKey(
          Uuid.annotate({
            description:
              "Your id for the attempt. Announcing the same id again returns the same attempt. By default the service generates one."
          })
        ),
        nonce: Schema.optionalKey(
          Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })).annotate({
            description: "The account nonce that the wallet is going to use."
          })
        )
      }),
      success: [
        AnnouncedAttempt.pipe(HttpApiSchema.status(201)),
        AnnouncedAttempt,
        AttemptRefused.pipe(HttpApiSchema.status(409))
      ],
      error: [
        errorResponse(PaymentNotFound),
        errorResponse(InvalidBuyerToken),
        errorResponse(LiveModeGated),
        errorResponse(ChainUnavailable)
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Announce an attempt to pay",
        description:
          "Call it before you prompt the wallet to send or to sign, and prompt the wallet only after 201 or 200. A transfer of the announced wallet settles the payment without a report. 409: the same wallet is paying elsewhere, or the payment has ended."
      })
    )
  ),
  allow(
    { by: "key", kinds: ["publishable"], crossOrigin: true },
    HttpApiEndpoint.get("attempts", "/payments/:id/attempts", {
      params: { id: PaymentIdParam },
      query: {
        payer: Schema.optionalKey(Address.annotate({ description: "Only attempts of this wallet." })),
        attemptId: Schema.optionalKey(
          Uuid.annotate({
            description:
              "Your own attempt of this wallet, once the wallet has sent a transaction for it, with the `nonce` that it used. Another transaction with that nonce, five blocks deep, ends the attempt immediately; any other attempt ends in this way only ten minutes after its announcement."
          })
        ),
        nonce: Schema.optionalKey(
          QueryNonce.annotate({
            description:
              "With `attemptId`: the account nonce of the transaction that the wallet sent. Wallets may use another nonce than requested."
          })
        )
      },
      success: AttemptsResponse,
      error: [errorResponse(PaymentNotFound)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List open attempts",
        description:
          "The payment's current status, with the wallets that are paying it and their start times."
      })
    )
  ),
  allow(
    { by: "key", kinds: ["publishable"], crossOrigin: true },
    HttpApiEndpoint.post("showAddress", "/payments/:id/address", {
      params: { id: PaymentIdParam },
      success: AddressResponse,
      error: [
        errorResponse(PaymentNotFound),
        errorResponse(PaymentSettled),
        errorResponse(PaymentFailed),
        errorResponse(LiveModeGated)
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Show the address to a buyer",
        description:
          "The address for a transfer of the exact amount from an exchange or any other app. Such a transfer does not identify its payment: it waits for the merchant, and this payment is suggested first."
      })
    )
  ),
  allow(
    { by: "key", kinds: ["publishable"], crossOrigin: true },
    HttpApiEndpoint.delete(
      "declineAttempt",
      "/payments/:id/attempts/:attemptId",
      declineOptions
    ).annotateMerge(
      OpenApi.annotations({
        summary: "Decline an attempt",
        description: "Call this only if the wallet clearly reported that nothing was sent."
      })
    )
  ),
  allow(
    { by: "key", kinds: ["publishable"], crossOrigin: true },
    HttpApiEndpoint.post(
      "declineAttemptByPost",
      "/payments/:id/attempts/:attemptId/decline",
      declineOptions
    ).annotateMerge(
      OpenApi.annotations({
        summary: "Decline an attempt by POST",
        description: "The same as DELETE of the attempt, for proxies that allow only GET and POST."
      })
    )
  )
)
  .middleware(BodyRules)
  .middleware(ApiKeyAuth)
  .annotateMerge(
    OpenApi.annotations({ title: "Payments", description: "Payments, from opening to settlement." })
  ) {}
