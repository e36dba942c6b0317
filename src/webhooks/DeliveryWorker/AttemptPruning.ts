// Old attempts and the answers kept with them go after WEBHOOK_ATTEMPT_RETENTION;
// the deliveries stay.
import { DateTime, Duration, Effect, Layer } from "effect"
import { AppConfig } from "../../platform/AppConfig.ts"
import { periodic } from "../../platform/workers/supervised.ts"
import { WebhookRepo } from "../WebhookRepo.ts"

/** Rows that one statement deletes, so that none holds its locks for long. */
const batchSize = 5_000

/** Deletes attempts that started longer ago than `retention`; answers how many. */
const pruneAttempts = Effect.fn("pruneAttempts")(function* (retention: Duration.Duration) {
  const repo = yield* WebhookRepo
  const before = new Date((yield* DateTime.nowAsDate).getTime() - Duration.toMillis(retention))
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
    yield* periodic(
      "Pruning webhook attempts",
      Effect.sleep("1 hour"),
      pruneAttempts(webhookAttemptRetention),
      "Warn"
    )
  })
)
