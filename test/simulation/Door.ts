// The requests of people to an instance, and its answers: straight through its services, as its handlers call them.

import { Context, Effect, Result, Schema } from "effect"
import type { Address, TransactionHash } from "../../src/domain/Chain.ts"
import type { CodedError } from "../../src/domain/Errors.ts"
import type { Principal } from "../../src/domain/Merchant.ts"
import { AtomicUsdc, UsdAmount } from "../../src/domain/Money.ts"
import { PaymentId, type PaymentStatus } from "../../src/domain/Payment.ts"
import type { TokenChange } from "../../src/domain/TokenChange.ts"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { IncomingTransfers } from "../../src/payments/IncomingTransfers.ts"
import { PaymentIntents } from "../../src/payments/intents/PaymentIntents.ts"
import { PaymentAttempts } from "../../src/payments/PaymentAttempts.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { Payments } from "../../src/payments/Payments.ts"
import { Refunds } from "../../src/payments/refunds/Refunds.ts"
import type { Authorization, SignedAuthorization } from "../../src/x402/Authorization.ts"
import { Facilitator } from "../../src/x402/Facilitator.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { answerSigning } from "./Door/signing.ts"

/** With one of the shop's keys. */
export type Ask = { readonly key: string } & (
  | { readonly do: "create intent"; readonly amount: string }
  | { readonly do: "open"; readonly intentToken: string }
  | {
      readonly do: "announce"
      readonly paymentId: string
      readonly buyerDidToken: string
      readonly attemptId: string
    }
  | {
      readonly do: "report"
      readonly paymentId: string
      readonly buyerDidToken: string
      readonly transactionId: TransactionHash
      readonly tokenChanges: ReadonlyArray<TokenChange>
    }
  | { readonly do: "decline"; readonly paymentId: string; readonly attemptId: string }
  /** For a settled payment, in atomic units. */
  | {
      readonly do: "create refund"
      readonly id: string
      readonly paymentId: string
      readonly amount: bigint
    }
  | { readonly do: "name refund"; readonly id: string; readonly transactionId: TransactionHash }
  | { readonly do: "cancel refund"; readonly id: string }
  /** A person looks at the unexplained transfers of this payer, and explains the first. */
  | { readonly do: "explain a transfer"; readonly payer: Address }
  | SigningAsk
)

/** Requests about signatures. */
export type SigningAsk =
  | { readonly do: "read terms"; readonly paymentId: string; readonly payer: Address }
  | {
      readonly do: "pay by signature"
      readonly paymentId: string
      readonly authorization: SignedAuthorization
    }

/** A status, and the part of the body that people read. */
export interface Answer {
  readonly status: number
  readonly error?: Pick<CodedError, "code" | "reason" | "details">
  readonly payment?: { readonly id: PaymentId; readonly status: PaymentStatus }
  readonly nonce?: bigint | null
  readonly intentToken?: string
  readonly terms?: Authorization | undefined
}

export type Door = (ask: Ask) => Effect.Effect<Answer>

const statuses: Readonly<Record<string, number>> = {
  PAYMENT_NOT_FOUND: 404,
  INVALID_BUYER_TOKEN: 401,
  RATE_LIMITED: 429,
  CHAIN_UNAVAILABLE: 503,
  [moneyNetwork.reportCodes.mismatch]: 422,
  PAYMENT_REPORT_CONFLICT: 409,
  PAYMENT_FAILED: 409
}

const refused = (error: CodedError): Answer => ({ status: statuses[error.code] ?? 400, error })

export type Services =
  | KeyAuth
  | PaymentIntents
  | Payments
  | PaymentAttempts
  | PaymentRepo
  | IncomingTransfers
  | Refunds
  | Facilitator

export const doorOf = (context: Context.Context<Services>): Door => {
  const keys = Context.get(context, KeyAuth)
  const intents = Context.get(context, PaymentIntents)
  const payments = Context.get(context, Payments)
  const attempts = Context.get(context, PaymentAttempts)
  const transfers = Context.get(context, IncomingTransfers)
  const refunds = Context.get(context, Refunds)
  const signing = answerSigning({
    repo: Context.get(context, PaymentRepo),
    facilitator: Context.get(context, Facilitator)
  })

  const answer = (principal: Principal, ask: Ask): Effect.Effect<Answer, CodedError> =>
    Effect.gen(function* () {
      const tenant = { merchantId: principal.merchant.id, env: principal.env }
      switch (ask.do) {
        case "create intent": {
          const amount = Schema.decodeSync(UsdAmount)(ask.amount)
          const intentUrl = "https://shop.example.com/orders/1"
          const { intentToken } = yield* intents.create(principal, { amount, intentUrl })
          return { status: 201, intentToken }
        }
        case "open": {
          const { created, payment } = yield* payments.open(principal, ask.intentToken)
          return { status: created ? 201 : 200, payment }
        }
        case "announce": {
          const { attemptId, buyerDidToken } = ask
          const outcome = yield* attempts.announce(principal, PaymentId.make(ask.paymentId), {
            buyerDidToken,
            attemptId,
            method: "transfer",
            client: "192.0.2.1"
          })
          return outcome._tag === "AttemptRefused"
            ? { ...refused(outcome.error), status: 409 }
            : { status: outcome.created ? 201 : 200, nonce: outcome.attempt.nonce }
        }
        case "report": {
          const { buyerDidToken, tokenChanges, transactionId } = ask
          const outcome = yield* payments.report(principal, PaymentId.make(ask.paymentId), {
            buyerDidToken,
            transactionId,
            tokenChanges,
            client: "192.0.2.1"
          })
          return { status: outcome._tag === "Settled" ? 200 : 202, payment: outcome.payment }
        }
        case "decline":
          yield* attempts.decline(principal, PaymentId.make(ask.paymentId), ask.attemptId)
          return { status: 204 }
        case "explain a transfer": {
          const page = { status: "open", limit: 100, startingAfter: undefined } as const
          const open = yield* transfers.list(tenant, page)
          const transfer = open.find(({ payer }) => payer === ask.payer)
          if (transfer === undefined) return { status: 404 }
          const { likely } = yield* transfers.find(tenant, transfer.id)
          const by = { person: "operator@example.com", note: null }
          const [first] = likely
          if (first === undefined) {
            yield* transfers.handle(tenant, transfer.id, by)
            return { status: 204 }
          }
          const payment = yield* transfers.attach(tenant, transfer.id, first.payment.id, by)
          return { status: 200, payment }
        }
        case "create refund": {
          const { created } = yield* refunds.create(tenant, {
            id: ask.id,
            of: { paymentId: PaymentId.make(ask.paymentId) },
            amount: AtomicUsdc.make(ask.amount),
            by: "operator@example.com"
          })
          return { status: created ? 201 : 200 }
        }
        case "name refund":
          yield* refunds.report(tenant, ask.id, ask.transactionId)
          return { status: 200 }
        case "cancel refund":
          yield* refunds.cancel(tenant, ask.id)
          return { status: 200 }
        default:
          return yield* signing(principal, ask)
      }
    })

  return (ask) =>
    keys.authenticate(ask.key).pipe(
      Effect.flatMap((principal) => answer(principal, ask)),
      Effect.result,
      Effect.map((result) => (Result.isSuccess(result) ? result.success : refused(result.failure)))
    )
}
