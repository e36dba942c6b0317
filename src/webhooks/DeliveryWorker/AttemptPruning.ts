// Deletes old attempts with their stored responses after WEBHOOK_ATTEMPT_RETENTION; the deliveries stay.
import { DateTime, Duration, Effect, Layer } from "effect"
import { plusMillis } from "../../domain/plusMillis.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { startPeriodic } from "../../platform/workers/startWorker.ts"
import { WebhookRepo } from "../WebhookRepo.ts"

/** Rows per DELETE statement, so that none holds its locks for long. */
const batchSize = 5_000

/** Deletes attempts that started longer ago than `retention`; returns their number. */
const pruneAttempts = Effect.fn("pruneAttempts")(function* (retention: Duration.Duration) {
  const repo = yield* WebhookRepo
  const before = plusMillis(yield* DateTime.nowAsDate, -Duration.toMillis(retention))
  let pruned = 0
  let last = batchSize
  while (last === batchSize) {
    last = yield* repo.prune(before, batchSize)
    pruned += last
  }
  return pruned
})

/** Prunes once an hour. */
export const layer: Layer.Layer<never, never, WebhookRepo | AppConfig> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { webhookAttemptRetention } = yield* AppConfig
    yield* startPeriodic(
      "Pruning webhook attempts",
      Effect.sleep("1 hour"),
      pruneAttempts(webhookAttemptRetention),
      "Warn"
    )
  })
)
