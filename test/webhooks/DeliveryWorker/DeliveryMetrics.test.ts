// What is exported of deliveries before anything has happened.
import { expect } from "bun:test"
import { Effect } from "effect"
import { PrometheusMetrics } from "effect/observability"
import "../../../src/webhooks/DeliveryWorker/DeliveryMetrics.ts"
import { testEffect } from "../../support/run.ts"

testEffect("the first delivery that is given up after a start counts as an increase: it was 0 before", () =>
  Effect.gen(function* () {
    const text = yield* PrometheusMetrics.format()
    expect(text).toContain("quittance_webhook_deliveries_exhausted_total 0")
    expect(text).toContain("quittance_webhook_unreadable_secrets_total 0")
  })
)
