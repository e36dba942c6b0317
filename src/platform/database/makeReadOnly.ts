// Closes a database to writing while it is moved, and opens it again.
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CopyFailed, failed } from "./Copy/CopyFailed.ts"
import { namesOf } from "./Copy/tables.ts"

/** The name under which copies connect. */
export const copyName = "quittance copy"

const decodeSessions = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ pid: Schema.Int, role: Schema.String }))
)

/** Fails if the database has sessions that this role may not end: those of superusers and of unrelated roles. */
const refuseForeignSessions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const sessions = yield* decodeSessions(
    yield* sql`
      SELECT a.pid, a.usename::text AS role FROM pg_stat_activity a JOIN pg_roles r ON r.oid = a.usesysid
      WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()
        AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
        AND (r.rolsuper OR NOT (pg_has_role(a.usesysid, 'USAGE') OR pg_has_role('pg_signal_backend', 'USAGE')))`
  )
  if (sessions.length > 0)
    return yield* new CopyFailed({
      message: `${sessions.map(({ pid, role }) => `process ${pid} of role ${role}`).join(", ")} could keep writing, and this role may not terminate such sessions. Terminate them, or run this as a superuser`
    })
})

const nameOfDatabase = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [name = "postgres"] = yield* namesOf(yield* sql`SELECT current_database()::text AS name`)
  return name
})

const readOnlyNow = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`SELECT current_setting('default_transaction_read_only') AS closed`
  return row?.["closed"] === "on"
})

/** True if sessions begin read-only, as after `makeReadOnly`. */
export const isReadOnly = Effect.fn("Database.isReadOnly")(
  function* (_where: string) {
    return yield* readOnlyNow
  },
  (work, where) => Effect.mapError(work, failed(`The database ${where} cannot be read`))
)

/** True if it is closed already. Fails in advance, without changes, if `makeReadOnly` would fail. */
export const checkCanBeReadOnly = Effect.fn("Database.checkCanBeReadOnly")(
  function* (_where: string) {
    yield* refuseForeignSessions
    return yield* readOnlyNow
  },
  (work, where) => Effect.mapError(work, failed(`The database ${where} cannot be closed to writing`))
)

/**
 * Makes this database read-only: new sessions cannot write, and open ones are terminated together with their waiting
 * statements. The database's owner can undo it.
 */
export const makeReadOnly = Effect.fn("Database.makeReadOnly")(
  function* (_where: string) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`SET default_transaction_read_only = off`
    yield* sql`ALTER DATABASE ${sql(yield* nameOfDatabase)} SET default_transaction_read_only = on`
    yield* refuseForeignSessions
    yield* sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND usesysid IS NOT NULL
        AND application_name <> ${copyName}`
  },
  (work, where) => Effect.mapError(work, failed(`The database ${where} cannot be closed to writing`))
)

/** Undoes `makeReadOnly`. */
export const makeWritable = Effect.fn("Database.makeWritable")(
  function* (_where: string) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`SET default_transaction_read_only = off`
    yield* sql`ALTER DATABASE ${sql(yield* nameOfDatabase)} RESET default_transaction_read_only`
  },
  (work, where) => Effect.mapError(work, failed(`The database ${where} cannot be opened to writing`))
)
