// The SQL of alerts.
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AlertKind } from "../../domain/AlertKind.ts"
import { isUniqueViolation } from "../database/isUniqueViolation.ts"
import type { Alert } from "./Alert.ts"

const decodeSubjects = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ subject: Schema.String })))

export class AlertRepo extends Context.Service<
  AlertRepo,
  {
    /** False if the same kind and subject is open or reopened, or was raised since the alert's `since`. */
    readonly insert: (id: string, alert: Alert, at: Date) => Effect.Effect<boolean>
    /** Acknowledges the subject's open alert, if it was raised before `raisedBefore`. False if there is none. */
    readonly close: (
      kind: AlertKind,
      subject: string,
      at: Date,
      raisedBefore?: Date
    ) => Effect.Effect<boolean>
    /** Acknowledges the operator's alerts of these kinds about subjects not in `subjects`. Returns their subjects. */
    readonly closeOthers: (
      kinds: ReadonlyArray<AlertKind>,
      subjects: ReadonlyArray<string>,
      at: Date
    ) => Effect.Effect<ReadonlyArray<string>>
  }
>()("quittance/platform/AlertRepo") {
  static readonly layer: Layer.Layer<AlertRepo, never, SqlClient.SqlClient> = Layer.effect(
    AlertRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return AlertRepo.of({
        insert: Effect.fn("AlertRepo.insert")(function* (id, alert, at) {
          const tenant = Option.getOrNull(alert.tenant)
          const since = alert.since ?? null
          const resumesSince = alert.resumesSince ?? null
          const rows = yield* sql`
            WITH resumed AS (
              UPDATE alerts SET acknowledged_at = NULL, created_at = ${at}, message = ${alert.message}
              WHERE acknowledged_at >= ${resumesSince}::timestamptz AND id = (
                SELECT known.id FROM alerts known
                WHERE known.kind = ${alert.kind} AND known.subject = ${alert.subject}
                  AND known.acknowledged_at >= ${resumesSince}::timestamptz AND known.acknowledged_by IS NULL
                ORDER BY known.acknowledged_at DESC LIMIT 1)
                AND NOT EXISTS (
                  SELECT 1 FROM alerts other WHERE other.kind = ${alert.kind} AND other.subject = ${alert.subject}
                    AND other.acknowledged_at IS NULL)
              RETURNING id)
            INSERT INTO alerts (id, merchant_id, env, kind, subject, message, created_at, user_id)
            SELECT ${id}::uuid, ${tenant?.merchantId ?? null}::uuid, ${tenant?.env ?? alert.env ?? null}::text,
              ${alert.kind}::text, ${alert.subject}::text, ${alert.message}::text, greatest(${at}::timestamptz, ${since}::timestamptz),
              ${alert.userId ?? null}::uuid
            WHERE NOT EXISTS (SELECT 1 FROM resumed) AND NOT EXISTS (
              SELECT 1 FROM alerts known WHERE known.kind = ${alert.kind} AND known.subject = ${alert.subject}
                AND known.created_at >= ${since}::timestamptz)
            ON CONFLICT (kind, subject) WHERE acknowledged_at IS NULL DO NOTHING
            RETURNING id`.pipe(
            // Another instance raised it just before this one could reopen it.
            Effect.catchIf(isUniqueViolation, () => Effect.succeed([]))
          )
          return rows.length > 0
        }, Effect.orDie),
        close: Effect.fn("AlertRepo.close")(function* (kind, subject, at, raisedBefore) {
          const rows = yield* sql`
            UPDATE alerts SET acknowledged_at = ${at}
            WHERE kind = ${kind} AND subject = ${subject} AND acknowledged_at IS NULL
              AND created_at < coalesce(${raisedBefore ?? null}::timestamptz, 'infinity') RETURNING id`
          return rows.length > 0
        }, Effect.orDie),
        closeOthers: Effect.fn("AlertRepo.closeOthers")(function* (kinds, subjects, at) {
          const rows = yield* decodeSubjects(
            yield* sql`
              UPDATE alerts SET acknowledged_at = ${at}
              WHERE acknowledged_at IS NULL AND merchant_id IS NULL AND kind = ANY(${kinds}::text[])
                AND subject <> ALL(${subjects}::text[]) RETURNING subject`
          )
          return rows.map(({ subject }) => subject)
        }, Effect.orDie)
      })
    })
  )
}
