// The way back from a release: the newest migrations are undone, newest first.
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { serviceName } from "./abandonedSessions.ts"
import { DatabaseRefusal } from "./DatabaseRefusal.ts"
import { causeOf, idOf, type Migration, migratingAlone, withShortLocks } from "./migrate.ts"

const decodeSessions = Schema.decodeUnknownEffect(
  Schema.Tuple([Schema.Struct({ sessions: Schema.Int, places: Schema.NullOr(Schema.String) })])
)

/** Fails while an instance is connected: it would lose the tables that it runs on. */
const nobodyServes = Effect.fnUntraced(function* (where: string) {
  const sql = yield* SqlClient.SqlClient
  const [{ places, sessions }] = yield* decodeSessions(
    yield* sql`
      SELECT count(*)::int AS sessions, string_agg(DISTINCT host(client_addr), ', ') AS places
      FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = ${serviceName} AND pid <> pg_backend_pid()`
  )
  if (sessions === 0) return
  return yield* new DatabaseRefusal({
    message: `The database ${where} is in use: the service has ${sessions} ${sessions === 1 ? "session" : "sessions"} open${places === null ? "" : `, from ${places}`}. Stop every instance and run this again, then start the earlier release.`
  })
})

/** Undoes what is newer than the migration `to`, all or nothing of each; the names of what was undone. */
export const rollBack = Effect.fn("Database.rollBack")(function* (
  migrations: Readonly<Record<string, Migration>>,
  to: string,
  where: string
) {
  const sql = yield* SqlClient.SqlClient
  const refuse = (message: string) => new DatabaseRefusal({ message })
  const undo = Effect.gen(function* () {
    const rows = yield* sql`SELECT migration_id FROM effect_sql_migrations`
    const done = new Set(rows.map((row) => Number(row["migration_id"])))
    const unknown = [...done].filter((id) => !Object.keys(migrations).some((name) => idOf(name) === id))
    if (unknown.length > 0)
      return yield* refuse(
        `The database ${where} has a migration of a later release, number ${unknown.join(", ")}. Roll it back with that release.`
      )
    const newer = Object.entries(migrations)
      .filter(([name]) => idOf(name) > idOf(to) && done.has(idOf(name)))
      .toReversed()
    const without = newer.find(([, { down }]) => down === undefined)
    if (without !== undefined)
      return yield* refuse(
        `The migration ${without[0]} has no way back: nothing was changed. Restore a backup of the release before it.`
      )
    if (newer.length > 0) yield* nobodyServes(where)
    for (const [name, { down = Effect.void }] of newer) {
      yield* withShortLocks(
        Effect.gen(function* () {
          yield* down
          yield* sql`DELETE FROM effect_sql_migrations WHERE migration_id = ${idOf(name)}`
          // Also if an instance connected in between.
          yield* nobodyServes(where)
        })
      ).pipe(
        Effect.mapError((error) =>
          error instanceof DatabaseRefusal
            ? error
            : refuse(
                `The migration ${name} cannot be undone, and nothing of that is kept: ${causeOf(error)}. What is newer is undone.`
              )
        )
      )
    }
    return newer.map(([name]) => name)
  })
  return yield* migratingAlone(undo, where)
})
