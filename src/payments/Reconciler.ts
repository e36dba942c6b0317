// Goes on where browsers stop: looks at kept reports until they settle or end,
// fails what was never paid, and watches settled blocks until they are final.
import { DateTime, Duration, Effect, Layer, Option, Schedule } from "effect"
import { AppConfig } from "../AppConfig.ts"
import { Alerts } from "../alerts/Alerts.ts"
import { ChainVerifier } from "../chain/ChainVerifier.ts"
import { type DueReport, PaymentRepo, type WatchedTransfer } from "./PaymentRepo.ts"
import { Payments } from "./Payments.ts"

/** Delays between looks at one report: 5 s doubling to 5 minutes. */
const lookAgain = Schedule.min([Schedule.exponential("5 seconds"), Schedule.spaced("5 minutes")])

/** The delay before the next look after `checks` looks. */
const delayOf = (checks: number) =>
  Effect.gen(function* () {
    const step = yield* Schedule.toStep(lookAgain)
    let delay = Duration.seconds(5)
    // 5 s doubles past 5 minutes within seven steps.
    for (let look = 0; look <= Math.min(checks, 7); look++) delay = (yield* step(0, undefined))[1]
    return Duration.toMillis(delay)
  }).pipe(Effect.orElseSucceed(() => 300_000))

const leaseMillis = 60_000
const batch = 20
const watchMillis = 60_000
/** Evidence that never verified fails its payment this long after the last report. */
const unverifiedMillis = 24 * 3_600_000

const every = <E, R>(what: string, interval: Duration.Input, work: Effect.Effect<void, E, R>) =>
  work.pipe(
    Effect.catchCause((cause) => Effect.logError(`${what} stumbled and goes on`, cause)),
    Effect.repeat(Schedule.spaced(interval)),
    Effect.forkScoped
  )

const make = Effect.gen(function* () {
  const { paymentExpiry } = yield* AppConfig
  const repo = yield* PaymentRepo
  const payments = yield* Payments
  const chain = yield* ChainVerifier
  const alerts = yield* Alerts
  const later = (millis: number) => Effect.map(DateTime.nowAsDate, (now) => new Date(now.getTime() + millis))

  const look = Effect.fn("Reconciler.look")(function* ({ payment, evidence, reportedAt, checks }: DueReport) {
    const again = Effect.fnUntraced(function* (outcome: string) {
      yield* repo.noteCheck(payment.id, evidence, outcome, yield* later(yield* delayOf(checks)))
    })
    yield* payments.settle(payment, evidence, reportedAt).pipe(
      Effect.matchEffect({
        onSuccess: (outcome) => (outcome._tag === "Pending" ? again("pending") : Effect.void),
        // A confirmed mismatch has ended the looking already; an unconfirmed one is looked at again.
        onFailure: (error) =>
          error._tag === "ChainUnavailableError"
            ? again("rpc_unavailable")
            : error._tag === "TestSettlementMismatch" && error.retryAfter !== undefined
              ? again(error.reason ?? "mismatch")
              : Effect.void
      })
    )
  })

  const watch = Effect.fn("Reconciler.watch")(function* (transfer: WatchedTransfer) {
    const status = yield* chain.blockStatus(transfer.env, transfer)
    const next = yield* later(watchMillis)
    switch (status._tag) {
      case "Canonical":
        return yield* repo.noteWatched(transfer.paymentId, undefined, null, status.final ? null : next)
      case "Moved":
        return yield* repo.noteWatched(
          transfer.paymentId,
          { number: status.blockNumber, hash: status.blockHash },
          null,
          next
        )
      case "Dropped": {
        yield* alerts.raise({
          kind: "transfer_dropped",
          tenant: Option.some(transfer),
          subject: transfer.paymentId,
          message: `The chain no longer shows the transfer that settled this payment (${status.reason}). The payment stays settled; decide with the buyer.`
        })
        return yield* repo.noteWatched(transfer.paymentId, undefined, yield* DateTime.nowAsDate, next)
      }
      case "Unknown":
        return yield* repo.noteWatched(
          transfer.paymentId,
          undefined,
          transfer.dropped ? yield* DateTime.nowAsDate : null,
          next
        )
    }
  })

  yield* every(
    "The reconciler of reports",
    "1 second",
    Effect.gen(function* () {
      const due = yield* repo.takeDueReports(yield* DateTime.nowAsDate, yield* later(leaseMillis), batch)
      yield* Effect.forEach(due, look, { concurrency: 5, discard: true })
    })
  )
  yield* every(
    "The watch over settled blocks",
    "5 seconds",
    Effect.gen(function* () {
      const due = yield* repo.takeWatched(yield* DateTime.nowAsDate, yield* later(leaseMillis), batch)
      yield* Effect.forEach(due, watch, { concurrency: 5, discard: true })
    })
  )
  yield* every(
    "The sweeper of unpaid payments",
    "30 seconds",
    Effect.gen(function* () {
      const at = yield* DateTime.nowAsDate
      yield* repo.expire({
        openedBefore: new Date(at.getTime() - Duration.toMillis(paymentExpiry)),
        reportedBefore: new Date(at.getTime() - unverifiedMillis),
        at
      })
    })
  )
})

/** Runs until its scope closes; any number of instances share the work. */
export const layer: Layer.Layer<never, never, AppConfig | PaymentRepo | Payments | ChainVerifier | Alerts> =
  Layer.effectDiscard(make)
