// A hint that something is due: given in the process by whoever settles, and by
// Postgres to other instances. Only a hint; the worker's polling is the truth.
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Queue, Schedule } from "effect"
import { AppConfig } from "../AppConfig.ts"

const channel = "quittance_webhooks"

export class DeliveryWake extends Context.Service<
  DeliveryWake,
  {
    readonly signal: Effect.Effect<void>
    /** Completes with the next signal, or at once if one came since the last wait. */
    readonly wait: Effect.Effect<void>
  }
>()("quittance/webhooks/DeliveryWake") {
  /** Signals stay in this process: embedded database, memory. */
  static readonly layerLocal: Layer.Layer<DeliveryWake> = Layer.effect(
    DeliveryWake,
    Effect.gen(function* () {
      const signals = yield* Queue.sliding<void>(1)
      return DeliveryWake.of({
        signal: Effect.asVoid(Queue.offer(signals, undefined)),
        wait: Queue.take(signals)
      })
    })
  )

  /** Also hears other instances over LISTEN; a lost listener is replaced. */
  static readonly layerPostgres: Layer.Layer<DeliveryWake, never, PgClient.PgClient> = Layer.effect(
    DeliveryWake,
    Effect.gen(function* () {
      const pg = yield* PgClient.PgClient
      const signals = yield* Queue.sliding<void>(1)
      const signal = Effect.asVoid(Queue.offer(signals, undefined))

      // A half-open connection looks alive, so the listener is renewed every minute in any case.
      const listen = Effect.scoped(
        Effect.gen(function* () {
          const notifications = yield* pg.listen(channel)
          // What was notified while nobody listened is found by looking now.
          yield* signal
          yield* Effect.forever(Effect.andThen(Queue.take(notifications), signal))
        })
      ).pipe(Effect.timeoutOption("1 minute"))
      yield* listen.pipe(
        Effect.catchCause((cause) =>
          Effect.logWarning("The webhook listener was lost and is replaced", cause)
        ),
        Effect.repeat(Schedule.spaced("1 second")),
        Effect.forkScoped
      )
      return DeliveryWake.of({ signal, wait: Queue.take(signals) })
    })
  )

  static readonly layer = Layer.unwrap(
    Effect.map(AppConfig, ({ database }) =>
      database._tag === "Postgres" ? DeliveryWake.layerPostgres : DeliveryWake.layerLocal
    )
  )
}
