// The contract of AlertRepo on memory and Postgres.
import { describe, expect } from "bun:test"
import { Effect, Layer, Option } from "effect"
import type { Alert } from "../../../src/platform/alerts/Alert.ts"
import { AlertRepo } from "../../../src/platform/alerts/AlertRepo.ts"
import { testDatabase } from "../../support/database.ts"
import { liveEffect } from "../../support/run.ts"

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
    "an alert that was raised again later than the given time stays open",
    Effect.gen(function* () {
      const closeBefore = (before: Date) =>
        Effect.flatMap(AlertRepo, (repo) => repo.close(alert.kind, "shared", second(9), before))
      expect(yield* raise(second(5), { subject: "shared" })).toBeTrue()
      expect(yield* closeBefore(second(5))).toBeFalse()
      expect(yield* raise(second(6), { subject: "shared" })).toBeFalse()
      expect(yield* closeBefore(second(6))).toBeTrue()
    })
  )

  contractTest(
    "of fifty that are raised at once, one is new",
    Effect.gen(function* () {
      const raised = yield* Effect.all(
        Array.from({ length: 50 }, () => raise(second(1))),
        { concurrency: "unbounded" }
      )
      expect(raised.filter((one) => one)).toHaveLength(1)
    })
  )

  contractTest(
    "an alert raised after `since` is not raised again, acknowledged or not; one raised later is",
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
    "of the given kinds, alerts about other subjects are closed",
    Effect.gen(function* () {
      const kind = "rpc_unreachable" as const
      for (const subject of ["test kept.example:8545", "test gone.example", "live gone.example"])
        expect(yield* raise(second(1), { kind, subject })).toBeTrue()
      expect(yield* raise(second(1), { subject: "test gone.example" })).toBeTrue()
      const closed = Effect.flatMap(AlertRepo, (repo) =>
        repo.closeOthers([kind, "wrong_chain"], ["test kept.example:8545", "live other.example"], second(2))
      )
      expect((yield* closed).toSorted()).toEqual(["live gone.example", "test gone.example"])
      expect(yield* closed).toEqual([])
      expect(yield* raise(second(3), { kind, subject: "test kept.example:8545" })).toBeFalse()
      expect(yield* raise(second(3), { kind, subject: "test gone.example" })).toBeTrue()
      expect(yield* raise(second(3), { subject: "test gone.example" })).toBeFalse()
      const none = Effect.flatMap(AlertRepo, (repo) => repo.closeOthers([kind], [], second(4)))
      expect((yield* none).toSorted()).toEqual(["test gone.example", "test kept.example:8545"])
    })
  )

  contractTest(
    "an alert that closed by itself resumes if it is raised again soon, without being new",
    Effect.gen(function* () {
      const subject = "goes on"
      const repo = yield* AlertRepo
      const closed = (at: Date, before?: Date) => repo.close(alert.kind, subject, at, before)
      expect(yield* raise(second(1), { subject, resumesSince: second(0) })).toBeTrue()
      expect(yield* closed(second(10))).toBeTrue()
      const resumed = yield* Effect.all(
        Array.from({ length: 20 }, () => raise(second(12), { subject, resumesSince: second(5) })),
        { concurrency: "unbounded" }
      )
      expect(new Set(resumed)).toEqual(new Set([false]))
      // Its age counts from when it was raised again.
      expect(yield* closed(second(20), second(12))).toBeFalse()
      expect(yield* closed(second(20), second(13))).toBeTrue()
      expect(yield* raise(second(40), { subject, resumesSince: second(30) })).toBeTrue()
      expect(yield* closed(second(41))).toBeTrue()
    })
  )

  contractTest(
    "with a clock that is behind, an alert is still raised only once",
    Effect.gen(function* () {
      const since = second(10)
      expect(yield* raise(second(5), { since })).toBeTrue()
      yield* close(second(6))
      expect(yield* raise(second(7), { since })).toBeFalse()
    })
  )
}

describe("AlertRepo on Postgres", () => contract(AlertRepo.layer.pipe(Layer.provide(testDatabase.layer))))
