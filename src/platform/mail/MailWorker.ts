// Sends waiting email immediately; if the server is unavailable or defers it, retries for about a day. Urgent email is
// retried every minute for an hour.
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { AppConfig } from "../AppConfig.ts"
import { DueWork } from "../workers/DueWork.ts"
import { processBatch } from "../workers/processBatch.ts"
import { afterDelays, dueAfter, type RetrySchedule } from "../workers/RetrySchedule.ts"
import { startWorker } from "../workers/startWorker.ts"
import { MailRepo, type QueuedMail } from "./MailRepo.ts"
import { mailTransport } from "./mailTransport.ts"

/** The number of emails that are sent concurrently: this many urgent ones, and this many others. */
const concurrentMails = 4
/** The attempts to send an urgent email: somebody is waiting for it, and its link is valid for an hour. */
const urgentRetryPolicy = afterDelays(...Array.from({ length: 60 }, () => "1 minute" as const))
/** The attempts to send an email span about a day. */
export const MailRetryPolicy = Context.Reference<RetrySchedule>("quittance/platform/MailRetryPolicy", {
  defaultValue: () => afterDelays("1 minute", "5 minutes", "30 minutes", "2 hours", "6 hours", "15 hours")
})

class MailFailed extends Schema.TaggedError<MailFailed>()("MailFailed", {
  message: Schema.String,
  /** The server rejects this mail permanently (RFC 5321, 4.2.1: 5yz replies). */
  refused: Schema.Boolean
}) {}

/**
 * Commands whose 5yz responses concern one email. An earlier 5yz, such as for a wrong password, concerns every email.
 */
const ofOneMail: ReadonlyArray<unknown> = ["RCPT TO", "DATA"]

const failureOf = (error: unknown) => {
  const message = error instanceof Error ? error.message : String(error)
  const at = typeof error === "object" && error !== null ? error : {}
  const code = "responseCode" in at ? Number(at.responseCode) : 0
  const isOfOne = "command" in at && ofOneMail.includes(at.command)
  return new MailFailed({ message, refused: isOfOne && code >= 500 && code < 600 })
}

export const layer: Layer.Layer<never, never, SqlClient.SqlClient | AppConfig> = Layer.effectDiscard(
  Effect.gen(function* () {
    const config = yield* AppConfig
    if (Option.isNone(config.smtp)) return
    const { from, url } = config.smtp.value
    const repo = yield* MailRepo
    const due = yield* DueWork
    const retryPolicy = yield* MailRetryPolicy
    const transport = yield* mailTransport(config, url, 2 * concurrentMails)

    const send = Effect.fn("Mail.send")(function* (
      { attempts, body, id, recipient, subject }: QueuedMail,
      policy: RetrySchedule
    ) {
      const outcome = yield* Effect.tryPromise({
        try: () =>
          transport.sendMail({
            from,
            to: { name: "", address: recipient },
            subject,
            text: body,
            // The same for each attempt, so that an email that arrives twice is shown once.
            messageId: `<${id}@${from.slice(from.indexOf("@") + 1)}>`,
            headers: { "auto-submitted": "auto-generated" }
          }),
        catch: failureOf
      }).pipe(Effect.result)
      const at = yield* DateTime.nowAsDate
      if (outcome._tag === "Success") return yield* repo.recordSent(id, at)
      const { message, refused } = outcome.failure
      const nextAttemptAt = refused ? null : yield* dueAfter(policy, attempts, at)
      yield* repo.recordFailure({ id, attempts }, message, nextAttemptAt)
      yield* (nextAttemptAt === null ? Effect.logError : Effect.logWarning)(
        nextAttemptAt === null ? "Sending email failed permanently" : "Sending email failed; retrying"
      ).pipe(Effect.annotateLogs({ mail: id, reason: message }))
    })

    const sending = (isUrgent: boolean) =>
      processBatch({
        what: "Sending a mail",
        // Longer than the steps of one email, ten seconds each; no email waits for another under its lease.
        leaseMillis: 120_000,
        batchSize: concurrentMails,
        concurrency: concurrentMails,
        take: (at, leaseUntil, limit) => repo.take(at, leaseUntil, limit, isUrgent),
        process: (mail) => send(mail, isUrgent ? urgentRetryPolicy : retryPolicy),
        annotations: ({ id }) => ({ mail: id })
      })
    // Separate workers: a backlog on a slow server delays nobody who is waiting at a page.
    yield* startWorker("Sending urgent mail", due.next("mails", "2 seconds"), sending(true))
    yield* startWorker("Sending mail", due.next("mails", "2 seconds"), sending(false))
  })
).pipe(Layer.provide(MailRepo.layer))
