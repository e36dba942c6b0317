// Long reads have their own connections and time limit, one at a time for each merchant.
import { describe, expect } from "bun:test"
import { Context, Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../../src/platform/Database.ts"
import * as LongReads from "../../../src/platform/database/LongReads.ts"
import { testConfig } from "../../support/memory.ts"
import { ownDatabase, postgresUrl } from "../../support/ownDatabase.ts"
import { liveEffect } from "../../support/run.ts"
import { templateDatabase } from "../../support/testPostgres.ts"

const world = Effect.gen(function* () {
  const DATABASE_URL = yield* ownDatabase({
    template: yield* Effect.promise(() => templateDatabase(postgresUrl))
  })
  const context = yield* Layer.build(
    LongReads.layer.pipe(
      Layer.provideMerge(Database.layer),
      Layer.provideMerge(testConfig({ database: { _tag: "Postgres", url: Redacted.make(DATABASE_URL) } }))
    )
  )
  const { run } = Context.get(context, LongReads.LongReads)
  const sleeping = (who: string, seconds: number) =>
    run(
      who,
      (sql) => sql<{ app: string }>`
      SELECT current_setting('application_name') AS app, pg_sleep(${seconds})`
    ).pipe(
      Effect.map(([row]) => row?.app),
      Effect.provideContext(context)
    )
  const pool = Context.get(context, SqlClient.SqlClient)
  return { pool, sleeping }
})

describe("a read", () => {
  liveEffect("of milliseconds stays on the pool; one of seconds gets its own connection and time limit", () =>
    Effect.gen(function* () {
      const { pool, sleeping } = yield* world
      expect(yield* sleeping("small", 0)).toBe("quittance")
      // Longer than a statement of the pool may take, and than its server may be silent.
      const long = yield* Effect.forkChild(sleeping("large", 4))
      yield* Effect.sleep("1 second")
      for (let request = 0; request < 20; request++) yield* pool`SELECT 1`
      expect(long.pollUnsafe()).toBeUndefined()
      expect(yield* Fiber.join(long)).toBe("quittance long reads")
      // A merchant that needed one begins with one next time.
      expect(yield* sleeping("large", 0)).toBe("quittance long reads")
      expect(yield* sleeping("small", 0)).toBe("quittance")
    })
  )

  liveEffect("of seconds waits for another of the same merchant, but not for another merchant's", () =>
    Effect.gen(function* () {
      const { sleeping } = yield* world
      const two = yield* Effect.forkChild(
        Effect.all([sleeping("large", 3), sleeping("large", 3)], { concurrency: 2 })
      )
      yield* Effect.sleep("700 millis")
      yield* sleeping("other", 1)
      expect(two.pollUnsafe()).toBeUndefined()
      const began = performance.now()
      yield* Fiber.join(two)
      expect(performance.now() - began).toBeGreaterThan(1_000)
    })
  )
})
