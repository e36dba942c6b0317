// Opening and settling payments: the rules between the contract, the buyer's
// identity, the chain and the database.
import { Context, DateTime, Effect, Layer, Option, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { AppConfig } from "../AppConfig.ts"
import { BuyerIdentity } from "../buyers/BuyerIdentity.ts"
import { ChainVerifier } from "../chain/ChainVerifier.ts"
import type { Verification } from "../chain/Verification.ts"
import type { TransactionHash } from "../domain/Chain.ts"
import {
  ChainUnavailableError,
  type IntentTokenExpired,
  IntentTokenKeyMismatch,
  InvalidBuyerTokenError,
  type InvalidIntentToken,
  PaymentFailed,
  PaymentNotFound,
  PaymentReportConflict,
  TestSettlementMismatch
} from "../domain/Errors.ts"
import type { Principal } from "../domain/Merchant.ts"
import { type Evidence, judgeReport, type Payment, type PaymentId } from "../domain/Payment.ts"
import type { TokenChange } from "../domain/TokenChange.ts"
import { settledEvent } from "../domain/Webhook.ts"
import { IntentTokens } from "../intents/IntentTokens.ts"
import { DeliveryWake } from "../webhooks/DeliveryWake.ts"
import { PaymentRepo } from "./PaymentRepo.ts"

export interface SettlementReport {
  readonly buyerDidToken: string
  readonly transactionId: TransactionHash
  readonly tokenChanges: ReadonlyArray<TokenChange>
}

/** What became of a report that was not refused. */
export type ReportOutcome =
  | { readonly _tag: "Settled"; readonly payment: Payment }
  | { readonly _tag: "Pending"; readonly payment: Payment }
  | { readonly _tag: "Gated"; readonly payment: Payment }

export type ReportError =
  | PaymentNotFound
  | PaymentReportConflict
  | PaymentFailed
  | TestSettlementMismatch
  | ChainUnavailableError

/** How long after a report the reconciler first looks at it. */
const firstCheckMillis = 5_000
/** How long after settlement the block is first checked for a reorganisation. */
const firstWatchMillis = 60_000

const mismatch = (found: Extract<Verification, { _tag: "Mismatch" }>) =>
  new TestSettlementMismatch({
    reason: found.reason,
    // Until its block is confirmed a reorganisation can still change the answer.
    ...(found.confirmed ? {} : { retryAfter: 5 }),
    details: [
      {
        path: found.reason,
        message: mismatchAdvice[found.reason],
        ...(found.expected === undefined ? {} : { expected: found.expected }),
        ...(found.actual === undefined ? {} : { actual: found.actual })
      }
    ]
  })

const mismatchAdvice: { readonly [R in Extract<Verification, { _tag: "Mismatch" }>["reason"]]: string } = {
  receiver: "The transfer went to another address than the merchant's.",
  amount: "The transfer moved another amount than the payment asks; pay the exact amount in one transfer.",
  token: "The transaction moved another token than this environment's USDC.",
  payer: "The transfer was not sent by the buyer whose identity token was reported.",
  reverted: "The transaction was reverted and moved nothing.",
  too_old: "The transfer happened before the payment was opened.",
  declared_changes: "The declared tokenChanges do not name what the chain shows.",
  no_transfer: "The transaction contains no USDC transfer.",
  already_used: "The transfer already pays another payment."
}

export class Payments extends Context.Service<
  Payments,
  {
    readonly open: (
      principal: Principal,
      intentToken: string
    ) => Effect.Effect<
      { readonly payment: Payment; readonly created: boolean },
      InvalidIntentToken | IntentTokenExpired | IntentTokenKeyMismatch
    >
    readonly report: (
      principal: Principal,
      paymentId: PaymentId,
      report: SettlementReport
    ) => Effect.Effect<ReportOutcome, ReportError | InvalidBuyerTokenError>
    /** Looks at the chain for a kept report and settles what it proves. Also the reconciler's way. */
    readonly settle: (
      payment: Payment,
      evidence: Evidence,
      reportedAt: Date
    ) => Effect.Effect<ReportOutcome, ReportError>
  }
>()("quittance/payments/Payments") {
  static readonly layer: Layer.Layer<
    Payments,
    never,
    | AppConfig
    | PaymentRepo
    | IntentTokens
    | BuyerIdentity
    | ChainVerifier
    | DeliveryWake
    | SecureRandom.SecureRandom
  > = Layer.effect(
    Payments,
    Effect.gen(function* () {
      const { baseUrl } = yield* AppConfig
      const repo = yield* PaymentRepo
      const tokens = yield* IntentTokens
      const buyers = yield* BuyerIdentity
      const chain = yield* ChainVerifier
      const wake = yield* DeliveryWake
      const random = yield* SecureRandom.SecureRandom

      const open = Effect.fnUntraced(function* (principal: Principal, intentToken: string) {
        const { claims, expired } = yield* tokens.verify(intentToken)
        if (claims.merchant !== principal.merchant.id || claims.env !== principal.env) {
          return yield* new IntentTokenKeyMismatch()
        }
        const tenant = { merchantId: principal.merchant.id, env: principal.env }
        if (expired) return { payment: yield* repo.openExpired(tenant, claims.jti), created: false }
        return yield* repo.open({
          ...tenant,
          id: claims.jti,
          amount: claims.amount,
          intentUrl: claims.intentUrl,
          receiver: claims.receiver,
          at: yield* DateTime.nowAsDate
        })
      })

      const verified = Effect.fnUntraced(function* (
        payment: Payment,
        evidence: Evidence,
        reportedAt: Date,
        proof: Extract<Verification, { _tag: "Verified" }>
      ) {
        const at = yield* DateTime.nowAsDate
        // The webhook is built from what the chain shows, not from what was declared.
        const tokenChanges: ReadonlyArray<TokenChange> = [
          {
            amountAtomic: proof.value.toString(),
            chainId: proof.chainId,
            receiver: proof.receiver,
            tokenAddress: proof.token
          }
        ]
        const id = yield* random.uuidV7()
        const settled = yield* repo.settle({
          paymentId: payment.id,
          evidence: { ...evidence, tokenChanges },
          reportedAt,
          at,
          transfer: proof,
          delivery: {
            id,
            body: settledEvent({
              id,
              livemode: payment.env === "live",
              transactionId: proof.transactionId,
              tokenChanges
            })
          },
          watchAt: new Date(at.getTime() + firstWatchMillis)
        })
        if (Option.isSome(settled)) yield* wake.signal
        return settled
      })

      const current = (payment: Payment) =>
        Effect.flatMap(repo.find(payment, payment.id), (found) =>
          Option.isSome(found) ? Effect.succeed(found.value) : Effect.fail(new PaymentNotFound())
        )

      /** The answer for a payment that is no longer open to this evidence, or undefined where it still is. */
      const decided = (
        payment: Payment,
        evidence: Evidence
      ): Effect.Effect<ReportOutcome | undefined, ReportError> => {
        switch (judgeReport(payment, evidence)) {
          case "verify":
            return Effect.undefined
          case "failed":
            return Effect.fail(new PaymentFailed())
          case "conflict":
            return Effect.fail(new PaymentReportConflict())
          case "record":
            return Effect.succeed({ _tag: "Gated", payment })
          case "replay":
            return Effect.succeed({ _tag: payment.status === "settled" ? "Settled" : "Gated", payment })
        }
      }

      const settle = Effect.fn("Payments.settle")(function* (
        payment: Payment,
        evidence: Evidence,
        reportedAt: Date
      ): Effect.fn.Return<ReportOutcome, ReportError> {
        let excludeLogs: ReadonlyArray<number> = []
        while (true) {
          const verification = yield* chain.verify({
            env: payment.env,
            transactionId: evidence.transactionId,
            payer: evidence.payer,
            receiver: payment.receiver,
            amount: payment.amount,
            notBefore: payment.createdAt,
            tokenChanges: evidence.tokenChanges,
            excludeLogs
          })
          if (verification._tag === "Mismatch") {
            // A concurrent report of the same evidence may have settled it meanwhile.
            const known = verification.reason === "already_used" ? yield* current(payment) : payment
            const answer = yield* decided(known, evidence)
            if (answer !== undefined) return answer
            if (verification.confirmed) yield* repo.noteCheck(payment.id, evidence, verification.reason, null)
            return yield* mismatch(verification)
          }
          if (verification._tag === "Pending") {
            if (verification.reason === "rpc_unavailable") {
              return yield* new ChainUnavailableError({ retryAfter: 5 })
            }
            return { _tag: "Pending", payment }
          }
          const settled = yield* Effect.result(verified(payment, evidence, reportedAt, verification))
          if (Result.isSuccess(settled)) {
            if (Option.isSome(settled.success)) return { _tag: "Settled", payment: settled.success.value }
            const answer = yield* decided(yield* current(payment), evidence)
            return answer ?? { _tag: "Pending", payment }
          }
          // The log pays another payment: look whether the transaction holds a further one.
          excludeLogs = yield* repo.claimedLogs(verification.chainId, verification.transactionId)
        }
      })

      const report = Effect.fnUntraced(function* (
        principal: Principal,
        paymentId: PaymentId,
        { buyerDidToken, transactionId, tokenChanges }: SettlementReport
      ) {
        const { merchant, env } = principal
        const { address } = yield* buyers
          .verify(buyerDidToken, {
            audiences: merchant.identityAudience === null ? [baseUrl] : [baseUrl, merchant.identityAudience],
            env
          })
          .pipe(
            Effect.catchTag("InvalidBuyerToken", ({ reason, message }) =>
              Effect.fail(new InvalidBuyerTokenError({ reason, message }))
            )
          )
        const evidence: Evidence = { transactionId, payer: address, tokenChanges }
        const at = yield* DateTime.nowAsDate
        const found = yield* repo.report({
          merchantId: merchant.id,
          env,
          paymentId,
          evidence,
          at,
          nextCheckAt: new Date(at.getTime() + firstCheckMillis)
        })
        if (Option.isNone(found)) return yield* new PaymentNotFound()
        const answer = yield* decided(found.value, evidence)
        return answer ?? (yield* settle(found.value, evidence, at))
      })

      return Payments.of({ open, report, settle })
    })
  )
}
