// A database's rows as they stand at one moment, table by table, from one place into another: a file, or
// another Postgres. What arrives is counted and summed again before it is kept.
import { Effect, Schedule, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { endedWithoutSigns, keptAlive } from "./keptAlive.ts"
import { causeOf, type Migration, migrate } from "./migrate.ts"
import { sqlStateOf } from "./sqlStateOf.ts"

export class CopyFailed extends Schema.TaggedError<CopyFailed>()("CopyFailed", { message: Schema.String }) {}

/** What a table holds: equal rows in any order have equal sums. */
export class TableSum extends Schema.Class<TableSum>("TableSum")({
  table: Schema.String,
  rows: Schema.Int,
  checksum: Schema.String
}) {}

const SequenceAt = Schema.Struct({ table: Schema.String, column: Schema.String, last: Schema.String })

export class Manifest extends Schema.Class<Manifest>("Manifest")({
  tables: Schema.Array(TableSum),
  sequences: Schema.Array(SequenceAt)
}) {}

/** Takes a copy: the names of the migrations first, then rows as JSON texts, parents before children. */
export interface Sink {
  readonly begin: (migrations: ReadonlyArray<string>) => Effect.Effect<void, CopyFailed>
  readonly rows: (table: string, rows: ReadonlyArray<string>) => Effect.Effect<void, CopyFailed>
  readonly end: (manifest: Manifest) => Effect.Effect<void, CopyFailed>
}

const batch = 500
const history = "effect_sql_migrations"

const decodeNames = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ name: Schema.String })))
const decodeRows = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ row: Schema.String, part: Schema.BigIntFromString }))
)
const decodeParts = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ part: Schema.BigIntFromString })))
const decodeLinks = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ child: Schema.String, parent: Schema.String }))
)
const decodeSequences = Schema.decodeUnknownEffect(Schema.Array(SequenceAt))

const failed = (what: string) => (error: unknown) =>
  error instanceof CopyFailed ? error : new CopyFailed({ message: `${what}: ${causeOf(error)}` })

/** So that the same row gives the same text everywhere. */
const plainTexts = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    SELECT set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO', true),
      set_config('bytea_output', 'hex', true), set_config('extra_float_digits', '1', true)`
)

const namesOf = (rows: ReadonlyArray<unknown>) =>
  Effect.map(decodeNames(rows), (all) => all.map(({ name }) => name))

const tableNames = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* namesOf(
    // Partitions are read through their table.
    yield* sql`
      SELECT relname::text AS name FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1`
  )
})

/** Parents before children. */
const orderedTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const links = yield* decodeLinks(
    yield* sql`
      SELECT DISTINCT coalesce(pg_partition_root(conrelid), conrelid)::regclass::text AS child,
        coalesce(pg_partition_root(confrelid), confrelid)::regclass::text AS parent
      FROM pg_constraint
      WHERE contype = 'f' AND conrelid <> confrelid AND connamespace = 'public'::regnamespace`
  )
  const waiting = new Set((yield* tableNames).filter((name) => name !== history))
  const ordered: Array<string> = []
  while (waiting.size > 0) {
    const next = [...waiting].filter(
      (name) => !links.some(({ child, parent }) => child === name && waiting.has(parent))
    )
    if (next.length === 0) return yield* new CopyFailed({ message: "Tables refer to each other in a circle" })
    for (const name of next) {
      waiting.delete(name)
      ordered.push(name)
    }
  }
  return ordered
})

/** What a row adds to its table's checksum. */
const part = "(('x' || left(md5(row_to_json(t)::text), 15))::bit(60)::bigint)::text AS part"

/** Row by row: no statement is silent for as long as a table is large. */
const sumOf = Effect.fnUntraced(function* (table: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DECLARE summed NO SCROLL CURSOR FOR SELECT ${sql.literal(part)} FROM ${sql(table)} t`
  let rows = 0
  let checksum = 0n
  for (;;) {
    const parts = yield* decodeParts(yield* sql`FETCH ${sql.literal(String(10 * batch))} FROM summed`)
    if (parts.length === 0) break
    rows += parts.length
    for (const one of parts) checksum += one.part
  }
  yield* sql`CLOSE summed`
  return TableSum.make({ table, rows, checksum: String(checksum) })
})

const sequences = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* decodeSequences(
    yield* sql`
      SELECT c.relname AS table, a.attname AS column, s.last_value::text AS last
      FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
      JOIN pg_sequences s ON s.schemaname = 'public'
        AND format('%I.%I', s.schemaname, s.sequencename) = pg_get_serial_sequence(c.relname, a.attname)
      WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0
        AND NOT a.attisdropped AND s.last_value IS NOT NULL`
  )
})

const readTables = Effect.fnUntraced(function* (sink: Sink) {
  const sql = yield* SqlClient.SqlClient
  yield* plainTexts
  const tables = yield* orderedTables
  const made = yield* namesOf(
    yield* sql`
      SELECT lpad(migration_id::text, 4, '0') || '_' || name AS name FROM ${sql(history)} ORDER BY migration_id`
  )
  yield* sink.begin(made)
  const sums: Array<TableSum> = []
  for (const table of tables) {
    yield* sql`
      DECLARE copied NO SCROLL CURSOR FOR
      SELECT row_to_json(t)::text AS row, ${sql.literal(part)} FROM ${sql(table)} t`
    let count = 0
    let checksum = 0n
    for (;;) {
      const rows = yield* decodeRows(yield* sql`FETCH ${sql.literal(String(batch))} FROM copied`)
      if (rows.length === 0) break
      count += rows.length
      for (const one of rows) checksum += one.part
      yield* sink.rows(
        table,
        rows.map(({ row }) => row)
      )
    }
    yield* sql`CLOSE copied`
    sums.push(TableSum.make({ table, rows: count, checksum: String(checksum) }))
  }
  const manifest = Manifest.make({ tables: sums, sequences: yield* sequences })
  yield* sink.end(manifest)
  return manifest
})

/** Reads a consistent snapshot while others write. `where` names the database to the operator. */
export const copyFrom = Effect.fn("Database.copyFrom")(
  function* (_where: string, sink: Sink) {
    const sql = yield* SqlClient.SqlClient
    return yield* sql.withTransaction(
      sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`.pipe(
        Effect.andThen(endedWithoutSigns),
        Effect.andThen(keptAlive(readTables(sink)))
      )
    )
  },
  (reading, where) => Effect.mapError(reading, failed(`The database ${where} cannot be read`))
)

const lockTimeout = "55P03"
const deadlock = "40P01"

/**
 * Locks all tables against writers. Writers lock in an order of their own: whoever waits too long here lets
 * go of all of them and asks again, before the server ends somebody's transaction as deadlocked (after 1 s).
 */
const lockTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* tableNames
  const lock = Effect.forEach(tables, (table) => sql`LOCK TABLE ${sql(table)} IN EXCLUSIVE MODE`, {
    discard: true
  })
  yield* sql`SELECT set_config('lock_timeout', '500ms', true)`
  // A savepoint: what fails gives its locks back.
  yield* sql.withTransaction(lock).pipe(
    Effect.retry({
      while: (error: SqlError.SqlError) => [lockTimeout, deadlock].includes(sqlStateOf(error)),
      schedule: Schedule.spaced("200 millis").pipe(Schedule.jittered),
      times: 40
    })
  )
})

/**
 * Reads all of it, from one moment on in which nobody else can write until `work` has ended. `isLocked`
 * fails where that has ended before.
 */
export const copyLocked = Effect.fn("Database.copyLocked")(
  function* <A, E, R>(
    where: string,
    work: (locked: {
      readonly read: (sink: Sink) => Effect.Effect<Manifest, CopyFailed>
      readonly isLocked: Effect.Effect<void, CopyFailed>
    }) => Effect.Effect<A, E, R>
  ) {
    const sql = yield* SqlClient.SqlClient
    return yield* sql.withTransaction(
      Effect.gen(function* () {
        // Also one that is closed to writing may be copied.
        yield* sql`SET TRANSACTION READ WRITE`
        yield* endedWithoutSigns
        yield* lockTables
        const context = yield* Effect.context<SqlClient.SqlClient>()
        return yield* keptAlive(
          work({
            read: (sink) =>
              readTables(sink).pipe(
                Effect.mapError(failed(`The database ${where} cannot be read`)),
                Effect.provideContext(context)
              ),
            isLocked: sql`SELECT 1`.pipe(
              Effect.mapError(failed(`The tables of the database ${where} are not locked any more`)),
              Effect.provideContext(context),
              Effect.asVoid
            )
          })
        )
      })
    )
  },
  (moving, where) => Effect.mapError(moving, failed(`The database ${where} cannot be moved`))
)

/**
 * Fills an empty database with what `source` gives, in one transaction: all of it, proven by count and
 * checksum of each table, or nothing. Migrations that the copy has not seen are still to run.
 */
export const copyInto = Effect.fn("Database.copyInto")(
  function* <A, E, R>(
    migrations: Readonly<Record<string, Migration>>,
    where: string,
    source: (sink: Sink) => Effect.Effect<A, E, R>
  ) {
    const sql = yield* SqlClient.SqlClient
    const there = yield* tableNames
    if (there.length > 0)
      return yield* new CopyFailed({
        message: `The database ${where} is not empty: it has the table ${there[0]}. Copy into an empty one.`
      })
    const onTarget = Effect.provideService(SqlClient.SqlClient, sql)
    const sink: Sink = {
      begin: (made) =>
        Effect.gen(function* () {
          const unknown = made.filter((name) => !(name in migrations))
          if (unknown.length > 0)
            return yield* new CopyFailed({
              message: `It was made by a later release, with the migration ${unknown[0]}. Copy it with that one.`
            })
          const known = Object.entries(migrations).filter(([name]) => made.includes(name))
          yield* migrate(Object.fromEntries(known), where)
          yield* plainTexts
        }).pipe(Effect.mapError(failed(`The database ${where} cannot be prepared`)), onTarget),
      rows: (table, rows) =>
        sql`
          INSERT INTO ${sql(table)} OVERRIDING SYSTEM VALUE
          SELECT * FROM json_populate_recordset(NULL::${sql(table)}, ${`[${rows.join(",")}]`}::text::json)`.pipe(
          Effect.mapError(failed(`Rows of ${table} cannot be written`)),
          Effect.asVoid
        ),
      end: ({ sequences: at, tables }) =>
        Effect.gen(function* () {
          for (const { column, last, table } of at)
            yield* sql`SELECT setval(pg_get_serial_sequence(${table}, ${column}), ${last}::bigint)`
          for (const expected of tables) {
            const sum = yield* sumOf(expected.table)
            if (sum.rows !== expected.rows || sum.checksum !== expected.checksum)
              return yield* new CopyFailed({
                message: `${expected.table} has ${sum.rows} rows with checksum ${sum.checksum}, where ${expected.rows} with ${expected.checksum} were read. Nothing is kept.`
              })
          }
        }).pipe(Effect.mapError(failed("The copy cannot be proven")), onTarget)
    }
    return yield* sql.withTransaction(Effect.andThen(endedWithoutSigns, keptAlive(source(sink))))
  },
  (writing, _, where) => Effect.mapError(writing, failed(`The database ${where} cannot be written`))
)

/** The name under which copies connect. */
export const copyName = "quittance copy"

const decodeSessions = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ pid: Schema.Int, role: Schema.String }))
)

/** Other sessions of this database that this role may not end: those of superusers, and of strangers. */
const strangers = Effect.gen(function* () {
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
      message: `${sessions.map(({ pid, role }) => `process ${pid} of role ${role}`).join(", ")} could go on writing, and this role may not end it. End it, or run this as a superuser`
    })
})

const nameOfDatabase = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [name = "postgres"] = yield* namesOf(yield* sql`SELECT current_database()::text AS name`)
  return name
})

const closedNow = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`SELECT current_setting('default_transaction_read_only') AS closed`
  return row?.["closed"] === "on"
})

/** Whether sessions begin read-only, as `closeToWriting` leaves it. */
export const isClosed = Effect.fn("Database.isClosed")(
  function* (_where: string) {
    return yield* closedNow
  },
  (work, where) => Effect.mapError(work, failed(`The database ${where} cannot be read`))
)

/** Whether it is closed already. Fails, before anything is done, where `closeToWriting` would. */
export const checkClosable = Effect.fn("Database.checkClosable")(
  function* (_where: string) {
    yield* strangers
    return yield* closedNow
  },
  (work, where) => Effect.mapError(work, failed(`The database ${where} cannot be closed to writing`))
)

/**
 * Makes this database read-only: new sessions cannot write, and open ones are terminated,
 * with the statements that wait in them. Its owner can undo it.
 */
export const closeToWriting = Effect.fn("Database.closeToWriting")(
  function* (_where: string) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`SET default_transaction_read_only = off`
    yield* sql`ALTER DATABASE ${sql(yield* nameOfDatabase)} SET default_transaction_read_only = on`
    yield* strangers
    yield* sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND usesysid IS NOT NULL
        AND application_name <> ${copyName}`
  },
  (work, where) => Effect.mapError(work, failed(`The database ${where} cannot be closed to writing`))
)

/** Undoes `closeToWriting`. */
export const openToWriting = Effect.fn("Database.openToWriting")(
  function* (_where: string) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`SET default_transaction_read_only = off`
    yield* sql`ALTER DATABASE ${sql(yield* nameOfDatabase)} RESET default_transaction_read_only`
  },
  (work, where) => Effect.mapError(work, failed(`The database ${where} cannot be opened to writing`))
)
