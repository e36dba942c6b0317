// Opening and settling payments: the rules between the contract, the buyer's
// identity, the chain and the database.
import { Context, DateTime, Effect, Layer, Option, Result } from "effect"
import { AppConfig } from "../AppConfig.ts"
import { BuyerIdentity } from "../buyers/BuyerIdentity.ts"
import { ChainReach } from "../chain/ChainReach.ts"
import { ChainVerifier } from "../chain/ChainVerifier.ts"
import { chainRetryAfter } from "../chain/orChainUnavailable.ts"
import type { Verification } from "../chain/Verification.ts"
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
  PaymentReportConflict,
  RateLimited,
  type TestSettlementMismatch
} from "../domain/Errors.ts"
import type { Principal } from "../domain/Merchant.ts"
import { type Evidence, judgeReport, type Payment, type PaymentId } from "../domain/Payment.ts"
import type { TokenChange } from "../domain/TokenChange.ts"
import type { MismatchReason, PendingReason } from "../domain/VerdictReason.ts"
import { settledEvent } from "../domain/Webhook.ts"
import { IntentTokens } from "../intents/IntentTokens.ts"
import { RateLimiter } from "../limits/RateLimiter.ts"
import { DeliveryWake } from "../webhooks/DeliveryWake.ts"
import { blockTolerance } from "./PaymentRepo/AttemptStore.ts"
import { deliveryIdOf } from "./PaymentRepo/deliveryIdOf.ts"
import { evidenceKey } from "./PaymentRepo/evidenceKey.ts"
import type { TransferAlreadyUsed } from "./PaymentRepo/TransferAlreadyUsed.ts"
import { PaymentRepo } from "./PaymentRepo.ts"
import { mismatchError } from "./Payments/mismatchError.ts"
import { countSettlement, countVerification } from "./Payments/PaymentMetrics.ts"
import { makeProvenPayer } from "./Payments/provenPayer.ts"
import { verdictOf } from "./Payments/verdictOf.ts"
import { ReportTurns } from "./ReportTurns.ts"

export interface SettlementReport {
  readonly buyerDidToken: string
  readonly transactionId: TransactionHash
  readonly tokenChanges: ReadonlyArray<TokenChange>
  /** The address that the request came from, for the limit. */
  readonly client?: string
}

/** What became of a report that was not refused. */
export type ReportOutcome =
  | { readonly _tag: "Settled"; readonly payment: Payment }
  | { readonly _tag: "Pending"; readonly payment: Payment }
  | { readonly _tag: "Gated"; readonly payment: Payment }

/** Why evidence does not settle a payment. */
export type ReportRefusal = PaymentNotFound | PaymentReportConflict | PaymentFailed | TestSettlementMismatch

export type ReportError = ReportRefusal | ChainUnavailable | InvalidBuyerToken | RateLimited

/** The result of checking a report against the chain. */
export type ReportCheck =
  | { readonly _tag: "Settled"; readonly payment: Payment }
  | { readonly _tag: "Gated"; readonly payment: Payment }
  | { readonly _tag: "Pending"; readonly payment: Payment; readonly reason: PendingReason }
  /** `final` once no reorganisation within the required confirmations can change it. */
  | {
      readonly _tag: "Refused"
      readonly reason: MismatchReason | "conflict"
      readonly error: ReportRefusal
      readonly final: boolean
    }

type Proof = Extract<Verification, { _tag: "Verified" }>

const otherTerms =
  "The payment was opened with other terms than this token names. Open its link again, or create a new payment intent."

/** How long after a report the reconciler first checks it. */
const firstCheckMillis = 5_000
/** How long after settlement the block is first checked for a reorganisation. */
const firstWatchMillis = 60_000
/** How many evidences the process remembers the verdict of. */
const notedVerdicts = 10_000
/**
 * Reports of one payment from one address, so that hammering it costs the chain's nodes a bounded
 * number of calls. A checkout that polls every second stays below it, and fifty reports at
 * once pass.
 */
export const reportLimit = { rate: 2, perSeconds: 1, burst: 60 }

/**
 * The height below which no transfer pays this payment: that of its opening or of the wallet's attempt,
 * less what a reorganisation may move and processes may differ by.
 */
export const openedSince = (
  { openedBlock }: Payment,
  attemptBlock: bigint | null
): { readonly sinceBlock?: bigint } => {
  const height = openedBlock ?? attemptBlock
  return height === null ? {} : { sinceBlock: height - BigInt(blockTolerance) }
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
    ) => Effect.Effect<ReportOutcome, ReportError>
    /**
     * Chain verifications for evidence and settles what it proves. `sinceBlock` is a height below which
     * the transfer cannot lie; without it the payment's own opening decides.
     */
    readonly check: (
      payment: Payment,
      evidence: Evidence,
      reportedAt: Date,
      known?: { readonly sinceBlock?: bigint; readonly byPerson?: boolean }
    ) => Effect.Effect<ReportCheck>
    /**
     * Whether a settled payment whose transfer the chain no longer shows is paid by this one in its place: its claim
     * follows, and nothing is told again. `Pending` while the chain does not say.
     */
    readonly follow: (
      payment: Payment,
      evidence: Evidence,
      known?: { readonly byPerson?: boolean }
    ) => Effect.Effect<"Followed" | "Pending" | "Refused">
  }
>()("quittance/payments/Payments") {
  static readonly layer: Layer.Layer<
    Payments,
    never,
    AppConfig | PaymentRepo | BuyerIdentity | ChainVerifier | DeliveryWake | RateLimiter | ChainReach
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
      const reach = yield* ChainReach
      const turn = yield* ReportTurns
      const provenPayer = makeProvenPayer(buyers, repo, baseUrl)

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
              ...reach.openedBlock(principal.env),
              at: yield* DateTime.nowAsDate
            })
        // A wallet sends to whom its token names: where another token of the link has opened it, that pays nothing.
        const { amount, receiver } = opened.payment
        if (amount !== claims.amount || receiver !== claims.receiver)
          return yield* new IntentTokenExpired({ message: otherTerms })
        return opened
      })

      const verified = Effect.fnUntraced(function* (
        payment: Payment,
        evidence: Evidence,
        reportedAt: Date,
        proof: Proof
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
        const id = deliveryIdOf(proof)
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
        if (Option.isSome(settled)) {
          yield* wake.signal
          yield* countSettlement(payment.env)
        }
        return settled
      })

      /** What is known of a payment that is no longer open to this evidence, or undefined where it still is. */
      const decided = (payment: Payment, evidence: Evidence): ReportCheck | undefined => {
        switch (judgeReport(payment, evidence)) {
          case "verify":
            return undefined
          case "conflict":
            return { _tag: "Refused", reason: "conflict", error: new PaymentReportConflict(), final: true }
          case "record":
            return { _tag: "Gated", payment }
          case "replay":
            return { _tag: "Settled", payment }
        }
      }

      /** As `decided`, on the payment as it now stands. */
      const decidedNow = (payment: Payment, evidence: Evidence) =>
        Effect.map(
          repo.find(payment, payment.id),
          Option.match({
            onNone: (): ReportCheck => ({
              _tag: "Refused",
              reason: "conflict",
              error: new PaymentNotFound(),
              final: true
            }),
            onSome: (now) => decided(now, evidence)
          })
        )

      /** Looks for a transfer of the evidence that the payment may claim. */
      const claim = Effect.fnUntraced(function* (
        payment: Payment,
        evidence: Evidence,
        known: { readonly sinceBlock?: bigint; readonly byPerson?: boolean },
        claimed: (proof: Proof) => Effect.Effect<Option.Option<Payment>, TransferAlreadyUsed>
      ): Effect.fn.Return<ReportCheck> {
        const since =
          known.sinceBlock === undefined ? openedSince(payment, null) : { sinceBlock: known.sinceBlock }
        /** Ordinals of transfers that were signed for another payment. */
        const others: Array<number> = []
        const takenTransfers = (chainId: number) =>
          repo.takenTransfers({
            paymentId: payment.id,
            chainId,
            evidence,
            receiver: payment.receiver,
            amount: payment.amount
          })
        let excludeOrdinals: ReadonlyArray<number> = []
        while (true) {
          const verification = yield* chain.verify({
            env: payment.env,
            transactionId: evidence.transactionId,
            payer: evidence.payer,
            receiver: payment.receiver,
            amount: payment.amount,
            notBefore: payment.createdAt,
            ...since,
            tokenChanges: evidence.tokenChanges,
            excludeOrdinals,
            byPerson: known.byPerson === true
          })
          yield* countVerification(verification)
          switch (verification._tag) {
            case "Pending":
              return { _tag: "Pending", payment, reason: verification.reason }
            case "Mismatch": {
              // A concurrent report of the same evidence may have settled it meanwhile.
              const known =
                verification.reason === "already_used" ? yield* decidedNow(payment, evidence) : undefined
              if (known !== undefined) return known
              // By time alone, a clock of ours that was ahead makes an honest transfer look old.
              const byClock = verification.reason === "too_old" && since.sinceBlock === undefined
              return {
                _tag: "Refused",
                reason: verification.reason,
                error: mismatchError(verification),
                final: verification.confirmed && !byClock
              }
            }
          }
          const { authorization } = verification
          if (authorization !== undefined && known.byPerson !== true) {
            const signedFor = yield* repo.signedFor(payment.env, evidence.payer, authorization)
            if (Option.isSome(signedFor) && signedFor.value !== payment.id) {
              others.push(verification.ordinal)
              excludeOrdinals = [...excludeOrdinals, verification.ordinal]
              continue
            }
          }
          const settled = yield* Effect.result(claimed(verification))
          if (Result.isSuccess(settled)) {
            if (Option.isSome(settled.success)) return { _tag: "Settled", payment: settled.success.value }
            const known = yield* decidedNow(payment, evidence)
            if (known !== undefined) return known
            const taken = yield* takenTransfers(verification.chainId)
            const handled = taken.some(
              ({ blockHash, ordinal }) => blockHash === null && ordinal === verification.ordinal
            )
            // A claim on the same transaction still names a block that the chain has replaced, or an
            // operator is attaching the transfer at this moment.
            if (!handled) return { _tag: "Pending", payment, reason: "reorganised" }
            // The transaction may hold an equal one.
            excludeOrdinals = [...others, ...taken.map(({ ordinal }) => ordinal)]
          } else {
            // The transfer pays another payment, or has paid one; the transaction may hold an equal one.
            others.push(verification.ordinal)
            const taken = yield* takenTransfers(verification.chainId)
            excludeOrdinals = [...others, ...taken.map(({ ordinal }) => ordinal)]
          }
        }
      })

      const check = Effect.fn("Payments.check")(function* (
        payment: Payment,
        evidence: Evidence,
        reportedAt: Date,
        known: { readonly sinceBlock?: bigint; readonly byPerson?: boolean } = {}
      ) {
        return yield* claim(payment, evidence, known, (proof) =>
          verified(payment, evidence, reportedAt, proof)
        )
      })

      const follow = Effect.fn("Payments.follow")(function* (
        payment: Payment,
        evidence: Evidence,
        known: { readonly byPerson?: boolean } = {}
      ) {
        let isFollowed = false
        const found = yield* claim(payment, evidence, { ...known, sinceBlock: 0n }, (transfer) =>
          Effect.gen(function* () {
            const at = yield* DateTime.nowAsDate
            const { env, id } = payment
            const { payer } = evidence
            isFollowed = yield* repo.replaceClaim({ paymentId: id, env, payer, at, transfer })
            return isFollowed ? Option.some(payment) : Option.none()
          })
        )
        return isFollowed ? "Followed" : found._tag === "Pending" ? "Pending" : "Refused"
      })

      /** The last verdict that this process noted for an evidence: a page that polls writes it once. */
      const noted = new BoundedMap<string, string>(notedVerdicts)
      const noteChange = Effect.fnUntraced(function* (
        paymentId: PaymentId,
        evidence: Evidence,
        found: ReportCheck
      ) {
        const verdict = verdictOf(found, yield* DateTime.nowAsDate)
        if (verdict === undefined) return
        const key = `${paymentId} ${Buffer.from(evidenceKey(evidence)).toString("hex")}`
        if (noted.get(key) === verdict.reason) return
        noted.set(key, verdict.reason)
        yield* repo.noteVerdict(paymentId, evidence, verdict)
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

        const payer = yield* provenPayer(principal, buyerDidToken, paymentId)
        const evidence: Evidence = { transactionId, payer, tokenChanges }
        const at = yield* DateTime.nowAsDate
        const nextCheckAt = new Date(at.getTime() + firstCheckMillis)
        const found = yield* repo.report({
          ...tenant,
          paymentId,
          evidence,
          payerType: "human",
          at,
          nextCheckAt
        })
        if (Option.isNone(found)) return yield* new PaymentNotFound()

        const { payment, attemptBlock } = found.value
        const outcome =
          decided(payment, evidence) ??
          (yield* check(payment, evidence, at, openedSince(payment, attemptBlock)))
        switch (outcome._tag) {
          case "Refused": {
            if (outcome.error._tag === "TestSettlementMismatch") {
              const verdict = verdictOf(outcome, yield* DateTime.nowAsDate)
              if (outcome.final && verdict !== undefined) {
                yield* repo.noteCheck(paymentId, evidence, verdict, {
                  heldUntil: nextCheckAt,
                  nextCheckAt: null
                })
              } else {
                yield* noteChange(paymentId, evidence, outcome)
              }
            }
            return yield* payment.status === "failed" ? new PaymentFailed() : outcome.error
          }
          case "Pending":
            yield* noteChange(paymentId, evidence, outcome)
            return outcome.reason === "rpc_unavailable"
              ? yield* new ChainUnavailable({ retryAfter: chainRetryAfter })
              : { _tag: "Pending", payment: outcome.payment }
          default:
            return outcome
        }
      })

      return Payments.of({ open, report, check, follow })
    })
  ).pipe(Layer.provide(IntentTokens.layer))
}
