// Continues where people stop: finds the transfers of announced refunds, checks reported transactions again, and
// watches proven refunds until their blocks are final.

import { DateTime, Effect, Layer, Option } from "effect"
import { ChainVerifier } from "../../chain/ChainVerifier.ts"
import type { TransactionHash } from "../../domain/Chain.ts"
import { plusMillis } from "../../domain/plusMillis.ts"
import type { RefundFailure, RefundStatus } from "../../domain/Refund.ts"
import { MismatchReason } from "../../domain/VerdictReason.ts"
import { Alerts } from "../../platform/alerts/Alerts.ts"
import { DueWork } from "../../platform/workers/DueWork.ts"
import { sweepNetworks } from "../../platform/workers/sweepNetworks.ts"
import { watchResultOf } from "../watchResultOf.ts"
import type { DueRefund, Refund } from "./RefundRepo/RefundStore.ts"
import { RefundRepo } from "./RefundRepo.ts"
import { Refunds } from "./Refunds.ts"

const leaseMillis = 60_000
const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
/** A transaction that no node shows by then may have been replaced. */
const shownMillis = minute
/** A transaction that was not replaced is given up after this time. */
const unknownMillis = day
/** A refund that nobody sends is given up after this time. */
const unsentMillis = 30 * day

/** Older refunds are checked less often. */
const checkDelayMillis = (age: number) =>
  age < 10 * minute ? 2_500 : age < hour ? 15_000 : age < day ? 2 * minute : 10 * minute

const isMismatch = (reason: string | undefined): reason is MismatchReason =>
  MismatchReason.literals.some((literal) => literal === reason)

const make = Effect.gen(function* () {
  const refundRepo = yield* RefundRepo
  const refunds = yield* Refunds
  const chain = yield* ChainVerifier
  const alerts = yield* Alerts
  const due = yield* DueWork

  const raise = (refund: Refund, what: string, since?: Date) =>
    alerts.raise({
      kind: "refund_unproven",
      ...(since === undefined ? {} : { since }),
      tenant: Option.some(refund),
      subject: refund.id,
      message: `Refund ${refund.id}: ${what}`
    })

  const resolve = (refund: Refund) => alerts.resolve("refund_unproven", refund.id)

  /** Resolves the alert unless the refund still needs it. */
  const resolveUnless = Effect.fnUntraced(function* (refund: Refund, status: RefundStatus) {
    const current = yield* refundRepo.findRefund(refund, refund.id)
    if (Option.isSome(current) && current.value.status !== status) yield* resolve(refund)
  })

  const fail = Effect.fnUntraced(function* (refund: Refund, reason: RefundFailure, now: Date) {
    // Raised before the refund ends, because nothing checks it afterwards.
    if (reason !== "expired")
      yield* raise(
        refund,
        "the recorded transaction does not prove it. Send the refund, or record the correct transaction."
      )
    const ended = yield* refundRepo.endRefund(
      refund.id,
      { status: "failed", reason, transactionId: refund.transactionId },
      now
    )
    if (ended) return
    yield* resolveUnless(refund, "failed")
  })

  const checkAgain = (refund: Refund, now: Date) =>
    refundRepo.recordRefundCheck(
      refund,
      plusMillis(now, checkDelayMillis(now.getTime() - (refund.reportedAt ?? refund.createdAt).getTime()))
    )

  /** A transfer of the exact amount from a receiver to the recipient is the announced refund. */
  const findSentTransfer = Effect.fnUntraced(function* (refund: Refund) {
    let isUndecided = false
    for (const transactionId of yield* refundRepo.transfersMatching(refund)) {
      const checked = yield* refunds.check(refund, transactionId)
      if (checked._tag === "Proven" || checked._tag === "Ended") return "found"
      isUndecided ||= checked._tag === "Pending"
    }
    return isUndecided ? "undecided" : "none"
  })

  const checkReported = Effect.fnUntraced(function* (
    refund: Refund,
    transactionId: TransactionHash,
    now: Date
  ) {
    const checked = yield* refunds.check(refund, transactionId)
    switch (checked._tag) {
      case "Proven":
        return yield* resolve(refund)
      case "Ended":
        return
      case "Pending": {
        const age = now.getTime() - (refund.reportedAt ?? refund.createdAt).getTime()
        // A wallet that sped the transaction up has sent it under another hash.
        const sent = checked.isUnknown && age > shownMillis ? yield* findSentTransfer(refund) : "undecided"
        if (sent === "found") return yield* resolve(refund)
        if (sent === "none" && age > unknownMillis) return yield* fail(refund, "not_found", now)
        return yield* checkAgain(refund, now)
      }
      case "Refused": {
        const { reason } = checked.error
        if (checked.final && isMismatch(reason)) return yield* fail(refund, reason, now)
        return yield* checkAgain(refund, now)
      }
    }
  })

  const checkAnnounced = Effect.fnUntraced(function* (refund: Refund, now: Date) {
    const sent = yield* findSentTransfer(refund)
    if (sent === "found") return
    if (sent === "none" && now.getTime() - refund.createdAt.getTime() > unsentMillis)
      return yield* fail(refund, "expired", now)
    yield* checkAgain(refund, now)
  })

  const statusOf = ({
    amount,
    blockHash,
    blockNumber,
    env,
    ordinal,
    recipient,
    sender,
    transactionId
  }: Refund) =>
    blockHash === null ||
    blockNumber === null ||
    ordinal === null ||
    sender === null ||
    transactionId === null
      ? Effect.undefined
      : chain.blockStatus(env, {
          blockNumber,
          blockHash,
          transactionId,
          transfer: { payer: sender, receiver: recipient, amount, ordinal }
        })

  const watch = Effect.fn("RefundWatch.watch")(function* (refund: DueRefund) {
    const now = yield* DateTime.nowAsDate
    if (refund.status === "proven") {
      const result = watchResultOf(refund.droppedAt, yield* statusOf(refund), now)
      // The end of a drop is resolved before it is recorded; a lasting drop is alerted afterwards, at each check. If
      // an instance stops between the two, the next check makes up for it.
      if (result.droppedAt === null) yield* resolve(refund)
      const isRecorded = yield* refundRepo.recordRefundWatched(refund, result)
      if (isRecorded && result.droppedAt !== null) {
        yield* raise(
          refund,
          "its transfer is no longer on the chain. Wait for the transfer to return, or cancel the refund and create another.",
          result.droppedAt
        )
        yield* resolveUnless(refund, "proven")
      }
    } else if (refund.status === "pending") {
      yield* refund.transactionId === null
        ? checkAnnounced(refund, now)
        : checkReported(refund, refund.transactionId, now)
    }
  })

  yield* sweepNetworks("The refund sweep", due.next("refunds", "1 second"), {
    what: "Checking a refund",
    leaseMillis,
    batchSize: 64,
    concurrency: 8,
    take: refundRepo.takeDueRefunds,
    process: watch,
    annotations: ({ id }) => ({ refundId: id })
  })
})

/** Runs until its scope closes; any number of instances share the work. */
export const layer: Layer.Layer<never, never, RefundRepo | Refunds | ChainVerifier | Alerts> =
  Layer.effectDiscard(make)
