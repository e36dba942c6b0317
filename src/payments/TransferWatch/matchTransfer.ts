// Settles what a transfer pays, or says what kind it is: first what is signed for a payment, then what names the
// transaction or its nonce, then what it stands for after a reorganisation, then what is likely.
import { DateTime, Effect } from "effect"
import type { ChainVerifier } from "../../chain/ChainVerifier.ts"
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
  isNamed,
  matchOrder,
  type TransferSender
} from "./matchOrder.ts"
import { transferKindOf } from "./transferKindOf.ts"

/** The pause before a transfer is matched again: a tenth of its age, within these. */
const matchAgainMillis = { least: 1_000, most: 15_000 }
/** For so long after a transfer was read, nodes that do not say who sent it, or by which authorization, are asked again. */
const senderPatienceMillis = 10 * 60_000

/** True while the chain has not decided. What waits for the merchant is listed. */
const isUndecided = (found: ReportCheck) => found._tag === "Pending" && found.reason !== "denied"

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
   * Settles the first of the payments that the transfer proves. `waiting` while the chain has not decided about
   * one: no likelier payment is passed over because a node has failed.
   */
  const settleOne = Effect.fnUntraced(function* (
    transfer: IncomingTransfer,
    matches: ReadonlyArray<Match>
  ): Effect.fn.Return<"settled" | "waiting" | "unmatched"> {
    for (const { attempts, payment, reportedAt } of matches) {
      const at = yield* DateTime.nowAsDate
      const found = yield* payments.check(
        payment,
        evidenceOf(transfer),
        reportedAt ?? at,
        // What an attempt came before is not too old, wherever a reorganisation puts it.
        attempts.length === 0 ? {} : { sinceBlock: 0n }
      )
      if (
        found._tag === "Settled" &&
        found.payment.reported?.evidence.transactionId === transfer.transactionId
      )
        return "settled"
      if (isUndecided(found)) return "waiting"
    }
    return "unmatched"
  })

  /**
   * A transfer by an authorization whose nonce was asked for a payment, brought onto the chain by whoever had it.
   * The nonce is the payment's alone: while the nodes do not say which was used, the transfer may be that one's.
   */
  const settleSigned = Effect.fnUntraced(function* (
    transfer: IncomingTransfer,
    mayHear: boolean
  ): Effect.fn.Return<"settled" | "waiting" | "refused" | "unsigned"> {
    const nonces = yield* chain.usedAuthorizations(transfer.env, transfer.transactionId, transfer.payer)
    if (nonces === undefined) return mayHear ? "waiting" : "unsigned"
    const asked = nonces.length === 0 ? [] : yield* transferRepo.askedBy(transfer, nonces)
    if (asked.length === 0) return "unsigned"
    for (const payment of asked) {
      if (payment.status === "settled") {
        const followed = yield* payments.follow(payment, evidenceOf(transfer))
        if (followed === "Followed") return "settled"
        if (followed === "Pending") return "waiting"
        continue
      }
      const at = yield* DateTime.nowAsDate
      const found = yield* payments.check(payment, evidenceOf(transfer), at, { sinceBlock: 0n })
      if (
        found._tag === "Settled" &&
        found.payment.reported?.evidence.transactionId === transfer.transactionId
      )
        return "settled"
      if (isUndecided(found)) return "waiting"
    }
    return "refused"
  })

  /** A transfer in place of one that a reorganisation has dropped. One whose loss nobody has noted yet is waited for. */
  const followReplaced = Effect.fnUntraced(function* (
    transfer: IncomingTransfer,
    { mayHear, paysElse, sender }: { mayHear: boolean; paysElse: boolean; sender: TransferSender }
  ): Effect.fn.Return<"settled" | "waiting" | "unmatched"> {
    const replaced = yield* replacedClaims(claimRepo, chain, transfer, sender, paysElse)
    if (replaced === undefined) return mayHear ? "waiting" : "unmatched"
    for (const { isNoted, payment } of replaced) {
      if (!isNoted) {
        if (mayHear) return "waiting"
        continue
      }
      const followed = yield* payments.follow(payment, evidenceOf(transfer))
      if (followed === "Followed") return "settled"
      if (followed === "Pending") return "waiting"
    }
    return "unmatched"
  })

  return Effect.fn("TransferWatch.match")(function* (transfer: IncomingTransfer) {
    const later = Effect.flatMap(DateTime.nowAsDate, (now) => {
      const { least, most } = matchAgainMillis
      const pause = Math.min(most, Math.max(least, (now.getTime() - transfer.storedAt.getTime()) / 10))
      return transferRepo.noteMatch(transfer.id, { matchAt: new Date(now.getTime() + pause) })
    })
    // An authorization with the same terms is being settled: the transfer may be its own.
    if (yield* transferRepo.awaitsSettlement(transfer)) return yield* later
    const age = (yield* DateTime.nowAsDate).getTime() - transfer.storedAt.getTime()
    const isRecent = age < senderPatienceMillis
    const signed = yield* settleSigned(transfer, isRecent)
    if (signed === "settled") return
    if (signed === "waiting") return yield* later
    // What is signed for one payment pays no other, however likely that one is.
    const matches = signed === "refused" ? [] : yield* transferRepo.matchesOf(transfer)
    const sender =
      matches.length === 0 ? undefined : yield* chain.sender(transfer.env, transfer.transactionId)
    const mayHear = sender === undefined && isRecent
    if (mayHear && firstDependsOnSender(transfer, matches)) return yield* later
    const ordered = matchOrder(transfer, matches, sender)
    const isSaid = (one: Match) => isNamed(transfer, one, sender)
    const said = yield* settleOne(transfer, ordered.filter(isSaid))
    if (said === "settled") return
    if (said === "waiting") return yield* later
    // What has the nonce of a transfer that has gone pays that one's payment, before any that is only likely.
    const paysElse = ordered.length > 0
    const replaced =
      signed === "refused"
        ? "unmatched"
        : yield* followReplaced(transfer, { mayHear: isRecent, paysElse, sender })
    if (replaced === "settled") return
    if (replaced === "waiting") return yield* later
    const likely = yield* settleOne(
      transfer,
      ordered.filter((one) => !isSaid(one))
    )
    if (likely === "settled") return
    if (likely === "waiting") return yield* later
    if (mayHear && dependsOnSender(transfer, matches)) return yield* later
    const kind = transferKindOf(transfer, yield* transferRepo.likelyPayments(transfer))
    yield* transferRepo.noteMatch(transfer.id, { kind })
  })
}
