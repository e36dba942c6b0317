// The payment as the API returns it, and the responses that contain it.
import { Schema } from "effect"
import { Address, Env, TransactionHash } from "../domain/Chain.ts"
import { Uuid } from "../domain/Merchant.ts"
import { UsdAmount } from "../domain/Money.ts"
import type { Network } from "../domain/networks.ts"
import { AttemptMethod, FailureReason, PayerType, PaymentId, PaymentStatus } from "../domain/Payment.ts"
import { Timestamp } from "../domain/Timestamp.ts"
import { ErrorBody } from "../platform/http/Envelope.ts"
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

export const PaymentResponse = Schema.Struct({ payment: PaymentView })

/** An opened payment, with a short code that resumes it on another device while it is pending. */
export const OpenedPayment = Schema.Struct({
  payment: PaymentView,
  resumeCode: Schema.String.annotate({
    description:
      "Replaces the token while the payment is pending, and is short enough for a QR code. Keep it as secret as the token.",
    examples: ["AaH8NHIFcQ6UEIdP7pqZlhIJmKxkq2hPm7E"]
  })
}).annotate({ identifier: "OpenedPayment" })

export const PaymentList = Schema.Struct({
  payments: Schema.Array(PaymentView),
  hasMore: Schema.Boolean.annotate({ description: "True if older payments exist." })
})

export type PendingCode = Network["reportCodes"]["pending"] | "LIVE_SETTLEMENT_GATED"

/** 202: the error envelope with the reason why the payment is still pending, and the payment. */
export const PendingResponse = Schema.Struct({
  error: ErrorBody(["TEST_SETTLEMENT_PENDING", "SETTLEMENT_PENDING", "LIVE_SETTLEMENT_GATED"]),
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

/** A payment's state before a buyer sends money for it. */
export const AttemptsResponse = Schema.Struct({
  payment: PaymentView,
  attempts: Schema.Array(AttemptView).annotate({ description: "Open attempts, 20 at most." }),
  confirmingTransactionId: Schema.optionalKey(
    TransactionHash.annotate({
      description:
        "Present while a transfer that pays the payment is on the chain and its block is not yet certain enough for the amount. Nobody should pay again."
    })
  )
})

export const AnnouncedAttempt = Schema.Struct({
  attempt: Schema.Struct({
    id: Uuid.annotate({ description: "The id that declines the attempt. Keep it secret." }),
    method: AttemptMethod,
    payer: Address,
    since: Timestamp,
    nonce: Schema.optionalKey(
      Schema.Int.annotate({
        description:
          "The account nonce to send with. It may be the nonce of an earlier attempt of the wallet, so that the chain accepts only one of the two."
      })
    )
  }),
  ...AttemptsResponse.fields
})

/** 409: the reason why nothing may be sent. */
export const AttemptRefused = Schema.Struct({
  error: ErrorBody(["PAYMENT_ATTEMPT_OPEN", "PAYMENT_SETTLED", "PAYMENT_FAILED"]),
  ...AttemptsResponse.fields
})

/** For buyers who send from an exchange, or from an app that opens no page. */
export const AddressResponse = Schema.Struct({
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
