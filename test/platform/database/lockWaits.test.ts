// A statement that waits for a lock: others on its connection wait a little, and do not fail with it.
import { describe, expect } from "bun:test"
import { SQL } from "bun"
import { Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../../src/platform/Database.ts"
import { testConfig } from "../../support/memory.ts"
import { ownDatabase, postgresUrl } from "../../support/ownDatabase.ts"
import { liveEffect } from "../../support/run.ts"
import { templateDatabase } from "../../support/testPostgres.ts"

const service = Layer.unwrap(
  Effect.gen(function* () {
    const template = yield* Effect.promise(() => templateDatabase(postgresUrl))
    const url = yield* ownDatabase({ template })
    const elsewhere = yield* Effect.acquireRelease(
      Effect.sync(() => new SQL(url, { max: 1 })),
      (open) => Effect.promise(() => open.close())
    )
    // As if a person left a transaction open in psql.
    yield* Effect.promise(async () => {
      await elsewhere`BEGIN`
      await elsewhere`INSERT INTO webhook_workers (id, beat) VALUES ('01a20000-0000-7000-8000-00000000000a', 1)`
    })
    return Database.layer.pipe(
      Layer.provide(testConfig({ database: { _tag: "Postgres", url: Redacted.make(url) } }))
    )
  })
)

describe("a statement that waits for a lock too long", () => {
  liveEffect("fails alone: statements and transactions on its connection succeed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const waiting = yield* Effect.forkScoped(
        Effect.exit(
          sql`INSERT INTO webhook_workers (id, beat) VALUES ('01a20000-0000-7000-8000-00000000000a', 2)`
        )
      )
      yield* Effect.sleep("100 millis")
      const others = yield* Effect.forEach(
        [sql`SELECT 1 AS one`, sql`SELECT 1 AS one`, sql.withTransaction(sql`SELECT 1 AS one`)],
        Effect.exit,
        { concurrency: "unbounded" }
      )
      expect(others).toEqual(others.map(() => Exit.succeed([{ one: 1 }])))
      const exit = yield* Fiber.join(waiting)
      expect(Exit.isFailure(exit)).toBeTrue()
      expect(String(exit)).toContain("LockTimeoutError")
    }).pipe(Effect.provide(service))
  )
})
