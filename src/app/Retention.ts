// Removes rows that ended long ago, once a day (docs/databases.md, "What grows").
import { DateTime, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { startPeriodic } from "../platform/workers/startWorker.ts"
import { RetentionRepo } from "./RetentionRepo.ts"

export const layer: Layer.Layer<never, never, SqlClient.SqlClient> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { prune } = yield* RetentionRepo
    yield* startPeriodic(
      "Removing expired rows",
      Effect.sleep("24 hours"),
      Effect.flatMap(DateTime.nowAsDate, prune),
      "Warn"
    )
  })
).pipe(Layer.provide(RetentionRepo.layer))
