// Raises alerts: a row for the dashboard and a line in the log, once per open subject.
import { Context, DateTime, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import type { AlertKind } from "../../domain/AlertKind.ts"
import type { Alert } from "./Alert.ts"
import { AlertRepo } from "./AlertRepo.ts"

const make = Effect.gen(function* () {
  const repo = yield* AlertRepo
  const random = yield* SecureRandom.SecureRandom
  return Alerts.of({
    raise: Effect.fn("Alerts.raise")(function* (alert) {
      const raised = yield* repo.insert(yield* random.uuidV7(), alert, yield* DateTime.nowAsDate)
      if (raised) {
        yield* Effect.logError(alert.message).pipe(
          Effect.annotateLogs({ alert: alert.kind, subject: alert.subject })
        )
      }
    }),
    resolve: Effect.fn("Alerts.resolve")(function* (kind, subject, raisedBefore) {
      const closed = yield* repo.close(kind, subject, yield* DateTime.nowAsDate, raisedBefore)
      if (closed) {
        yield* Effect.logInfo(`Alert resolved: ${kind} about ${subject}`).pipe(
          Effect.annotateLogs({ alert: kind, subject })
        )
      }
    })
  })
})

export class Alerts extends Context.Service<
  Alerts,
  {
    readonly raise: (alert: Alert) => Effect.Effect<void>
    /** The cause is gone: closes the subject's open alert, if it was raised before `raisedBefore`. */
    readonly resolve: (kind: AlertKind, subject: string, raisedBefore?: Date) => Effect.Effect<void>
  }
>()("quittance/platform/Alerts") {
  static readonly layer: Layer.Layer<Alerts, never, SqlClient.SqlClient | SecureRandom.SecureRandom> =
    Layer.effect(Alerts, make).pipe(Layer.provide(AlertRepo.layer))

  /** Alerts are only logged. */
  static readonly layerLog: Layer.Layer<Alerts> = Layer.succeed(Alerts, {
    raise: ({ kind, message, subject }) =>
      Effect.logError(message).pipe(Effect.annotateLogs({ alert: kind, subject })),
    resolve: () => Effect.void
  })
}
