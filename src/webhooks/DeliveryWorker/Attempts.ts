// One attempt of a leased delivery, from the sealed secret to the recorded outcome. The worker, the test
// send and the manual resend all use it. Outcomes that end together are recorded together.
import { Cause, Clock, Context, Deferred, Effect, Layer, Queue, References, Schedule } from "effect"
import { BoundedMap } from "../../domain/BoundedMap.ts"
import { plusMillis } from "../../domain/plusMillis.ts"
import type { DeliveryStatus } from "../../domain/Webhook.ts"
import { EgressPolicy } from "../../platform/egress/EgressPolicy.ts"
import { SecretBox } from "../../platform/SecretBox.ts"
import { dueAfter } from "../../platform/workers/RetrySchedule.ts"
import { startPeriodic } from "../../platform/workers/startWorker.ts"
import { RetryPolicy } from "../RetryPolicy.ts"
import type { AttemptResult, LeasedDelivery } from "../WebhookRepo/WebhookStore.ts"
import { WebhookRepo } from "../WebhookRepo.ts"
import type { SendOutcome } from "../WebhookSender/SendOutcome.ts"
import { WebhookSender } from "../WebhookSender.ts"
import { countAttempt, countExhausted, countUnreadable, recordLag } from "./DeliveryMetrics.ts"

/** Ends a crash loop: after this many interrupted attempts, the delivery fails with an alert. */
const maxInterruptions = 5

/** The seconds that a lease lasts: longer than an attempt's total budget of 15. */
export const leaseSeconds = 30

/**
 * The interval between log lines about an endpoint whose secret cannot be decrypted; its deliveries return with every
 * lease.
 */
const unreadableMillis = 3_600_000

/** The maximum number of outcomes per statement. */
const batchSize = 256

interface Recording {
  readonly result: AttemptResult
  readonly recorded: Deferred.Deferred<DeliveryStatus | undefined>
}

export class Attempts extends Context.Service<
  Attempts,
  {
    /**
     * Sends the delivery and records the outcome; returns whether the endpoint accepted it. Sends nothing if
     * the lease ends before an attempt could; the next lease's holder sends it. `onResponse` runs when the
     * endpoint has responded or failed to, before the outcome is recorded.
     */
    readonly run: (
      delivery: LeasedDelivery,
      onResponse?: (accepted: boolean) => Effect.Effect<void>
    ) => Effect.Effect<boolean>
  }
>()("quittance/webhooks/Attempts") {
  static readonly layer: Layer.Layer<
    Attempts,
    never,
    WebhookRepo | WebhookSender | SecretBox | EgressPolicy
  > = Layer.effect(
    Attempts,
    Effect.gen(function* () {
      const repo = yield* WebhookRepo
      const sender = yield* WebhookSender
      const secrets = yield* SecretBox
      const { budgets } = yield* EgressPolicy
      const isTraced = yield* References.TracerEnabled
      const retryPolicy = yield* RetryPolicy
      const clock = yield* Clock.Clock
      const now = () => new Date(clock.currentTimeMillisUnsafe())
      const recordings = yield* Queue.unbounded<Recording>()

      // Retries while the database restarts: without the outcome, the endpoint would get the event again.
      const recordBatch = (batch: ReadonlyArray<Recording>) =>
        repo.finish(batch.map(({ result }) => result)).pipe(
          Effect.timeout("5 seconds"),
          Effect.sandbox,
          Effect.retry({ schedule: Schedule.spaced("500 millis"), times: 20 }),
          Effect.matchEffect({
            onFailure: (cause) =>
              Effect.forEach(batch, ({ recorded }) => Deferred.die(recorded, Cause.squash(cause)), {
                discard: true
              }),
            onSuccess: (finished) => {
              const statuses = new Map(finished.map(({ id, status }) => [id, status]))
              return Effect.forEach(
                batch,
                ({ recorded, result }) => Deferred.succeed(recorded, statuses.get(result.delivery.id)),
                { discard: true }
              )
            }
          })
        )
      yield* startPeriodic(
        "Recording outcomes of attempts",
        Effect.void,
        Effect.flatMap(Queue.takeBetween(recordings, 1, batchSize), recordBatch)
      )

      /** Logs a delivery that failed for good, or an outcome that came too late to count. */
      const logOutcome = ({ delivery }: AttemptResult, status: DeliveryStatus | undefined) =>
        status === "failed"
          ? Effect.andThen(
              countExhausted,
              Effect.logError("Webhook delivery failed after its last attempt").pipe(
                Effect.annotateLogs({
                  alert: "webhook_exhausted",
                  delivery: delivery.id,
                  merchant: delivery.merchantId,
                  env: delivery.env
                })
              )
            )
          : status === undefined
            ? Effect.logWarning("Webhook outcome discarded: its lease had expired").pipe(
                Effect.annotateLogs({ delivery: delivery.id, attempt: delivery.attempt })
              )
            : Effect.void

      const record = (result: AttemptResult) =>
        Effect.suspend(() => {
          const recorded = Deferred.makeUnsafe<DeliveryStatus | undefined>()
          Queue.offerUnsafe(recordings, { result, recorded })
          return Effect.flatMap(Deferred.await(recorded), (status) =>
            Effect.andThen(countAttempt(result.failure ?? "accepted"), logOutcome(result, status))
          )
        })

      /** A failed resend does not undo an earlier delivery. */
      const exhaustedStatus = (delivery: LeasedDelivery): DeliveryStatus =>
        delivery.resentFrom === "delivered" ? "delivered" : "failed"

      const recordOutcome = (delivery: LeasedDelivery, outcome: SendOutcome) => {
        const at = now()
        const answered = outcome._tag === "Answered" ? outcome : undefined
        const recordEnd = (status: DeliveryStatus, failure: AttemptResult["failure"], dueAt: Date | null) =>
          record({
            delivery,
            at,
            durationMs: outcome.durationMs,
            responseStatus: answered?.status ?? null,
            failure,
            responseBody: answered?.body ?? null,
            requestHead: outcome.requestHead ?? null,
            status,
            dueAt
          })
        if (answered?.ok === true) return recordEnd("delivered", null, null)
        const failure = outcome._tag === "Failed" ? outcome.failure : "status"
        if (delivery.resentFrom !== null) return recordEnd(exhaustedStatus(delivery), failure, null)
        return Effect.flatMap(dueAfter(retryPolicy, delivery.attempt, at), (dueAt) =>
          dueAt === null
            ? recordEnd(exhaustedStatus(delivery), failure, null)
            : recordEnd("pending", failure, dueAt)
        )
      }

      const recordInterruption = (delivery: LeasedDelivery) =>
        record({
          delivery,
          at: now(),
          durationMs: null,
          responseStatus: null,
          failure: "interrupted",
          responseBody: null,
          requestHead: null,
          status: exhaustedStatus(delivery),
          dueAt: null
        })

      /** The last time that an endpoint's unreadable secret was logged, by endpoint. */
      const unreadableLoggedAt = new BoundedMap<string, number>(1_000)
      const logUnreadable = ({ env, merchantId, target }: LeasedDelivery, cause: Cause.Cause<unknown>) =>
        Effect.suspend(() => {
          const at = now().getTime()
          const last = unreadableLoggedAt.get(target.endpointId)
          if (last !== undefined && at >= last && at - last < unreadableMillis) return Effect.void
          unreadableLoggedAt.set(target.endpointId, at)
          return Effect.logError(
            "Webhook attempts postponed: no configured key decrypts the endpoint's signing secret",
            cause
          ).pipe(Effect.annotateLogs({ endpoint: target.endpointId, merchant: merchantId, env }))
        })

      /** No endpoint has failed: the delivery waits for the operator or an instance that has the key. */
      const postponeUnreadable = (delivery: LeasedDelivery, cause: Cause.Cause<unknown>) =>
        logUnreadable(delivery, cause).pipe(
          Effect.andThen(countUnreadable),
          Effect.andThen(repo.release([delivery], plusMillis(now(), leaseSeconds * 1000))),
          Effect.as(false)
        )

      const send = (delivery: LeasedDelivery, onResponse: (accepted: boolean) => Effect.Effect<void>) => {
        const { url, secret, endpointId } = delivery.target
        return Effect.matchCauseEffect(secrets.open(secret, endpointId), {
          onFailure: (cause) => postponeUnreadable(delivery, cause),
          onSuccess: (opened) =>
            Effect.flatMap(
              sender.send({
                url,
                id: delivery.id,
                body: delivery.body,
                order: delivery.order ?? undefined,
                secret: opened
              }),
              (outcome) => {
                const accepted = outcome._tag === "Answered" && outcome.ok
                return Effect.flatMap(onResponse(accepted), () =>
                  Effect.as(recordOutcome(delivery, outcome), accepted)
                )
              }
            )
        })
      }

      const run = (delivery: LeasedDelivery, onResponse: (accepted: boolean) => Effect.Effect<void>) =>
        Effect.suspend(() => {
          const at = now().getTime()
          if (delivery.interruptions >= maxInterruptions)
            return Effect.as(recordInterruption(delivery), false)
          if (at + budgets.totalMillis > delivery.leaseUntil.getTime()) return Effect.succeed(false)
          const sending = send(delivery, onResponse)
          return delivery.attempt === 1 && delivery.resentFrom === null
            ? Effect.andThen(recordLag(at - delivery.wasDueAt.getTime()), sending)
            : sending
        })

      const withAttemptSpan = <A>(delivery: LeasedDelivery, attempt: Effect.Effect<A>) =>
        isTraced
          ? attempt.pipe(
              Effect.withSpan(
                "webhook attempt",
                {
                  kind: "producer",
                  attributes: { "webhook.id": delivery.id, "webhook.attempt": delivery.attempt }
                },
                { captureStackTrace: false }
              )
            )
          : attempt

      return Attempts.of({
        run: (delivery, onResponse = () => Effect.void) =>
          withAttemptSpan(delivery, run(delivery, onResponse)).pipe(
            // When the lease expires, the attempt is made again under its number.
            Effect.catchCauseIf(
              (cause) => !Cause.hasInterruptsOnly(cause),
              (cause) =>
                Effect.as(
                  Effect.logError("Webhook attempt aborted; it is sent again when its lease expires", cause),
                  false
                )
            )
          )
      })
    })
  )
}
