// The alert about a wrong clock has the database's time, however wrong this machine's is.
import { describe, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as ClockWatch from "../../../src/app/telemetry/ClockWatch.ts"
import { ChainVerifier } from "../../../src/chain/ChainVerifier.ts"
import { Alerts } from "../../../src/platform/alerts/Alerts.ts"
import { ClockRepo } from "../../../src/platform/database/ClockRepo.ts"
import { until } from "../../notifications/notificationWorld.ts"
import { testDatabase } from "../../support/database.ts"
import { liveEffect } from "../../support/run.ts"

const shared = new Date("2026-03-01T12:00:00Z")

describe("the alert about a wrong clock", () => {
  liveEffect("has the database's time", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* Layer.build(
        ClockWatch.layer.pipe(
          Layer.provide(Layer.succeed(ClockRepo, { now: Effect.succeed(shared) })),
          Layer.provide(ChainVerifier.layerMemory)
        )
      )
      const raised = sql`SELECT created_at FROM alerts WHERE kind = 'clock_skew' AND subject = 'database'`
      yield* until(
        "it is raised",
        Effect.map(raised, (rows) => rows.length === 1)
      )
      expect(yield* raised).toEqual([{ created_at: shared }])
    }).pipe(
      Effect.scoped,
      Effect.provide(
        Alerts.layer.pipe(Layer.provideMerge(Layer.merge(testDatabase.layer, SecureRandom.layerWebCrypto)))
      )
    )
  )
})
