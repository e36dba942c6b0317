// Errors that count as an outage of the database, and not as a fault of the service.
import { expect } from "bun:test"
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { isDatabaseOutage } from "../../../src/platform/database/isDatabaseOutage.ts"
import { postgresUrl } from "../../support/ownDatabase.ts"
import { liveEffect } from "../../support/run.ts"
import { databaseUrl } from "../../support/testPostgres.ts"

liveEffect("a missing database, as while it is renamed, is an outage", () =>
  Effect.gen(function* () {
    const url = Redacted.make(databaseUrl(postgresUrl, "quittance_renamed"))
    const asked = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1`)
    const exit = yield* Effect.exit(Effect.provide(asked, PgClient.layer({ url })))
    expect(Exit.isFailure(exit) && isDatabaseOutage(exit.cause)).toBeTrue()
  })
)
