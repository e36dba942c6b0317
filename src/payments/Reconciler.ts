// Continues where browsers stop: checks stored reports until they settle or end, fails payments that were never paid,
// and watches settled blocks until they are final. Work is leased, so any number of instances share it.

import { DateTime, Duration, Effect, Layer, Option, Schedule } from "effect"
import { ChainVerifier } from "../chain/ChainVerifier.ts"
import type { Env } from "../domain/Chain.ts"
import { byEnv, networks } from "../domain/networks.ts"
import { pluralised } from "../domain/pluralised.ts"
import { plusMillis } from "../domain/plusMillis.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { Alerts } from "../platform/alerts/Alerts.ts"
import { Networks } from "../platform/Networks.ts"
import { DueWork } from "../platform/workers/DueWork.ts"
import { delayAfter } from "../platform/workers/RetrySchedule.ts"
import { startWorker } from "../platform/workers/startWorker.ts"
import { sweepNetworks } from "../platform/workers/sweepNetworks.ts"
import type { DueReport, WatchedTransfer } from "./PaymentRepo/PaymentStore.ts"
import { PaymentRepo } from "./PaymentRepo.ts"
import { openedSince, type ReportCheck } from "./Payments/evidenceCheck.ts"
import { verdictOf } from "./Payments/verdictOf.ts"
import { Payments } from "./Payments.ts"
import { TransferRepo } from "./TransferRepo.ts"
import { watchResultOf } from "./watchResultOf.ts"

/** Delays between checks of a report that the chain has not decided: 5 s doubling to 5 minutes. */
const checkSchedule = Schedule.min([Schedule.exponential("5 seconds"), Schedule.spaced("5 minutes")])

/**
 * Seconds between checks of a transaction that no node shows: six checks within ten minutes, and one more after the
 * deadline. If the transfer is mined in between, the chain reader finds it. A new report starts over.
 */
const notFoundDelaysSeconds = [10, 25, 60, 150, 350] as const

/** Milliseconds until the next check after `checks` of them. */
const checkDelayMillis = (checks: number) =>
  // 5 s doubles past 5 minutes within seven steps.
  Effect.map(
    delayAfter(checkSchedule, Math.min(checks, 7) + 1),
    Option.match({ onNone: () => 300_000, onSome: Duration.toMillis })
  )

/** Longer than a batch takes if nodes time out. */
const leaseMillis = 90_000
const batchSize = 64
/** A check sends a node two requests at once, so a backlog uses half of the node's 32 slots. */
const concurrency = 8
/** Evidence that never verified fails its payment this long after the last report. */
const unverifiedMillis = 24 * 3_600_000
const sweepLimit = 500
/** The time for which an unverified report is stored after its payment has ended. */
const reportRetentionMillis = 30 * 24 * 3_600_000
/** After a start, no payment expires for this long, so that buyers can report their transfers. */
const readyGraceMillis = 15 * 60_000

const make = Effect.gen(function* () {
  const { paymentExpiry } = yield* AppConfig
  const { executes, executing } = yield* Networks
  const repo = yield* PaymentRepo
  const transferRepo = yield* TransferRepo
  const due = yield* DueWork
  const payments = yield* Payments
  const chain = yield* ChainVerifier
  const alerts = yield* Alerts
  const startedAt = yield* DateTime.nowAsDate
  const graceMillis = Math.min(readyGraceMillis, Duration.toMillis(paymentExpiry))
  const fromNow = (millis: number) => Effect.map(DateTime.nowAsDate, (now) => plusMillis(now, millis))

  const check = Effect.fn("Reconciler.check")(function* ({
    attemptBlock,
    checks,
    evidence,
    leaseUntil,
    payment,
    reportedAt
  }: DueReport) {
    yield* Effect.annotateCurrentSpan("payment.id", payment.id)
    const answer = yield* payments.check(payment, evidence, reportedAt, openedSince(payment, attemptBlock))
    const verdict = verdictOf(answer, yield* DateTime.nowAsDate)
    if (verdict === undefined) return
    const deadline = plusMillis(reportedAt, unverifiedMillis)
    const now = yield* DateTime.nowAsDate
    const nextCheckAt = yield* nextCheck(answer, checks, now, deadline)
    yield* repo.recordCheck(payment.id, evidence, verdict, { leaseUntil, nextCheckAt })
  })

  /** The time of a report's next check; null once the chain's answer is final, or conclusive past the deadline. */
  const nextCheck = Effect.fnUntraced(function* (
    answer: ReportCheck,
    checks: number,
    now: Date,
    deadline: Date
  ) {
    const unknown = answer._tag === "Pending" && answer.reason === "not_found"
    const conclusive = unknown || answer._tag === "Refused"
    if (conclusive && now >= deadline) return null
    if (answer._tag === "Refused" && answer.final) return null
    if (!unknown) return yield* fromNow(yield* checkDelayMillis(checks))
    const wait = notFoundDelaysSeconds[checks]
    return wait === undefined ? deadline : yield* fromNow(wait * 1_000)
  })

  const watch = Effect.fn("Reconciler.watch")(function* (transfer: WatchedTransfer) {
    const status = yield* chain.blockStatus(transfer.env, transfer)
    const result = watchResultOf(transfer.droppedAt, status, yield* DateTime.nowAsDate)
    // Before the check is recorded, so that an instance that stops between the two leaves no alert open. Another
    // transfer may have replaced this one between a check that missed it and its alert.
    if ((transfer.droppedAt !== null || transfer.isReplacement) && result.droppedAt === null) {
      yield* alerts.resolve("transfer_dropped", transfer.paymentId)
    }
    // If another instance has taken the transfer since, that instance alerts.
    if (!(yield* repo.recordWatched(transfer, result))) return
    // After the check is recorded, so that the person who is alerted can no longer refund the payment. Raised at each
    // check, because an instance may stop between the two.
    if (status._tag === "Dropped" && result.droppedAt !== null) {
      yield* alerts.raise({
        kind: "transfer_dropped",
        tenant: Option.some(transfer),
        subject: transfer.paymentId,
        since: result.droppedAt,
        message: `The transfer that settled payment ${transfer.paymentId} is no longer on the chain (${status.reason}). The payment stays settled, but you may not have received the money. Agree with the buyer how to proceed.`
      })
    }
  })

  for (const env of executing.filter((candidate) => networks[candidate].execution !== "open")) {
    const requeued = yield* repo.requeueRecordedReports(env, startedAt)
    if (requeued > 0)
      yield* Effect.logInfo(
        `Checking ${pluralised(requeued, "report")} on ${networks[env].name}, recorded while it was closed`
      )
  }
  yield* sweepNetworks("The report sweep", due.next("reports", "1 second"), {
    what: "Checking a report",
    leaseMillis,
    batchSize,
    concurrency,
    take: repo.takeDueReports,
    process: check,
    annotations: ({ payment }) => ({ paymentId: payment.id })
  })
  yield* sweepNetworks("The finality sweep", due.next("settled blocks", "2 seconds"), {
    what: "Checking the block of a settled payment",
    leaseMillis,
    batchSize,
    concurrency,
    take: repo.takeWatched,
    process: watch,
    annotations: ({ paymentId }) => ({ paymentId })
  })
  yield* startWorker(
    "The expiry sweep",
    Effect.sleep("30 seconds"),
    Effect.gen(function* () {
      const at = yield* DateTime.nowAsDate
      if (at.getTime() - startedAt.getTime() < graceMillis) return false
      // Transfers from before the deadline have been read from the chain by then.
      const readUntil = Effect.fnUntraced(function* (env: Env) {
        if (!executes(env)) return at
        const cursor = yield* transferRepo.cursor(env)
        const cursorMillis = Option.match(cursor, {
          onNone: () => 0,
          onSome: ({ blockTime }) => blockTime.getTime()
        })
        return new Date(Math.min(cursorMillis, at.getTime()))
      })
      const before = (time: Date) => plusMillis(time, -Duration.toMillis(paymentExpiry))
      const failed = yield* repo.expire({
        openedBefore: yield* Effect.all(byEnv((env) => Effect.map(readUntil(env), before))),
        reportedBefore: plusMillis(at, -unverifiedMillis),
        at,
        limit: sweepLimit
      })
      return failed.length === sweepLimit
    })
  )
  yield* startWorker(
    "Pruning reports",
    Effect.sleep("10 minutes"),
    Effect.map(
      Effect.flatMap(fromNow(-reportRetentionMillis), (before) => repo.pruneReports(before, sweepLimit)),
      (pruned) => pruned === sweepLimit
    )
  )
})

/** Runs until its scope closes; any number of instances share the work. */
export const layer: Layer.Layer<
  never,
  never,
  AppConfig | PaymentRepo | TransferRepo | Payments | ChainVerifier | Alerts
> = Layer.effectDiscard(make)
