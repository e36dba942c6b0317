// What a person must look at: a row for the dashboard and a line in the log, once
// for each open subject.
import { Context, DateTime, Effect, Layer, type Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import type { AlertKind } from "../../domain/AlertKind.ts"
import type { Tenant } from "../../domain/Merchant.ts"
import { AlertRepo } from "./AlertRepo.ts"

export interface Alert {
  readonly kind: AlertKind
  /** Whose alert; none for the operator's. */
  readonly tenant: Option.Option<Tenant>
  /** The member to notify; every member when absent. */
  readonly userId?: string
  /** What it is about, such as a payment's id or a node's host. One open alert for each kind and subject. */
  readonly subject: string
  /** Raised once per subject from then on, even after it was acknowledged. */
  readonly since?: Date
  /**
   * The same one goes on, and nobody is told again, where it was closed since then by nobody: another instance, which
   * sees nothing of the cause, has closed it.
   */
  readonly resumesSince?: Date
  /** What happened and what to do. */
  readonly message: string
}

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
        yield* Effect.logInfo("Alert resolved").pipe(Effect.annotateLogs({ alert: kind, subject }))
      }
    })
  })
})

export class Alerts extends Context.Service<
  Alerts,
  {
    readonly raise: (alert: Alert) => Effect.Effect<void>
    /** The cause is gone: closes the subject's open alert, where it was raised before `raisedBefore`. */
    readonly resolve: (kind: AlertKind, subject: string, raisedBefore?: Date) => Effect.Effect<void>
  }
>()("quittance/platform/Alerts") {
  static readonly layer: Layer.Layer<Alerts, never, SqlClient.SqlClient | SecureRandom.SecureRandom> =
    Layer.effect(Alerts, make).pipe(Layer.provide(AlertRepo.layer))

  /** Logged, and kept in this process. */
  static readonly layerMemory: Layer.Layer<Alerts, never, SecureRandom.SecureRandom> = Layer.effect(
    Alerts,
    make
  ).pipe(Layer.provide(AlertRepo.layerMemory))
}
