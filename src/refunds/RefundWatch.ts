// Goes on where people stop: finds the transfers of refunds that were announced, asks again about named
// transactions, and watches proven ones until their blocks are final.
import { DateTime, Effect, Layer, Option } from "effect"
import { Alerts } from "../alerts/Alerts.ts"
import { ChainVerifier } from "../chain/ChainVerifier.ts"
import type { RefundFailure } from "../domain/Refund.ts"
import { MismatchReason } from "../domain/VerdictReason.ts"
import { PaymentRepo, type WatchNote } from "../payments/PaymentRepo.ts"
import type { Refund } from "../payments/RefundStore.ts"
import { DueWork } from "../workers/DueWork.ts"
import { leased } from "../workers/leased.ts"
import { supervised } from "../workers/supervised.ts"
import { Refunds } from "./Refunds.ts"

const leaseMillis = 60_000
const watchMillis = 60_000
const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
/** A transaction that no node shows is given up. */
const unknownMillis = day
/** So is a refund that nobody sends. */
const unsentMillis = 30 * day
/** A dropped transfer that has not come back by then needs a person. */
const forgetDroppedMillis = 7 * day

/** The older, the seldomer. */
const pauseAt = (age: number) =>
  age < 10 * minute ? 2_500 : age < hour ? 15_000 : age < day ? 2 * minute : 10 * minute

const isMismatch = (reason: string | undefined): reason is MismatchReason =>
  MismatchReason.literals.some((one) => one === reason)

const make = Effect.gen(function* () {
  const repo = yield* PaymentRepo
  const refunds = yield* Refunds
  const chain = yield* ChainVerifier
  const alerts = yield* Alerts
  const due = yield* DueWork

  const raise = (refund: Refund, what: string) =>
    alerts.raise({
      kind: "refund_unproven",
      tenant: Option.some(refund),
      subject: refund.id,
      message: `Refund ${refund.id}: ${what}`
    })

  const fail = Effect.fnUntraced(function* (refund: Refund, reason: RefundFailure, now: Date) {
    const ended = yield* repo.endRefund(
      refund.id,
      { status: "failed", reason, transactionId: refund.transactionId },
      now
    )
    if (ended && reason !== "expired")
      yield* raise(
        refund,
        "the transaction that was named for it does not prove it. Send it, or record the right one."
      )
  })

  const checkAgain = (refund: Refund, now: Date) =>
    repo.noteRefundCheck(
      refund,
      new Date(now.getTime() + pauseAt(now.getTime() - (refund.namedAt ?? refund.createdAt).getTime()))
    )

  const checkNamed = Effect.fnUntraced(function* (refund: Refund, now: Date) {
    const { namedAt, transactionId } = refund
    if (transactionId === null) return
    const checked = yield* refunds.check(refund, transactionId)
    switch (checked._tag) {
      case "Proven":
      case "Ended":
        return
      case "Pending": {
        const age = now.getTime() - (namedAt ?? refund.createdAt).getTime()
        if (checked.isUnknown && age > unknownMillis) return yield* fail(refund, "not_found", now)
        return yield* checkAgain(refund, now)
      }
      case "Refused": {
        const { reason } = checked.error
        if (checked.final && isMismatch(reason)) return yield* fail(refund, reason, now)
        return yield* checkAgain(refund, now)
      }
    }
  })

  /** Money that left a receiver for the recipient, of the exact amount, is the refund that was announced. */
  const findSent = Effect.fnUntraced(function* (refund: Refund, now: Date) {
    let waits = false
    for (const transactionId of yield* repo.sentFor(refund)) {
      const checked = yield* refunds.check(refund, transactionId)
      if (checked._tag === "Proven" || checked._tag === "Ended") return
      waits ||= checked._tag === "Pending"
    }
    if (!waits && now.getTime() - refund.createdAt.getTime() > unsentMillis)
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

  const noteOf = Effect.fnUntraced(function* (refund: Refund, now: Date): Effect.fn.Return<WatchNote> {
    const status = yield* statusOf(refund)
    const later = new Date(now.getTime() + watchMillis)
    switch (status?._tag) {
      case "Canonical":
        return { droppedAt: null, watchAt: status.final ? null : later }
      case "Moved":
        return { moved: status, droppedAt: null, watchAt: later }
      case "Dropped": {
        // Told once: what was acknowledged stays so.
        if (refund.droppedAt === null)
          yield* raise(
            refund,
            "the chain no longer shows its transfer. Wait for it to return, or cancel the refund and send it again."
          )
        const droppedAt = refund.droppedAt ?? now
        const given = now.getTime() - droppedAt.getTime() > forgetDroppedMillis
        return { droppedAt, watchAt: given ? null : later }
      }
      default:
        return { droppedAt: refund.droppedAt, watchAt: later }
    }
  })

  const watch = Effect.fn("RefundWatch.watch")(function* (refund: Refund) {
    const now = yield* DateTime.nowAsDate
    if (refund.status === "proven") {
      const note = yield* noteOf(refund, now)
      // Before it is noted, so that an instance that ends between the two leaves no alert open.
      if (refund.droppedAt !== null && note.droppedAt === null)
        yield* alerts.resolve("refund_unproven", refund.id)
      yield* repo.noteRefundWatched(refund.id, note)
    } else if (refund.status === "pending") {
      yield* refund.transactionId === null ? findSent(refund, now) : checkNamed(refund, now)
    }
  })

  yield* supervised(
    "The refund sweep",
    due.next("refunds", "1 second"),
    leased({
      what: "Checking a refund",
      leaseMillis,
      batch: 64,
      concurrency: 8,
      take: repo.takeDueRefunds,
      each: watch,
      annotations: ({ id }) => ({ refundId: id })
    })
  )
})

/** Runs until its scope closes; any number of instances share the work. */
export const layer: Layer.Layer<never, never, PaymentRepo | Refunds | ChainVerifier | Alerts> =
  Layer.effectDiscard(make)
