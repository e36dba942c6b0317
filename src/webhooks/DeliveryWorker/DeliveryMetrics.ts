// Metrics of deliveries: attempts by outcome, start delays, and failed deliveries.
import { type Effect, Metric } from "effect"
import { AttemptFailure } from "../../domain/Webhook.ts"
import { counterBy, counterOf, secondsBy } from "../../platform/metrics/series.ts"

/** Counts a finished attempt. */
export const countAttempt = counterBy(
  "quittance_webhook_attempts_total",
  "Webhook attempts by outcome",
  "outcome",
  ["accepted", ...AttemptFailure.literals]
)

/** Deliveries that failed permanently; each has an alert. */
export const exhaustedCounter = counterOf(
  "quittance_webhook_deliveries_exhausted_total",
  "Webhook deliveries that failed permanently"
)

export const countExhausted: Effect.Effect<void> = Metric.update(exhaustedCounter, 1)

const unreadableCounter = counterOf(
  "quittance_webhook_unreadable_secrets_total",
  "Webhook attempts postponed because ENCRYPTION_KEYS does not decrypt their secret"
)

export const countUnreadable: Effect.Effect<void> = Metric.update(unreadableCounter, 1)

const lagHistogram = secondsBy(
  "quittance_webhook_delivery_lag_seconds",
  "From the moment a delivery's first attempt was due to its start"
)({})

export const recordLag = (millis: number): Effect.Effect<void> =>
  Metric.update(lagHistogram, Math.max(0, millis) / 1000)
