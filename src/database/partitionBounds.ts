// The bounds that `partition` sets on tables while it divides them. One that outlives the command would
// refuse the rows of the next quarter.
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { migratingAlone, withShortLocks } from "./migrate.ts"

/** The constraint that holds a table's rows below the partition that follows. */
export const boundOf = (table: string) => `${table}_bound`

const decode = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ table: Schema.String, name: Schema.String }))
)

const standing = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.flatMap(
    sql`
      SELECT conrelid::regclass::text AS table, conname::text AS name
      FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
      WHERE contype = 'c' AND conname = relname || '_bound' AND pg_table_is_visible(conrelid)
        AND NOT (relispartition AND coninhcount > 0)`,
    decode
  )
)

/** For the one instance that migrates. */
export const removeBounds = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const { name, table } of yield* standing)
    yield* withShortLocks(sql`ALTER TABLE ${sql(table)} DROP CONSTRAINT IF EXISTS ${sql(name)}`)
})

/** Removes what a command that was killed has left. `where` names the database to the operator. */
export const removeLeftBounds = Effect.fn("Database.removeLeftBounds")(function* (where: string) {
  if ((yield* standing).length === 0) return
  yield* migratingAlone(removeBounds, where)
})
