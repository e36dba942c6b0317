// A hint that something is due: signalled within the process when a payment settles, and to other instances
// through Postgres. It is only a hint; the worker's polling guarantees delivery.
import { PgClient } from "@effect/sql-pg"
import { Cause, Context, type Duration, Effect, Layer, Queue, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import { startPeriodic } from "../platform/workers/startWorker.ts"
import { ListenUnsupported, superviseListener } from "./DeliveryWorker/WakeListener.ts"

/** The channel that instances notify each other on. */
export const channel = "quittance_webhooks"

export class DeliveryWake extends Context.Service<
  DeliveryWake,
  {
    /** Something new is due: signals this process and every other instance. */
    readonly signal: Effect.Effect<void>
    /** Signals only this process. */
    readonly nudge: Effect.Effect<void>
    /** Completes with the next signal, or at once if one came since the last wait. */
    readonly wait: Effect.Effect<void>
  }
>()("quittance/webhooks/DeliveryWake") {
  /** Signals stay in this process. */
  static readonly layerLocal: Layer.Layer<DeliveryWake> = Layer.effect(
    DeliveryWake,
    Effect.gen(function* () {
      const signals = yield* Queue.sliding<void>(1)
      const signal = Effect.asVoid(Queue.offer(signals, undefined))
      return DeliveryWake.of({ signal, nudge: signal, wait: Queue.take(signals) })
    })
  )

  /**
   * Also signals other instances and receives their signals. NOTIFY locks the whole database until its
   * transaction ends, so it is sent apart from the settlement and at most 20 times a second.
   */
  static readonly layerPostgres = (
    heartbeat: Duration.Input = "15 seconds"
  ): Layer.Layer<DeliveryWake, never, PgClient.PgClient | SecureRandom.SecureRandom> =>
    Layer.effect(
      DeliveryWake,
      Effect.gen(function* () {
        const pg = yield* PgClient.PgClient
        const random = yield* SecureRandom.SecureRandom
        const instance = yield* random.uuidV4()
        const signals = yield* Queue.sliding<void>(1)
        const pendingNotifies = yield* Queue.sliding<void>(1)
        const nudge = Effect.asVoid(Queue.offer(signals, undefined))

        // If it fails, the other instances find the work by polling.
        yield* startPeriodic(
          "Notifying other instances",
          Effect.sleep("50 millis"),
          Effect.andThen(
            Queue.take(pendingNotifies),
            Effect.timeout(pg.notify(channel, instance), "5 seconds")
          ),
          "Debug"
        )
        yield* superviseListener({ pg, channel, instance, heartbeat, onNotify: nudge }).pipe(
          Effect.catchCause((cause) =>
            cause.reasons.some(
              (reason) => Cause.isFailReason(reason) && reason.error instanceof ListenUnsupported
            )
              ? Effect.fail(new ListenUnsupported())
              : Effect.logWarning("Lost the LISTEN connection; reconnecting", cause)
          ),
          Effect.repeat(Schedule.spaced("1 second")),
          Effect.catchTag("ListenUnsupported", () =>
            Effect.logInfo(
              "The database does not support LISTEN; work queued by other instances is found by polling"
            )
          ),
          Effect.forkScoped
        )
        return DeliveryWake.of({
          nudge,
          signal: Effect.andThen(nudge, Queue.offer(pendingNotifies, undefined)),
          wait: Queue.take(signals)
        })
      })
    )

  static readonly layer = DeliveryWake.layerPostgres()
}
