// Brings a database to this release's tables: each migration once, in its own transaction, in the order of the ids.
// Instances that start together wait for each other, and running instances are not disturbed.
import { Cause, Effect, Predicate, Schedule, Schema } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { Starting } from "../http/Starting.ts"
import { DatabaseRefusal } from "./DatabaseRefusal.ts"

type Change = Effect.Effect<unknown, unknown, SqlClient.SqlClient>

/** A change of the schema. It is additive, so that the previous release keeps running beside it. */
export interface Migration {
  readonly up: Change
  /** By name: indexes on tables that already have rows, built while others write. */
  readonly indexes?: Readonly<Record<string, string>>
}

/** Any number that nothing else in the database locks. */
const lockId = 5_107_001

/** The messages of a failed statement or connection, innermost first, on one line. */
export const causeOf = (error: unknown): string => {
  let text = "unknown"
  let at: unknown = error
  for (let depth = 0; depth < 8 && at !== undefined && at !== null; depth++) {
    if (Predicate.hasProperty(at, "message") && Predicate.isString(at.message) && at.message !== "")
      text = at.message
    at = SqlError.isSqlError(at) ? at.reason : Predicate.hasProperty(at, "cause") ? at.cause : undefined
  }
  return text.split("\n").join(" ")
}

export const isConnectionLost = (error: unknown): error is SqlError.SqlError =>
  SqlError.isSqlError(error) && error.reason._tag === "ConnectionError"

/** Another statement held, or wanted, the same locks: the migration was rolled back and may succeed next time. */
const isConflict = (error: unknown): boolean =>
  SqlError.isSqlError(error) && ["DeadlockError", "LockTimeoutError"].includes(error.reason._tag)
const conflictTries = 60
const conflictRetrySchedule = Schedule.min([
  Schedule.exponential("250 millis", 1.5),
  Schedule.spaced("3 seconds")
])

export const idOf = (name: string) => Number.parseInt(name, 10)

/** Labels the session in `pg_stat_activity` for those who wait for its locks. */
export const withApplicationName = <A, E, R>(what: string, work: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.andThen(sql`SELECT set_config('application_name', ${`quittance ${what}`}, false)`, work)
  )

const decodeHolders = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ holder: Schema.String })))

/** The process that is migrating, its address and its work. */
const holder = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* decodeHolders(
    yield* sql`
      SELECT format('process %s of role %s%s, "%s", %s for %s s', a.pid, a.usename,
        ' at ' || host(a.client_addr), a.application_name, a.state,
        extract(epoch FROM clock_timestamp() - a.state_change)::int) AS holder
      FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE l.locktype = 'advisory' AND l.granted AND l.classid = 0 AND l.objid = ${lockId}
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`
  )
  return row === undefined ? "" : `: ${row.holder}`
})

/** Runs work in one instance at a time; the others wait without an open transaction. */
export const withMigrationLock = <A, E, R>(work: Effect.Effect<A, E, R>, where: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { waitsFor } = yield* Starting
    const locked = Effect.map(
      sql`SELECT pg_try_advisory_lock(${lockId}) AS locked`,
      ([row]) => row?.["locked"] === true
    )
    const lock = Effect.gen(function* () {
      let has = yield* locked
      while (!has) {
        const other = `another instance that migrates the database ${where}${yield* holder}`
        yield* waitsFor(other)
        yield* Effect.logInfo(`Waiting for ${other}`)
        has = yield* locked.pipe(
          Effect.repeat({ schedule: Schedule.spaced("250 millis"), times: 60, until: (got) => got })
        )
      }
      // A lock holder that this process has lost must not keep the lock.
      yield* sql`
        SELECT set_config('idle_session_timeout', '30s', false),
          set_config('idle_in_transaction_session_timeout', '30s', false),
          set_config('tcp_user_timeout', '30s', false)`
    })
    const release = Effect.gen(function* () {
      for (const name of ["idle_session_timeout", "idle_in_transaction_session_timeout", "tcp_user_timeout"])
        yield* sql`RESET ${sql(name)}`
      yield* sql`RESET application_name`
      yield* sql`SELECT pg_advisory_unlock(${lockId})`
    })
    return yield* Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(lock), () =>
        Effect.onExit(restore(work), () =>
          release.pipe(Effect.interruptible, Effect.timeout("5 seconds"), Effect.ignore)
        )
      )
    )
  })

/** If a lost connection makes the rollback a defect, fails with the lost connection instead. */
const failOnLostConnection = <A, E, R>(transaction: Effect.Effect<A, E, R>) =>
  Effect.catchCause(transaction, (cause): Effect.Effect<A, E | SqlError.SqlError> => {
    const lost = cause.reasons
      .filter(Cause.isDieReason)
      .map(({ defect }) => defect)
      .find(isConnectionLost)
    return lost === undefined ? Effect.failCause(cause) : Effect.fail(lost)
  })

/** Runs a change that waits for locks only briefly, and tries it again while others hold them. */
export const withShortLocks = <A, E, R>(change: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql
      .withTransaction(
        // A change that waits for a lock delays everyone who comes after it, so it must give up before they do. The
        // server cancels its own vacuum for a statement that has waited one second.
        Effect.andThen(
          sql`
            SELECT set_config('lock_timeout', CASE WHEN EXISTS (
              SELECT FROM pg_locks
              WHERE locktype = 'relation' AND mode = 'ShareUpdateExclusiveLock' AND granted
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                AND pid <> pg_backend_pid()
            ) THEN '1200ms' ELSE '200ms' END, true)`,
          change
        )
      )
      .pipe(
        failOnLostConnection,
        Effect.retry({ schedule: conflictRetrySchedule, times: conflictTries, while: isConflict })
      )
  )

/** `where` identifies the server and the database for the operator. */
export const migrate = Effect.fn("Database.migrate")(function* (
  migrations: Readonly<Record<string, Migration>>,
  where: string
) {
  const sql = yield* SqlClient.SqlClient
  const { waitsFor } = yield* Starting
  const failed = (name: string) => (error: unknown) =>
    isConnectionLost(error)
      ? error
      : new DatabaseRefusal({
          message: `The database ${where} cannot be used: migration ${name} failed and was rolled back: ${causeOf(error)}. Restore a backup, or remove by hand what conflicts with it.`
        })

  const all = Effect.gen(function* () {
    // The table of Effect's migrator, which earlier releases use.
    yield* sql`
      CREATE TABLE IF NOT EXISTS effect_sql_migrations (
        migration_id integer PRIMARY KEY NOT NULL,
        created_at timestamp with time zone NOT NULL DEFAULT now(),
        name varchar(255) NOT NULL
      )`
    const rows = yield* sql`SELECT migration_id FROM effect_sql_migrations`
    const appliedIds = new Set(rows.map((row) => Number(row["migration_id"])))
    for (const [name, { up }] of Object.entries(migrations)) {
      if (appliedIds.has(idOf(name))) continue
      yield* waitsFor(`migration ${name}`)
      if (appliedIds.size > 0) yield* Effect.logInfo(`Running migration ${name}`)
      yield* withShortLocks(
        Effect.andThen(
          withApplicationName(`runs migration ${name}`, up),
          sql`INSERT INTO effect_sql_migrations (migration_id, name)
            VALUES (${idOf(name)}, ${name.replace(/^\d+_/, "")})`
        )
      ).pipe(Effect.mapError(failed(name)))
    }
  })
  yield* withMigrationLock(all, where)
})
