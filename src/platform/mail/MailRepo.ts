// The SQL of email that waits to be sent.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Uuid } from "../../domain/Merchant.ts"
import { plusMillis } from "../../domain/plusMillis.ts"

export interface Mail {
  readonly recipient: string
  readonly subject: string
  /** Plain text. */
  readonly body: string
  /** True if somebody is waiting for it at a page: it is sent before all others. */
  readonly urgent?: boolean
}

/**
 * The time for which the record of a sent or abandoned email is stored. Its text, for example a link, is deleted
 * earlier.
 */
const retentionMillis = 30 * 24 * 3_600_000

const QueuedMail = Schema.Struct({
  id: Uuid,
  recipient: Schema.String,
  subject: Schema.String,
  body: Schema.String,
  attempts: Schema.Int
})
export type QueuedMail = typeof QueuedMail.Type
const decodeQueued = Schema.decodeUnknownEffect(Schema.Array(QueuedMail))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  return MailRepo.of({
    insert: Effect.fn("MailRepo.insert")(function* (id, mail, at) {
      // Skips locked rows: another transaction that deletes the same rows may be waiting for a lock of this one.
      yield* sql`
        WITH swept AS (
          DELETE FROM mails WHERE id IN (
            SELECT id FROM mails WHERE due_at IS NULL AND created_at < ${plusMillis(at, -retentionMillis)}
            FOR UPDATE SKIP LOCKED)
        )
        INSERT INTO mails (id, recipient, subject, body, urgent, created_at, due_at)
        VALUES (${id}, ${mail.recipient}, ${mail.subject}, ${mail.body}, ${mail.urgent === true}, ${at}, ${at})`
    }, Effect.orDie),

    take: Effect.fn("MailRepo.take")(function* (at, leaseUntil, limit, isUrgent) {
      return yield* decodeQueued(
        yield* sql`
          UPDATE mails SET due_at = ${leaseUntil}, attempts = attempts + 1
          WHERE id IN (
            SELECT id FROM mails WHERE due_at <= ${at} AND urgent = ${isUrgent}
            ORDER BY due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
          RETURNING id, recipient, subject, body, attempts`
      )
    }, Effect.orDie),

    recordSent: Effect.fn("MailRepo.recordSent")(function* (id, at) {
      yield* sql`UPDATE mails SET sent_at = ${at}, due_at = NULL, error = NULL, body = '' WHERE id = ${id}`
    }, Effect.orDie),

    recordFailure: Effect.fn("MailRepo.recordFailure")(function* ({ attempts, id }, error, nextAttemptAt) {
      yield* sql`
        UPDATE mails SET error = ${error}, due_at = ${nextAttemptAt},
          body = CASE WHEN ${nextAttemptAt}::timestamptz IS NULL THEN '' ELSE body END
        WHERE id = ${id} AND attempts = ${attempts} AND sent_at IS NULL`
    }, Effect.orDie)
  })
})

export class MailRepo extends Context.Service<
  MailRepo,
  {
    /**
     * Joins an open transaction: the email is sent only if the change that it reports commits. Also deletes old
     * records.
     */
    readonly insert: (id: string, mail: Mail, at: Date) => Effect.Effect<void>
    /** Takes due email under a lease until `leaseUntil`; this counts as an attempt. */
    readonly take: (
      at: Date,
      leaseUntil: Date,
      limit: number,
      isUrgent: boolean
    ) => Effect.Effect<ReadonlyArray<QueuedMail>>
    readonly recordSent: (id: string, at: Date) => Effect.Effect<void>
    /**
     * `nextAttemptAt` is null after the last attempt. Does nothing if the email was sent, or taken again since the lease
     * ended: the outcome of that attempt counts.
     */
    readonly recordFailure: (
      mail: Pick<QueuedMail, "id" | "attempts">,
      error: string,
      nextAttemptAt: Date | null
    ) => Effect.Effect<void>
  }
>()("quittance/platform/MailRepo") {
  static readonly layer: Layer.Layer<MailRepo, never, SqlClient.SqlClient> = Layer.effect(MailRepo, make)
}
