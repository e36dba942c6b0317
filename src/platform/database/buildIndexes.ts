// The indexes of migrations on tables that held rows before: built while others read and write, after the
// tables are there. One that is missing, or that a crash has left half built, is built at the next start.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseRefusal } from "./DatabaseRefusal.ts"
import { causeOf, isConnectionLost, type Migration, migratingAlone, named } from "./migrate.ts"

/** Outside of any transaction. `where` names the server and the database to the operator. */
export const buildIndexes = Effect.fn("Database.buildIndexes")(function* (
  migrations: Readonly<Record<string, Migration>>,
  where: string
) {
  const sql = yield* SqlClient.SqlClient
  const wanted = Object.values(migrations).flatMap(({ indexes = {} }) => Object.entries(indexes))
  if (wanted.length === 0) return
  const standing = Effect.map(
    sql`
      SELECT name, to_regclass(name) IS NOT NULL AS there, coalesce(i.indisvalid, false) AS valid
      FROM unnest(${wanted.map(([name]) => name)}::text[]) AS name
      LEFT JOIN pg_index i ON i.indexrelid = to_regclass(name)`,
    (rows) => new Map(rows.map((row) => [String(row["name"]), row]))
  )
  const missing = (rows: Effect.Success<typeof standing>) =>
    wanted.filter(([name]) => rows.get(name)?.["valid"] !== true)
  if (missing(yield* standing).length === 0) return

  const build = Effect.gen(function* () {
    const rows = yield* standing
    for (const [name, on] of missing(rows)) {
      const build = Effect.gen(function* () {
        if (rows.get(name)?.["there"] === true) yield* sql`DROP INDEX CONCURRENTLY ${sql(name)}`
        yield* sql`CREATE INDEX CONCURRENTLY ${sql(name)} ON ${sql.literal(on)}`
      })
      yield* named(`builds index ${name}`, build).pipe(
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
  yield* migratingAlone(build, where)
})
