// Settles the payment that a transfer pays, or classifies the transfer. The payments are tried in this order:
// 1. the payment that it was signed for;
// 2. payments with a report of its transaction, or an attempt with its nonce;
// 3. the payment of a dropped transfer that it replaces;
// 4. likely payments.
import { DateTime, Effect } from "effect"
import type { ChainVerifier } from "../../chain/ChainVerifier.ts"
import { plusMillis } from "../../domain/plusMillis.ts"
import type { ClaimRepo } from "../ClaimRepo.ts"
import { evidenceOf } from "../evidenceOf.ts"
import type { ReportCheck } from "../Payments/evidenceCheck.ts"
import type { Payments } from "../Payments.ts"
import { replacedClaims } from "../replacedClaims.ts"
import type { IncomingTransfer, Match } from "../TransferRepo/TransferStore.ts"
import type { TransferRepo } from "../TransferRepo.ts"
import {
  dependsOnSender,
  firstDependsOnSender,
  isIdentified,
  rankMatches,
  type TransferSender
} from "./rankMatches.ts"
import { transferKindOf } from "./transferKindOf.ts"

/** The pause before a transfer is matched again: a tenth of its age, within these limits. */
const matchAgainMillis = { least: 1_000, most: 15_000 }
/** For this long after a transfer was read, nodes that do not report its sender or authorization are queried again. */
const senderTimeoutMillis = 10 * 60_000

/** True while the chain has not decided. A denied payer's transfer is decided: it waits for the merchant. */
const isUndecided = (answer: ReportCheck) => answer._tag === "Pending" && answer.reason !== "denied"

export const makeMatchTransfer = ({
  transferRepo,
  claimRepo,
  payments,
  chain
}: {
  readonly transferRepo: TransferRepo["Service"]
  readonly claimRepo: ClaimRepo["Service"]
  readonly payments: Payments["Service"]
  readonly chain: ChainVerifier["Service"]
}) => {
  /**
   * Settles the first payment that the transfer proves. Returns `waiting` while the chain has not decided about one,
   * so that a node's failure never passes over a likelier payment.
   */
  const settleOne = Effect.fnUntraced(function* (
    transfer: IncomingTransfer,
    matches: ReadonlyArray<Match>
  ): Effect.fn.Return<"settled" | "waiting" | "unmatched"> {
    for (const { attempts, payment, reportedAt } of matches) {
      const at = yield* DateTime.nowAsDate
      const answer = yield* payments.check(
        payment,
        evidenceOf(transfer),
        reportedAt ?? at,
        // A transfer that the payer announced beforehand is never too old, whichever block a reorganisation moves it
        // to.
        attempts.length === 0 ? {} : { sinceBlock: 0n }
      )
      if (
        answer._tag === "Settled" &&
        answer.payment.reported?.evidence.transactionId === transfer.transactionId
      )
        return "settled"
      if (isUndecided(answer)) return "waiting"
    }
    return "unmatched"
  })

  /**
   * A transfer by an authorization whose nonce was requested for a payment, submitted by anyone. The nonce belongs
   * only to that payment: while the nodes do not report which authorization was used, the transfer may pay it.
   */
  const settleSigned = Effect.fnUntraced(function* (
    transfer: IncomingTransfer,
    mayWait: boolean
  ): Effect.fn.Return<"settled" | "waiting" | "refused" | "unsigned"> {
    const nonces = yield* chain.usedAuthorizations(transfer.env, transfer.transactionId, transfer.payer)
    if (nonces === undefined) return mayWait ? "waiting" : "unsigned"
    const signedPayments = nonces.length === 0 ? [] : yield* transferRepo.paymentsOfNonces(transfer, nonces)
    if (signedPayments.length === 0) return "unsigned"
    for (const payment of signedPayments) {
      if (payment.status === "settled") {
        const outcome = yield* payments.replaceClaim(payment, evidenceOf(transfer))
        if (outcome._tag === "Replaced") return "settled"
        if (outcome._tag === "Pending") return "waiting"
        continue
      }
      const at = yield* DateTime.nowAsDate
      const answer = yield* payments.check(payment, evidenceOf(transfer), at, { sinceBlock: 0n })
      if (
        answer._tag === "Settled" &&
        answer.payment.reported?.evidence.transactionId === transfer.transactionId
      )
        return "settled"
      if (isUndecided(answer)) return "waiting"
    }
    return "refused"
  })

  /** A transfer that replaces one dropped by a reorganisation. If nobody has recorded the loss yet, it waits. */
  const followReplaced = Effect.fnUntraced(function* (
    transfer: IncomingTransfer,
    { mayWait, hasOtherMatch, sender }: { mayWait: boolean; hasOtherMatch: boolean; sender: TransferSender }
  ): Effect.fn.Return<"settled" | "waiting" | "unmatched"> {
    const replaced = yield* replacedClaims(claimRepo, chain, transfer, sender, hasOtherMatch)
    if (replaced === undefined) return mayWait ? "waiting" : "unmatched"
    for (const { isRecorded, payment } of replaced) {
      if (!isRecorded) {
        if (mayWait) return "waiting"
        continue
      }
      const outcome = yield* payments.replaceClaim(payment, evidenceOf(transfer))
      if (outcome._tag === "Replaced") return "settled"
      if (outcome._tag === "Pending") return "waiting"
    }
    return "unmatched"
  })

  return Effect.fn("TransferWatch.match")(function* (transfer: IncomingTransfer) {
    const later = Effect.flatMap(DateTime.nowAsDate, (now) => {
      const { least, most } = matchAgainMillis
      const pause = Math.min(most, Math.max(least, (now.getTime() - transfer.storedAt.getTime()) / 10))
      return transferRepo.recordMatch(transfer.id, { matchAt: plusMillis(now, pause) })
    })
    // An authorization with the same terms is being settled: the transfer may belong to it.
    if (yield* transferRepo.awaitsSettlement(transfer)) return yield* later
    const age = (yield* DateTime.nowAsDate).getTime() - transfer.storedAt.getTime()
    const isRecent = age < senderTimeoutMillis
    const signed = yield* settleSigned(transfer, isRecent)
    if (signed === "settled") return
    if (signed === "waiting") return yield* later
    // A transfer signed for one payment pays no other, however likely the other is.
    const matches = signed === "refused" ? [] : yield* transferRepo.matchesOf(transfer)
    const sender =
      matches.length === 0 ? undefined : yield* chain.sender(transfer.env, transfer.transactionId)
    const mayWait = sender === undefined && isRecent
    if (mayWait && firstDependsOnSender(transfer, matches)) return yield* later
    const ordered = rankMatches(transfer, matches, sender)
    const isIdentifiedIn = (match: Match) => isIdentified(transfer, match, sender)
    const namedPayment = yield* settleOne(transfer, ordered.filter(isIdentifiedIn))
    if (namedPayment === "settled") return
    if (namedPayment === "waiting") return yield* later
    // A transfer with the nonce of a dropped transfer settles that transfer's payment, before any merely likely match.
    const hasOtherMatch = ordered.length > 0
    const replaced =
      signed === "refused"
        ? "unmatched"
        : yield* followReplaced(transfer, { mayWait: isRecent, hasOtherMatch, sender })
    if (replaced === "settled") return
    if (replaced === "waiting") return yield* later
    const likely = yield* settleOne(
      transfer,
      ordered.filter((match) => !isIdentifiedIn(match))
    )
    if (likely === "settled") return
    if (likely === "waiting") return yield* later
    if (mayWait && dependsOnSender(transfer, matches)) return yield* later
    const kind = transferKindOf(transfer, yield* transferRepo.likelyPayments(transfer))
    yield* transferRepo.recordMatch(transfer.id, { kind })
  })
}
