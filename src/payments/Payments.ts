// Opens and settles payments: the rules between the contract, the buyer's identity, the chain and the database.

import { Context, DateTime, Effect, Layer, Option } from "effect"
import { ChainHeights } from "../chain/ChainHeights.ts"
import { ChainVerifier } from "../chain/ChainVerifier.ts"
import { DenyList } from "../chain/DenyList.ts"
import { chainRetryAfter } from "../chain/orChainUnavailable.ts"
import { BoundedMap } from "../domain/BoundedMap.ts"
import type { TransactionHash } from "../domain/Chain.ts"
import {
  ChainUnavailable,
  IntentTokenExpired,
  IntentTokenKeyMismatch,
  type InvalidBuyerToken,
  type InvalidIntentToken,
  PaymentFailed,
  PaymentNotFound,
  PaymentSettled,
  RateLimited
} from "../domain/Errors.ts"
import type { Principal } from "../domain/Merchant.ts"
import { networks } from "../domain/networks.ts"
import type { Evidence, Payment, PaymentId } from "../domain/Payment.ts"
import { plusMillis } from "../domain/plusMillis.ts"
import type { TokenChange } from "../domain/TokenChange.ts"
import { SettlementLimits } from "../merchants/settlementLevels/SettlementLimits.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { RateLimiter } from "../platform/limits/RateLimiter.ts"
import { Networks } from "../platform/Networks.ts"
import { DeliveryWake } from "../webhooks/DeliveryWake.ts"
import { BuyerIdentity } from "./buyers/BuyerIdentity.ts"
import { ClaimRepo } from "./ClaimRepo.ts"
import { IntentTokens } from "./intents/IntentTokens.ts"
import { evidenceKey } from "./PaymentRepo/evidenceKey.ts"
import { PaymentRepo } from "./PaymentRepo.ts"
import {
  type EvidenceCheck,
  makeEvidenceCheck,
  openedSince,
  type ReportCheck,
  type ReportRefusal
} from "./Payments/evidenceCheck.ts"
import { isMismatchError } from "./Payments/mismatchError.ts"
import { verdictOf } from "./Payments/verdictOf.ts"
import { makeVerifyPayer } from "./Payments/verifyPayer.ts"
import { ReportTurns } from "./ReportTurns.ts"
import { TransferRepo } from "./TransferRepo.ts"

export interface SettlementReport {
  readonly buyerDidToken: string
  readonly transactionId: TransactionHash
  readonly tokenChanges: ReadonlyArray<TokenChange>
  /** The client address of the request, for the limit. */
  readonly client?: string
}

/** The outcome of a report that was not refused. */
export type ReportOutcome =
  | { readonly _tag: "Settled"; readonly payment: Payment }
  | { readonly _tag: "Pending"; readonly payment: Payment }
  | { readonly _tag: "Gated"; readonly payment: Payment }

export type ReportError = ReportRefusal | ChainUnavailable | InvalidBuyerToken | RateLimited

const changedTermsMessage =
  "The payment was opened with other terms than this token names. Open its link again, or create a new payment intent."

/** The delay between a report and the reconciler's first check. */
const firstCheckMillis = 5_000
/** The number of verdicts that the process caches. */
const maxRecentVerdicts = 10_000
/**
 * The limit of reports per payment and client address, because each report costs calls to the chain's nodes. A checkout
 * that polls every second stays below it, and fifty reports at once pass.
 */
export const reportLimit = { rate: 2, perSeconds: 1, burst: 60 }

export class Payments extends Context.Service<
  Payments,
  {
    readonly open: (
      principal: Principal,
      intentToken: string
    ) => Effect.Effect<
      { readonly payment: Payment; readonly created: boolean; readonly resumeCode: string },
      InvalidIntentToken | IntentTokenExpired | IntentTokenKeyMismatch
    >
    /** A token for the pending payment of a resume code. */
    readonly resume: (
      principal: Principal,
      resumeCode: string
    ) => Effect.Effect<string, PaymentNotFound | PaymentSettled | PaymentFailed>
    readonly report: (
      principal: Principal,
      paymentId: PaymentId,
      report: SettlementReport
    ) => Effect.Effect<ReportOutcome, ReportError>
  } & EvidenceCheck
>()("quittance/payments/Payments") {
  static readonly layer: Layer.Layer<
    Payments,
    never,
    | AppConfig
    | PaymentRepo
    | ClaimRepo
    | TransferRepo
    | BuyerIdentity
    | ChainVerifier
    | DeliveryWake
    | RateLimiter
    | ChainHeights
    | SettlementLimits
  > = Layer.effect(
    Payments,
    Effect.gen(function* () {
      const { baseUrl } = yield* AppConfig
      const repo = yield* PaymentRepo
      const tokens = yield* IntentTokens
      const buyers = yield* BuyerIdentity
      const chain = yield* ChainVerifier
      const wake = yield* DeliveryWake
      const limiter = yield* RateLimiter
      const chainHeights = yield* ChainHeights
      const turn = yield* ReportTurns
      const verifyPayer = makeVerifyPayer(buyers, repo, baseUrl)
      const { check, outcomeIfClosed, replaceClaim } = makeEvidenceCheck({
        ...{ repo, chain, wake },
        claimRepo: yield* ClaimRepo,
        transferRepo: yield* TransferRepo,
        denyList: yield* DenyList,
        networks: yield* Networks,
        settlementLimits: yield* SettlementLimits
      })

      const open = Effect.fnUntraced(function* (principal: Principal, intentToken: string) {
        const { claims, expired } = yield* tokens.verify(intentToken)
        if (claims.merchant !== principal.merchant.id || claims.env !== principal.env) {
          return yield* new IntentTokenKeyMismatch()
        }
        const tenant = { merchantId: principal.merchant.id, env: principal.env }
        const opened = expired
          ? { payment: yield* repo.openExpired(tenant, claims.jti), created: false }
          : yield* repo.open({
              ...tenant,
              id: claims.jti,
              amount: claims.amount,
              intentUrl: claims.intentUrl,
              receiver: claims.receiver,
              payerType: "human",
              ...chainHeights.openedBlock(principal.env),
              at: yield* DateTime.nowAsDate
            })
        // The wallet sends what its token says. If another token of the link opened the payment on other terms, that
        // transfer would pay nothing.
        const { amount, receiver } = opened.payment
        if (amount !== claims.amount || receiver !== claims.receiver)
          return yield* new IntentTokenExpired({ message: changedTermsMessage })
        return { ...opened, resumeCode: tokens.resumeCodeOf(opened.payment.id) }
      })

      const resume = Effect.fnUntraced(function* ({ env, merchant }: Principal, resumeCode: string) {
        const id = tokens.readResumeCode(resumeCode)
        const stored = Option.isNone(id)
          ? Option.none()
          : yield* repo.find({ merchantId: merchant.id, env }, id.value)
        if (Option.isNone(stored)) return yield* new PaymentNotFound()
        const payment = stored.value
        if (payment.status === "settled") return yield* new PaymentSettled()
        if (payment.status === "failed") return yield* new PaymentFailed()
        const { chainId, usdc } = networks[env]
        return yield* tokens.sign({
          jti: payment.id,
          amount: payment.amount,
          intentUrl: payment.intentUrl,
          merchant: merchant.id,
          env,
          receiver: payment.receiver,
          token: { address: usdc.address, chainId }
        })
      })

      /** The last verdict that this process recorded for each evidence, so that a polling page writes it once. */
      const recentVerdicts = new BoundedMap<string, string>(maxRecentVerdicts)
      const recordChange = Effect.fnUntraced(function* (
        paymentId: PaymentId,
        evidence: Evidence,
        check: ReportCheck
      ) {
        const verdict = verdictOf(check, yield* DateTime.nowAsDate)
        if (verdict === undefined) return
        const key = `${paymentId} ${Buffer.from(evidenceKey(evidence)).toString("hex")}`
        if (recentVerdicts.get(key) === verdict.reason) return
        recentVerdicts.set(key, verdict.reason)
        yield* repo.recordVerdict(paymentId, evidence, verdict)
      })

      const report = Effect.fnUntraced(function* (
        principal: Principal,
        paymentId: PaymentId,
        { buyerDidToken, client = "", transactionId, tokenChanges }: SettlementReport
      ): Effect.fn.Return<ReportOutcome, ReportError> {
        const tenant = { merchantId: principal.merchant.id, env: principal.env }
        yield* turn
        const wait = yield* limiter.take(`report ${principal.keyId} ${paymentId} ${client}`, reportLimit)
        if (wait > 0) return yield* new RateLimited({ retryAfter: wait })

        const payer = yield* verifyPayer(principal, buyerDidToken, paymentId)
        const evidence: Evidence = { transactionId, payer, tokenChanges }
        const at = yield* DateTime.nowAsDate
        const nextCheckAt = plusMillis(at, firstCheckMillis)
        const stored = yield* repo.report({
          ...tenant,
          paymentId,
          evidence,
          payerType: "human",
          at,
          nextCheckAt
        })
        if (Option.isNone(stored)) return yield* new PaymentNotFound()

        const { payment, attemptBlock } = stored.value
        const outcome =
          outcomeIfClosed(payment, evidence) ??
          (yield* check(payment, evidence, at, openedSince(payment, attemptBlock)))
        switch (outcome._tag) {
          case "Refused": {
            if (isMismatchError(outcome.error)) {
              const verdict = verdictOf(outcome, yield* DateTime.nowAsDate)
              if (outcome.final && verdict !== undefined) {
                yield* repo.recordCheck(paymentId, evidence, verdict, {
                  leaseUntil: nextCheckAt,
                  nextCheckAt: null
                })
              } else {
                yield* recordChange(paymentId, evidence, outcome)
              }
            }
            return yield* payment.status === "failed" ? new PaymentFailed() : outcome.error
          }
          case "Pending":
            yield* recordChange(paymentId, evidence, outcome)
            return outcome.reason === "rpc_unavailable"
              ? yield* new ChainUnavailable({ retryAfter: chainRetryAfter })
              : { _tag: "Pending", payment: outcome.payment }
          default:
            return outcome
        }
      })

      return Payments.of({ open, resume, report, check, replaceClaim })
    })
  ).pipe(Layer.provide(IntentTokens.layer))
}
