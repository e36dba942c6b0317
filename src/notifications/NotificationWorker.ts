// Notifies people of alerts and of finished weeks, by mail and by posts to their merchants' hooks. Messages
// are queued in the transaction that marks them as notified, and are sent at least once.

import { Context, DateTime, Effect, Layer, Redacted, Schema } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { formatUsd } from "../domain/Money.ts"
import { isTest } from "../domain/networks.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { Mails } from "../platform/mail/Mails.ts"
import { fillPlaceholders, mailWords } from "../platform/mail/mailWords.ts"
import { SecretBox } from "../platform/SecretBox.ts"
import { DueWork } from "../platform/workers/DueWork.ts"
import { processBatch } from "../platform/workers/processBatch.ts"
import { afterDelays, dueAfter, type RetrySchedule } from "../platform/workers/RetrySchedule.ts"
import { startWorker } from "../platform/workers/startWorker.ts"
import { WebhookSender } from "../webhooks/WebhookSender.ts"
import { AlertHookRepo, type AlertPost } from "./AlertHookRepo.ts"
import { HookTarget, hookContext } from "./HookTarget.ts"
import { NotificationRepo } from "./NotificationRepo.ts"

/** The schedule of retries for a failed post. */
export const PostRetryPolicy = Context.Reference<RetrySchedule>("quittance/notifications/PostRetryPolicy", {
  defaultValue: () => afterDelays("1 minute", "5 minutes", "30 minutes", "2 hours")
})
const batchSize = 20
/** The maximum number of alerts listed in one mail; the page has all of them. */
const maxMessages = 5

const decodeTarget = Schema.decodeEffect(Schema.fromJsonString(HookTarget))

/** Escapes text that Slack would read as a mention or a link. */
const slackText = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

export const layer: Layer.Layer<
  never,
  never,
  SqlClient.SqlClient | AppConfig | SecretBox | WebhookSender | SecureRandom.SecureRandom
> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { baseUrl } = yield* AppConfig
    const repo = yield* NotificationRepo
    const hooks = yield* AlertHookRepo
    const mails = yield* Mails
    const sender = yield* WebhookSender
    const box = yield* SecretBox
    const due = yield* DueWork
    const retryPolicy = yield* PostRetryPolicy

    const pageOf = (merchantId: string, env: string, page: string) =>
      `${baseUrl}/dashboard/${merchantId}/${env}/${page}`

    const notifyAlerts = Effect.flatMap(DateTime.nowAsDate, (at) =>
      repo.notifyAlerts(at, batchSize, ({ env, merchant, merchantId, messages, recipients }) =>
        Effect.forEach(
          recipients,
          ({ email, locale }) => {
            const words = mailWords[locale]
            const side = env ?? "live"
            const at = merchantId === null ? `${baseUrl}/dashboard` : pageOf(merchantId, side, "alerts")
            const settings = merchantId === null ? at : pageOf(merchantId, side, "settings")
            const name = `${merchant ?? "Quittance"}${env !== null && isTest(env) ? " (test)" : ""}`
            return mails.queue({
              recipient: email,
              subject: fillPlaceholders(words.alertSubject, { merchant: name }),
              body: [
                ...messages.slice(0, maxMessages),
                ...(messages.length > maxMessages
                  ? [fillPlaceholders(words.more, { count: String(messages.length - maxMessages) })]
                  : []),
                at,
                "",
                words.choose,
                settings
              ].join("\n")
            })
          },
          { discard: true }
        )
      )
    )

    const notifyWeeks = Effect.flatMap(DateTime.nowAsDate, (at) =>
      repo.notifyWeeks(at, batchSize, (week, totals, recipients) => {
        const busy = totals.filter(({ alerts, payments, refunds }) => alerts + payments + refunds > 0)
        return Effect.forEach(
          // A week without activity sends no mail.
          busy.length === 0 ? [] : recipients,
          ({ email, locale }) => {
            const words = mailWords[locale]
            const lines = busy.flatMap(({ alerts, env, payments, refunded, refunds, settled }) => [
              "",
              isTest(env) ? "Test" : "Live",
              fillPlaceholders(words.settled, {
                volume: formatUsd(settled),
                count: String(payments)
              }),
              fillPlaceholders(words.refunded, {
                volume: formatUsd(refunded),
                count: String(refunds)
              }),
              fillPlaceholders(words.openAlerts, { count: String(alerts) }),
              pageOf(week.merchant_id, env, "books")
            ])
            return mails.queue({
              recipient: email,
              subject: fillPlaceholders(words.weeklySubject, { merchant: week.merchant }),
              body: [
                fillPlaceholders(words.weekly, { from: week.first_day, to: week.last_day }),
                ...lines,
                "",
                words.choose,
                pageOf(week.merchant_id, busy[0]?.env ?? "test", "settings")
              ].join("\n")
            })
          },
          { discard: true }
        )
      })
    )

    const bodyOf = (post: AlertPost): Uint8Array => {
      const url = pageOf(post.merchant_id, post.env, "alerts")
      const body =
        post.shape === "slack"
          ? {
              text: `*${slackText(post.merchant)}${isTest(post.env) ? " (test)" : ""}*: ${slackText(post.message)}${post.alerts > 1 ? ` (and ${post.alerts - 1} more)` : ""} <${url}>`
            }
          : {
              id: post.alert_id,
              type: `alert.${post.kind}`,
              env: post.env,
              subject: post.subject,
              message: post.message,
              alerts: post.alerts,
              createdAt: post.created_at.toISOString(),
              url
            }
      return new TextEncoder().encode(JSON.stringify(body))
    }

    const failed = Effect.fnUntraced(function* (post: AlertPost, error: string) {
      const at = yield* DateTime.nowAsDate
      const nextAttemptAt = yield* dueAfter(retryPolicy, post.attempts, at)
      yield* hooks.endPost(post, { sentAt: null, error, nextAttemptAt })
      yield* Effect.logWarning(
        nextAttemptAt === null
          ? "Posting to an alert webhook failed permanently; members still see the alert in the dashboard"
          : "Posting to an alert webhook failed; it is retried"
      ).pipe(Effect.annotateLogs({ hook: post.hook_id, reason: error }))
    })

    const targetOf = (post: AlertPost) => {
      const sealed = { kid: post.secret_kid, ciphertext: post.secret_ciphertext }
      return box.open(sealed, hookContext(post.hook_id)).pipe(
        Effect.flatMap((opened) => Effect.orDie(decodeTarget(Redacted.value(opened)))),
        // Another instance may have the missing key, or the operator may add it back.
        Effect.catchDefect((cause) =>
          Effect.as(
            Effect.logError(
              `The URL of the alert webhook ${post.hook_id} cannot be decrypted; its alerts are retried, so restore the missing key of ENCRYPTION_KEYS`,
              cause
            ),
            undefined
          )
        )
      )
    }

    const send = Effect.fn("Notifications.send")(function* (post: AlertPost) {
      const target = yield* targetOf(post)
      if (target === undefined) return yield* failed(post, "the address cannot be decrypted; add it again")
      const { secret, url } = target
      const outcome = yield* sender.send({
        url,
        id: post.alert_id,
        body: bodyOf(post),
        secret: Redacted.make(secret)
      })
      if (outcome._tag === "Answered" && outcome.ok)
        return yield* hooks.endPost(post, {
          sentAt: yield* DateTime.nowAsDate,
          error: null,
          nextAttemptAt: null
        })
      yield* failed(post, outcome._tag === "Answered" ? `status ${outcome.status}` : outcome.failure)
    })

    yield* startWorker("Queueing mails of alerts", due.next("notifications", "2 seconds"), notifyAlerts)
    yield* startWorker("Queueing weekly mails", due.next("weeks", "1 minute"), notifyWeeks)
    yield* startWorker(
      "Posting alerts",
      due.next("alert posts", "2 seconds"),
      processBatch({
        what: "Posting an alert",
        leaseMillis: 120_000,
        batchSize,
        concurrency: 4,
        take: hooks.takePosts,
        process: send,
        annotations: ({ alert_id, hook_id }) => ({ alert: alert_id, hook: hook_id })
      })
    )
  })
).pipe(Layer.provide([NotificationRepo.layer, AlertHookRepo.layer, Mails.layer]))
