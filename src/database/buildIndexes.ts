// The indexes of migrations on tables that held rows before: built while others read and write, after the
// tables are there. One that is missing, or that a crash has left half built, is built at the next start.
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseRefusal } from "./DatabaseRefusal.ts"
import {
  causeOf,
  isConnectionLost,
  type Migration,
  migratingAlone,
  named,
  withShortLocks
} from "./migrate.ts"

const decodePartitions = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      partition: Schema.String,
      attached: Schema.Boolean,
      valid: Schema.NullOr(Schema.Boolean)
    })
  )
)

/** On a table with partitions: on each of them while others write, and then on the table, which takes them as they are. */
const buildOnPartitions = Effect.fnUntraced(function* (name: string, table: string, columns: string) {
  const sql = yield* SqlClient.SqlClient
  const nameOn = (partition: string) => `${name}${partition.slice(table.length)}`
  const partitions = yield* decodePartitions(
    yield* sql`
      SELECT child.relname::text AS partition, own.indisvalid AS valid, EXISTS (
        SELECT 1 FROM pg_inherits a JOIN pg_index i ON i.indexrelid = a.inhrelid
        WHERE a.inhparent = to_regclass(${name}) AND i.indrelid = child.oid) AS attached
      FROM pg_inherits p JOIN pg_class child ON child.oid = p.inhrelid
      LEFT JOIN pg_index own
        ON own.indexrelid = to_regclass(${name}::text || substr(child.relname, length(${table}::text) + 1))
      WHERE p.inhparent = to_regclass(${table}) ORDER BY 1`
  )
  const missing = partitions.filter(({ attached }) => !attached)
  for (const { partition, valid } of missing) {
    if (valid === false) yield* sql`DROP INDEX CONCURRENTLY ${sql(nameOn(partition))}`
    if (valid !== true)
      yield* sql`CREATE INDEX CONCURRENTLY ${sql(nameOn(partition))} ON ${sql(partition)} ${sql.literal(columns)}`
  }
  yield* withShortLocks(
    sql`CREATE INDEX IF NOT EXISTS ${sql(name)} ON ONLY ${sql(table)} ${sql.literal(columns)}`
  )
  for (const { partition } of missing)
    yield* withShortLocks(sql`ALTER INDEX ${sql(name)} ATTACH PARTITION ${sql(nameOn(partition))}`)
})

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
      const [table = on] = /^\w+/.exec(on) ?? []
      const [kind] =
        yield* sql`SELECT relkind = 'p' AS divided FROM pg_class WHERE oid = to_regclass(${table})`
      const whole = Effect.gen(function* () {
        if (rows.get(name)?.["there"] === true) yield* sql`DROP INDEX CONCURRENTLY ${sql(name)}`
        yield* sql`CREATE INDEX CONCURRENTLY ${sql(name)} ON ${sql.literal(on)}`
      })
      const columns = on.slice(table.length).trim()
      yield* named(
        `builds index ${name}`,
        kind?.["divided"] === true ? buildOnPartitions(name, table, columns) : whole
      ).pipe(
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
