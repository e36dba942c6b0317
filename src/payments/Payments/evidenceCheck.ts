// Decides from the chain whether evidence settles a payment, and settles it.

import { DateTime, Effect, Option, Result } from "effect"
import type { ChainVerifier } from "../../chain/ChainVerifier.ts"
import type { DenyList } from "../../chain/DenyList.ts"
import type { Verification } from "../../chain/Verification.ts"
import { type PaymentFailed, PaymentNotFound, PaymentReportConflict } from "../../domain/Errors.ts"
import { isTest } from "../../domain/networks.ts"
import { type Evidence, judgeReport, type Payment } from "../../domain/Payment.ts"
import { plusMillis } from "../../domain/plusMillis.ts"
import type { TokenChange } from "../../domain/TokenChange.ts"
import type { MismatchReason, PendingReason } from "../../domain/VerdictReason.ts"
import { settledEvent } from "../../domain/Webhook.ts"
import type { SettlementLimits } from "../../merchants/settlementLevels/SettlementLimits.ts"
import type { Networks } from "../../platform/Networks.ts"
import type { DeliveryWake } from "../../webhooks/DeliveryWake.ts"
import { blockTolerance } from "../AttemptRepo/AttemptStore.ts"
import type { ClaimRepo } from "../ClaimRepo.ts"
import { deliveryIdOf, laterDeliveryIdOf } from "../PaymentRepo/deliveryIdOf.ts"
import type { PaymentRepo } from "../PaymentRepo.ts"
import type { TransferAlreadyUsed } from "../TransferAlreadyUsed.ts"
import type { TransferRepo } from "../TransferRepo.ts"
import { type MismatchError, mismatchError } from "./mismatchError.ts"
import { countSettlement, countVerification } from "./PaymentMetrics.ts"

/** The reason why evidence does not settle a payment. */
export type ReportRefusal = PaymentNotFound | PaymentReportConflict | PaymentFailed | MismatchError

/** The result of checking a report against the chain. */
export type ReportCheck =
  | { readonly _tag: "Settled"; readonly payment: Payment }
  | { readonly _tag: "Gated"; readonly payment: Payment }
  /** `denied`: the transfer is proven and its payer is on the deny list, so the merchant decides. */
  | { readonly _tag: "Pending"; readonly payment: Payment; readonly reason: PendingReason | "denied" }
  /** `final`: no reorganisation within the required confirmations can change it. */
  | {
      readonly _tag: "Refused"
      readonly reason: MismatchReason | "conflict"
      readonly error: ReportRefusal
      readonly final: boolean
    }

/** The result of moving a claim to another transfer. */
export type ClaimReplaceResult =
  | { readonly _tag: "Replaced" }
  | { readonly _tag: "Refused" }
  | Extract<ReportCheck, { readonly _tag: "Pending" }>

type Proof = Extract<Verification, { _tag: "Verified" }>

/** The delay between settlement and the first check of its block for a reorganisation. */
const firstWatchMillis = 60_000

/**
 * The height below which no transfer pays this payment: that of its opening or of the wallet's attempt, minus
 * `blockTolerance`, because a reorganisation may move blocks and processes may know different heights.
 */
export const openedSince = (
  { openedBlock }: Payment,
  attemptBlock: bigint | null
): { readonly sinceBlock?: bigint } => {
  const height = openedBlock ?? attemptBlock
  return height === null ? {} : { sinceBlock: height - BigInt(blockTolerance) }
}

export interface EvidenceCheck {
  /**
   * Verifies evidence against the chain and settles the payment that it proves. No transfer below the height
   * `sinceBlock` counts; by default, the payment's opening decides.
   */
  readonly check: (
    payment: Payment,
    evidence: Evidence,
    reportedAt: Date,
    options?: { readonly sinceBlock?: bigint; readonly byPerson?: boolean }
  ) => Effect.Effect<ReportCheck>
  /**
   * Moves the claim of a settled payment to this transfer, if the chain no longer shows the original. No event is
   * sent again.
   */
  readonly replaceClaim: (
    payment: Payment,
    evidence: Evidence,
    options?: { readonly byPerson?: boolean }
  ) => Effect.Effect<ClaimReplaceResult>
}

export const makeEvidenceCheck = ({
  repo,
  claimRepo,
  transferRepo,
  chain,
  denyList,
  wake,
  networks: { executes },
  settlementLimits
}: {
  readonly repo: PaymentRepo["Service"]
  readonly claimRepo: ClaimRepo["Service"]
  readonly transferRepo: TransferRepo["Service"]
  readonly chain: ChainVerifier["Service"]
  readonly denyList: DenyList
  readonly wake: DeliveryWake["Service"]
  readonly networks: Networks
  readonly settlementLimits: SettlementLimits["Service"]
}): EvidenceCheck & {
  /** The result for a payment that is closed to this evidence, or undefined if it is still open. */
  readonly outcomeIfClosed: (payment: Payment, evidence: Evidence) => ReportCheck | undefined
} => {
  const settleProven = Effect.fnUntraced(function* (
    payment: Payment,
    evidence: Evidence,
    reportedAt: Date,
    proof: Proof
  ) {
    const at = yield* DateTime.nowAsDate
    // The webhook contains the token changes that the chain shows, not the declared ones.
    const tokenChanges: ReadonlyArray<TokenChange> = [
      {
        amountAtomic: proof.value.toString(),
        chainId: proof.chainId,
        receiver: proof.receiver,
        tokenAddress: proof.token
      }
    ]
    const deliveryOf = (id: string) => ({
      id,
      body: settledEvent({
        id,
        livemode: !isTest(payment.env),
        transactionId: proof.transactionId,
        tokenChanges
      })
    })
    const settled = yield* repo.settle({
      paymentId: payment.id,
      evidence: { ...evidence, tokenChanges },
      reportedAt,
      at,
      transfer: proof,
      delivery: deliveryOf(deliveryIdOf(proof)),
      laterDelivery: deliveryOf(laterDeliveryIdOf(proof, payment.id)),
      watchAt: plusMillis(at, firstWatchMillis)
    })
    if (Option.isSome(settled)) {
      yield* wake.signal
      yield* countSettlement(payment.env)
    }
    return settled
  })

  const outcomeIfClosed = (payment: Payment, evidence: Evidence): ReportCheck | undefined => {
    switch (judgeReport(payment, evidence, executes)) {
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

  /** Like `outcomeIfClosed`, for the payment's current state. */
  const currentOutcomeIfClosed = (payment: Payment, evidence: Evidence) =>
    Effect.map(
      repo.find(payment, payment.id),
      Option.match({
        onNone: (): ReportCheck => ({
          _tag: "Refused",
          reason: "conflict",
          error: new PaymentNotFound(),
          final: true
        }),
        onSome: (now) => outcomeIfClosed(now, evidence)
      })
    )

  /**
   * Claims the first transfer of the evidence that may pay the payment. With `isDenied`, it claims none: such a
   * transfer leaves the payment pending as `denied`, until a person decides.
   */
  const claim = Effect.fnUntraced(function* (
    payment: Payment,
    evidence: Evidence,
    options: { readonly sinceBlock?: bigint; readonly byPerson?: boolean; readonly isDenied?: boolean },
    commitClaim: (proof: Proof) => Effect.Effect<Option.Option<Payment>, TransferAlreadyUsed>
  ): Effect.fn.Return<ReportCheck> {
    const since =
      options.sinceBlock === undefined ? openedSince(payment, null) : { sinceBlock: options.sinceBlock }
    /** Ordinals of transfers that were signed for another payment. */
    const others: Array<number> = []
    const unavailableTransfers = (chainId: number) =>
      repo.unavailableTransfers({
        paymentId: payment.id,
        chainId,
        evidence,
        receiver: payment.receiver,
        amount: payment.amount
      })
    const levels = yield* settlementLimits.levels(payment)
    let excludeOrdinals: ReadonlyArray<number> = []
    while (true) {
      const verification = yield* chain.verify({
        env: payment.env,
        transactionId: evidence.transactionId,
        payer: evidence.payer,
        receiver: payment.receiver,
        amount: payment.amount,
        levels,
        notBefore: payment.createdAt,
        ...since,
        tokenChanges: evidence.tokenChanges,
        excludeOrdinals,
        byPerson: options.byPerson === true
      })
      yield* countVerification(verification)
      switch (verification._tag) {
        case "Pending":
          return { _tag: "Pending", payment, reason: verification.reason }
        case "Mismatch": {
          // A concurrent report of the same evidence may have settled it.
          const outcome =
            verification.reason === "already_used"
              ? yield* currentOutcomeIfClosed(payment, evidence)
              : undefined
          if (outcome !== undefined) return outcome
          // If only times were compared, a fast clock of ours makes an honest transfer look too old.
          const byClock = verification.reason === "too_old" && since.sinceBlock === undefined
          return {
            _tag: "Refused",
            reason: verification.reason,
            error: mismatchError(payment.env, verification),
            final: verification.confirmed && !byClock
          }
        }
      }
      const { authorization } = verification
      if (authorization !== undefined && options.byPerson !== true) {
        const signedPayment = yield* transferRepo.paymentOfNonce(payment.env, evidence.payer, authorization)
        if (Option.isSome(signedPayment) && signedPayment.value !== payment.id) {
          others.push(verification.ordinal)
          excludeOrdinals = [...excludeOrdinals, verification.ordinal]
          continue
        }
      }
      if (options.isDenied === true) {
        const outcome = yield* currentOutcomeIfClosed(payment, evidence)
        if (outcome !== undefined) return outcome
        const takenOrdinals = (yield* unavailableTransfers(verification.chainId)).map(
          ({ ordinal }) => ordinal
        )
        if (!takenOrdinals.includes(verification.ordinal))
          return { _tag: "Pending", payment, reason: "denied" }
        // A person has handled the transfer, or it pays another payment.
        excludeOrdinals = [...others, ...takenOrdinals]
        continue
      }
      const settled = yield* Effect.result(commitClaim(verification))
      if (Result.isSuccess(settled)) {
        if (Option.isSome(settled.success)) return { _tag: "Settled", payment: settled.success.value }
        const outcome = yield* currentOutcomeIfClosed(payment, evidence)
        if (outcome !== undefined) return outcome
        const transfers = yield* unavailableTransfers(verification.chainId)
        const handled = transfers.some(
          ({ blockHash, ordinal }) => blockHash === null && ordinal === verification.ordinal
        )
        // A claim on the same transaction still names a replaced block, or a person is attaching the transfer right
        // now.
        if (!handled) return { _tag: "Pending", payment, reason: "reorganised" }
        // The transaction may contain another equal transfer.
        excludeOrdinals = [...others, ...transfers.map(({ ordinal }) => ordinal)]
      } else {
        // The transfer pays another payment, or has paid one. The transaction may contain another equal transfer.
        others.push(verification.ordinal)
        const transfers = yield* unavailableTransfers(verification.chainId)
        excludeOrdinals = [...others, ...transfers.map(({ ordinal }) => ordinal)]
      }
    }
  })

  const check = Effect.fn("Payments.check")(function* (
    payment: Payment,
    evidence: Evidence,
    reportedAt: Date,
    options: { readonly sinceBlock?: bigint; readonly byPerson?: boolean } = {}
  ) {
    // Every settlement passes through here. A denied payer's transfer waits until a person attaches it, or until the
    // payer is off the list.
    const isDenied = options.byPerson !== true && denyList.has(evidence.payer)
    return yield* claim(payment, evidence, { ...options, isDenied }, (proof) =>
      settleProven(payment, evidence, reportedAt, proof)
    )
  })

  const replaceClaim = Effect.fn("Payments.replaceClaim")(function* (
    payment: Payment,
    evidence: Evidence,
    options: { readonly byPerson?: boolean } = {}
  ): Effect.fn.Return<ClaimReplaceResult> {
    let isReplaced = false
    const result = yield* claim(payment, evidence, { ...options, sinceBlock: 0n }, (transfer) =>
      Effect.gen(function* () {
        const at = yield* DateTime.nowAsDate
        const { env, id } = payment
        const { payer } = evidence
        isReplaced = yield* claimRepo.replaceClaim({ paymentId: id, env, payer, at, transfer })
        return isReplaced ? Option.some(payment) : Option.none()
      })
    )
    if (isReplaced) return { _tag: "Replaced" }
    return result._tag === "Pending" ? result : { _tag: "Refused" }
  })

  return { outcomeIfClosed, check, replaceClaim }
}
