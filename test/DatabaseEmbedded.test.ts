// What the embedded database keeps: its rows on disk, not its answers in memory.
import { heapStats } from "bun:jsc"
import { expect } from "bun:test"
import { PGlite } from "@electric-sql/pglite"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { embeddedClient } from "../src/Database.ts"
import { liveEffect } from "./support/run.ts"

const objects = Effect.sync(() => {
  Bun.gc(true)
  return heapStats().objectCount
})

const opened = Effect.acquireRelease(
  Effect.promise(() => PGlite.create()),
  (pglite) => Effect.promise(() => pglite.close())
)

liveEffect("answers are not kept", () =>
  Effect.gen(function* () {
    const pglite = yield* opened
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ask = sql`SELECT n::text AS row FROM generate_series(1, 500) AS n`
      yield* ask
      const before = yield* objects
      yield* Effect.repeat(ask, { times: 99 })
      const kept = (yield* objects) - before
      // One object a row would be 50,000.
      expect(kept).toBeLessThan(10_000)
    }).pipe(Effect.provide(embeddedClient(pglite)))
  }).pipe(Effect.scoped)
)
