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
  TestSettlementMismatch
} from "../domain/Errors.ts"
import { Uuid } from "../domain/Merchant.ts"
import { UsdAmount } from "../domain/Money.ts"
import { AttemptMethod, FailureReason, PayerType, PaymentId, PaymentStatus } from "../domain/Payment.ts"
import { Timestamp } from "../domain/Timestamp.ts"
import { TokenChange } from "../domain/TokenChange.ts"
import { allow, endpointGroup } from "../platform/http/Access.ts"
import { ApiKeyAuth } from "../platform/http/ApiKeyAuth.ts"
import { ErrorBody, errorResponse } from "../platform/http/Envelope.ts"
import { BodyRules } from "../platform/http/RequestRules.ts"
import { Token } from "./intents/Api.ts"

/** The payment object (docs/contract.md 2.1). Absent fields are omitted. */
export const PaymentView = Schema.Struct({
  id: PaymentId.annotate({ description: "Equals the `jti` of the intent token." }),
  amount: UsdAmount,
  currency: Schema.Literal("USD"),
  env: Env,
  livemode: Schema.Boolean,
  status: PaymentStatus,
  refCode: Schema.String.annotate({
    description: "Reference code for people.",
    examples: ["PAY-7Q2M4XKD"]
  }),
  intentUrl: Schema.String,
  createdAt: Timestamp,
  payerType: PayerType,
  payerAddress: Schema.optionalKey(Address),
  reportedAt: Schema.optionalKey(Timestamp),
  reportedTransactionId: Schema.optionalKey(TransactionHash),
  settledAt: Schema.optionalKey(Timestamp),
  failureReason: Schema.optionalKey(
    Schema.NullOr(FailureReason).annotate({
      description: "Null on a settled payment, absent on a pending one."
    })
  ),
  token: Token
}).annotate({ identifier: "Payment" })
export type PaymentView = typeof PaymentView.Type

export const PaymentAnswer = Schema.Struct({ payment: PaymentView })

export const PaymentList = Schema.Struct({
  payments: Schema.Array(PaymentView),
  hasMore: Schema.Boolean.annotate({ description: "Whether older payments follow." })
})

/** 202: the envelope that says why the payment is still pending, and the payment beside it. */
export const PendingAnswer = Schema.Struct({
  error: ErrorBody(["TEST_SETTLEMENT_PENDING", "LIVE_SETTLEMENT_GATED"]),
  payment: PaymentView
})

const AttemptView = Schema.Struct({
  payer: Schema.String.annotate({
    description: "The wallet, shortened.",
    examples: ["0x1234…abcd"]
  }),
  method: AttemptMethod.annotate({
    description: "`transfer`: a transaction of the wallet. `authorization`: a relayed signature (EIP-3009)."
  }),
  since: Timestamp,
  transactionId: Schema.optionalKey(
    TransactionHash.annotate({ description: "Present once a transaction was reported or seen." })
  )
}).annotate({ identifier: "PaymentAttempt" })

/** What is known of a payment before anybody sends money for it. */
export const AttemptsAnswer = Schema.Struct({
  payment: PaymentView,
  attempts: Schema.Array(AttemptView).annotate({ description: "Open attempts, 20 at most." })
})

export const AnnouncedAttempt = Schema.Struct({
  attempt: Schema.Struct({
    id: Uuid.annotate({ description: "Declines the attempt. Keep it to yourself." }),
    method: AttemptMethod,
    payer: Address,
    since: Timestamp,
    nonce: Schema.optionalKey(
      Schema.Int.annotate({
        description:
          "The account nonce to send with. An earlier attempt of the wallet may fix it, so that the chain takes one of the two."
      })
    )
  }),
  ...AttemptsAnswer.fields
})

/** 409: nothing may be sent, and why. */
export const AttemptRefused = Schema.Struct({
  error: ErrorBody(["PAYMENT_ATTEMPT_OPEN", "PAYMENT_SETTLED", "PAYMENT_FAILED"]),
  ...AttemptsAnswer.fields
})

/** For people who send from an exchange, or from an app that opens no page. */
export const AddressAnswer = Schema.Struct({
  payment: PaymentView,
  address: Address.annotate({ description: "The payment's receiver." }),
  amountAtomic: Schema.String.annotate({
    description: "The exact amount in atomic USDC.",
    examples: ["10000000"]
  }),
  uri: Schema.String.annotate({
    description: "The transfer by EIP-681, for a QR code.",
    examples: [
      "ethereum:0x036CbD53842c5426634e7929541eC2318f3dCF7e@84532/transfer?address=0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045&uint256=10000000"
    ]
  })
})

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

/** How many things a page has. */
const QueryNonce = Schema.String.check(
  Schema.isPattern(/^(0|[1-9][0-9]{0,14})$/u, { message: "an account nonce" })
).pipe(
  Schema.decodeTo(Schema.BigInt, {
    decode: SchemaGetter.transform(BigInt),
    encode: SchemaGetter.transform(String)
  })
)

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
            description: "Only payments of this order, by its `intentUrl` exactly as it was given.",
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
          "Newest first, of the merchant and the key's environment; of one order or one transaction where the query names it."
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
      success: [PaymentAnswer.pipe(HttpApiSchema.status(201)), PaymentAnswer],
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
    { by: "key", kinds: ["secret"] },
    HttpApiEndpoint.get("retrieve", "/payments/:id", {
      params: { id: PaymentIdParam },
      success: PaymentAnswer,
      error: [errorResponse(PaymentNotFound)]
    }).annotateMerge(OpenApi.annotations({ summary: "Retrieve a payment" }))
  ),
  allow(
    { by: "key", kinds: ["publishable"], crossOrigin: true },
    HttpApiEndpoint.patch("report", "/payments/:id", {
      params: { id: PaymentIdParam },
      payload: Schema.Struct({
        buyerDidToken: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(16384)).annotate({
          description: "The buyer's own identity token. Its address must be the payer of the transfer."
        }),
        transactionId: TransactionId,
        tokenChanges: Schema.Array(TokenChange)
          .check(Schema.isMinLength(1), Schema.isMaxLength(16))
          .annotate({ description: "What the transaction moved; compared with the chain, never trusted." })
      }),
      success: [PendingAnswer.pipe(HttpApiSchema.status(202)), PaymentAnswer],
      error: [
        errorResponse(PaymentNotFound),
        errorResponse(InvalidBuyerToken),
        errorResponse(PaymentReportConflict),
        errorResponse(PaymentFailed),
        errorResponse(TestSettlementMismatch),
        errorResponse(ChainUnavailable)
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Report a settlement",
        description:
          "Testnet: the transfer is verified on the chain; 200 settled, 202 while it is not indexed or confirmed, 422 where it does not match. Mainnet: recorded, 202, stays pending. The first verified report stands."
      })
    )
  ),
  allow(
    { by: "key", kinds: ["publishable"], crossOrigin: true },
    HttpApiEndpoint.post("announceAttempt", "/payments/:id/attempts", {
      params: { id: PaymentIdParam },
      payload: Schema.Struct({
        buyerDidToken: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(16384)).annotate({
          description: "The buyer's own identity token. Its `tid` must be the payment's id."
        }),
        method: AttemptMethod,
        attemptId: Schema.optionalKey(
          Uuid.annotate({
            description: "Your id of the attempt; announced again, it is the same attempt. Drawn when absent."
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
          "Call it before the wallet is asked to send or to sign, and ask the wallet only after 201 or 200. A transfer of the announced wallet settles the payment without a report. 409: the same wallet is paying elsewhere, or the payment has ended."
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
              "Your own attempt of this wallet, once the wallet has sent something for it, with the `nonce` that it has used: another transaction with that nonce, five blocks deep, ends it at once. Any other attempt ends so ten minutes after it was announced."
          })
        ),
        nonce: Schema.optionalKey(
          QueryNonce.annotate({
            description:
              "With `attemptId`: the account nonce of what the wallet has sent, read off the transaction. Wallets may use another one than they are asked to."
          })
        )
      },
      success: AttemptsAnswer,
      error: [errorResponse(PaymentNotFound)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List open attempts",
        description: "The present state of the payment, and who is paying it since when."
      })
    )
  ),
  allow(
    { by: "key", kinds: ["publishable"], crossOrigin: true },
    HttpApiEndpoint.post("showAddress", "/payments/:id/address", {
      params: { id: PaymentIdParam },
      success: AddressAnswer,
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
          "Where to send the exact amount from an exchange or any other app. Such a transfer names no payment: it waits for the merchant, with this payment as its likeliest."
      })
    )
  ),
  allow(
    { by: "key", kinds: ["publishable"], crossOrigin: true },
    HttpApiEndpoint.delete("declineAttempt", "/payments/:id/attempts/:attemptId", {
      params: { id: PaymentIdParam, attemptId: Uuid },
      success: HttpApiSchema.NoContent,
      error: [errorResponse(PaymentNotFound)]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Decline an attempt",
        description: "Only where the wallet has said clearly that nothing was sent."
      })
    )
  )
)
  .middleware(BodyRules)
  .middleware(ApiKeyAuth)
  .annotateMerge(
    OpenApi.annotations({ title: "Payments", description: "Opened, reported, proven and settled." })
  ) {}
