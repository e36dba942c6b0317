// Indexes that migrations add to tables with rows. They are built concurrently, after the migrations and while the
// service runs. An index that is missing, or left half built by a crash, is built at the next start.
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseRefusal } from "./DatabaseRefusal.ts"
import {
  causeOf,
  isConnectionLost,
  type Migration,
  withApplicationName,
  withMigrationLock
} from "./migrate.ts"

/** Runs outside of any transaction. `where` identifies the server and database for the operator. */
export const buildIndexes = Effect.fn("Database.buildIndexes")(function* (
  migrations: Readonly<Record<string, Migration>>,
  where: string
) {
  const sql = yield* SqlClient.SqlClient
  const indexes = Object.values(migrations).flatMap(({ indexes = {} }) => Object.entries(indexes))
  if (indexes.length === 0) return
  const indexStates = Effect.map(
    sql`
      SELECT name, to_regclass(name) IS NOT NULL AS there, coalesce(i.indisvalid, false) AS valid
      FROM unnest(${indexes.map(([name]) => name)}::text[]) AS name
      LEFT JOIN pg_index i ON i.indexrelid = to_regclass(name)`,
    (rows) => new Map(rows.map((row) => [String(row["name"]), row]))
  )
  const missing = (rows: Effect.Success<typeof indexStates>) =>
    indexes.filter(([name]) => rows.get(name)?.["valid"] !== true)
  if (missing(yield* indexStates).length === 0) return

  const build = Effect.gen(function* () {
    const rows = yield* indexStates
    for (const [name, on] of missing(rows)) {
      const build = Effect.gen(function* () {
        if (rows.get(name)?.["there"] === true) yield* sql`DROP INDEX CONCURRENTLY ${sql(name)}`
        yield* Effect.logInfo(`Building the index ${name} on ${on}, while the service runs`)
        yield* sql`CREATE INDEX CONCURRENTLY ${sql(name)} ON ${sql.literal(on)}`
        yield* Effect.logInfo(`Built the index ${name}`)
      })
      yield* withApplicationName(`builds index ${name}`, build).pipe(
        Effect.mapError((error) =>
          isConnectionLost(error)
            ? error
            : new DatabaseRefusal({
                message: `The database ${where} cannot be used: its index ${name} cannot be built: ${causeOf(error)}. Start again once that is repaired; a half-built index is rebuilt.`
              })
        )
      )
    }
  })
  yield* withMigrationLock(build, where)
})

const decodeBuilds = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ build: Schema.String, holder: Schema.NullOr(Schema.String) }))
)

/** Logs every half minute how far an index build is, and which session it waits for. Never ends. */
export const reportedBuild = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const builds = yield* decodeBuilds(
    yield* sql`
      SELECT format('%s: %s', b.application_name, p.phase) AS build,
        CASE WHEN h.pid IS NOT NULL THEN format('process %s of role %s, "%s", %s for %s s', h.pid, h.usename, h.application_name, h.state,
          extract(epoch FROM clock_timestamp() - h.state_change)::int) END AS holder
      FROM pg_stat_progress_create_index p
      JOIN pg_stat_activity b ON b.pid = p.pid
      LEFT JOIN pg_stat_activity h ON h.pid = p.current_locker_pid
      WHERE p.datname = current_database()`
  )
  for (const { build, holder } of builds)
    yield* Effect.logInfo(holder === null ? build : `${build}, waiting for ${holder}`)
}).pipe(Effect.ignore, Effect.delay("30 seconds"), Effect.forever)
