// Raises an alert within two minutes for settled payments that were not sent to any endpoint.
import { DateTime, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { startPeriodic } from "../platform/workers/startWorker.ts"
import { UnsentRepo } from "./UnsentRepo.ts"

export const layer: Layer.Layer<never, never, SqlClient.SqlClient> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { raiseAlerts } = yield* UnsentRepo
    yield* startPeriodic(
      "Looking for settled payments that were never sent",
      Effect.sleep("1 minute"),
      Effect.flatMap(DateTime.nowAsDate, raiseAlerts)
    )
  })
).pipe(Layer.provide(UnsentRepo.layer))
