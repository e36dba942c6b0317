// The contract of AlertRepo on memory and Postgres.
import { describe, expect } from "bun:test"
import { Effect, Layer, Option } from "effect"
import { AlertRepo } from "../../src/alerts/AlertRepo.ts"
import type { Alert } from "../../src/alerts/Alerts.ts"
import { testDatabase } from "../support/database.ts"
import { liveEffect } from "../support/run.ts"

const alert: Alert = {
  kind: "transfer_dropped",
  tenant: Option.none(),
  subject: "a payment",
  message: "Its transfer is gone."
}
const second = (number: number) => new Date(Date.UTC(2026, 0, 5, 12, 0, number))

const contract = (layer: Layer.Layer<AlertRepo>) => {
  const raise = (at: Date, more: Partial<Alert> = {}) =>
    Effect.flatMap(AlertRepo, (repo) => repo.insert(crypto.randomUUID(), { ...alert, ...more }, at))
  const close = (at: Date) => Effect.flatMap(AlertRepo, (repo) => repo.close(alert.kind, alert.subject, at))
  const contractTest = (name: string, test: Effect.Effect<unknown, never, AlertRepo>) =>
    liveEffect(name, () => Effect.provide(test, layer))

  contractTest(
    "one alert of a kind and a subject is open",
    Effect.gen(function* () {
      expect(yield* raise(second(1))).toBeTrue()
      expect(yield* raise(second(2))).toBeFalse()
      expect(yield* raise(second(2), { subject: "another one" })).toBeTrue()
      expect(yield* raise(second(2), { kind: "refund_unproven" })).toBeTrue()
      expect(yield* close(second(3))).toBeTrue()
      expect(yield* close(second(3))).toBeFalse()
      expect(yield* raise(second(4))).toBeTrue()
    })
  )

  contractTest(
    "one of fifty that are raised at once is",
    Effect.gen(function* () {
      const raised = yield* Effect.all(
        Array.from({ length: 50 }, () => raise(second(1))),
        { concurrency: "unbounded" }
      )
      expect(raised.filter((one) => one)).toHaveLength(1)
    })
  )

  contractTest(
    "what was raised since then is not raised again, acknowledged or not; what happens later is",
    Effect.gen(function* () {
      const since = second(10)
      expect(yield* raise(second(11), { since })).toBeTrue()
      expect(yield* raise(second(12), { since })).toBeFalse()
      yield* close(second(13))
      expect(yield* raise(second(14), { since })).toBeFalse()
      expect(yield* raise(second(21), { since: second(20) })).toBeTrue()
    })
  )

  contractTest(
    "by a clock that is behind, what was raised is raised once as well",
    Effect.gen(function* () {
      const since = second(10)
      expect(yield* raise(second(5), { since })).toBeTrue()
      yield* close(second(6))
      expect(yield* raise(second(7), { since })).toBeFalse()
    })
  )
}

describe("AlertRepo in memory", () => contract(AlertRepo.layerMemory))
describe("AlertRepo on Postgres", () => contract(AlertRepo.layer.pipe(Layer.provide(testDatabase.layer))))
