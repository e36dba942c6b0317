// The exported metrics before anything has happened.
import { expect } from "bun:test"
import { Effect } from "effect"
import { PrometheusMetrics } from "effect/observability"
import "../../../src/webhooks/DeliveryWorker/DeliveryMetrics.ts"
import { testEffect } from "../../support/run.ts"

testEffect(
  "the first failed delivery after a start counts as an increase, because the counter starts at 0",
  () =>
    Effect.gen(function* () {
      const text = yield* PrometheusMetrics.format()
      expect(text).toContain("quittance_webhook_deliveries_exhausted_total 0")
      expect(text).toContain("quittance_webhook_unreadable_secrets_total 0")
    })
)
