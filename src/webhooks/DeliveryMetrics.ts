// What an operator watches of deliveries: attempts by outcome, and those given up.
import { type Effect, Metric } from "effect"
import type { AttemptFailure } from "../domain/Webhook.ts"

const attempts = Metric.counter("quittance_webhook_attempts", {
  description: "Webhook attempts by outcome",
  incremental: true
})

/** Deliveries that failed for good, each with an alert. */
export const exhausted = Metric.counter("quittance_webhook_deliveries_exhausted", {
  description: "Webhook deliveries that failed for good",
  incremental: true
})

export const countAttempt = (outcome: AttemptFailure | "accepted"): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(attempts, { outcome }), 1)

export const countExhausted: Effect.Effect<void> = Metric.update(exhausted, 1)
