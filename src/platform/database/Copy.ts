// Copies a database's rows as of one moment, table by table, to a file or to another Postgres. The copied rows are
// counted and summed again before the copy is committed.
import { Effect, Schedule, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { CopyFailed, failed } from "./Copy/CopyFailed.ts"
import {
  batch,
  history,
  namesOf,
  orderedTables,
  part,
  plainTexts,
  SequenceAt,
  sequences,
  sumOf,
  suspendTriggers,
  TableSum,
  tableNames,
  writtenColumns
} from "./Copy/tables.ts"
import { boundIdleTransaction, keepAlive } from "./keepAlive.ts"
import { type Migration, migrate } from "./migrate.ts"
import { sqlStateOf } from "./sqlStateOf.ts"

export class Manifest extends Schema.Class<Manifest>("Manifest")({
  tables: Schema.Array(TableSum),
  sequences: Schema.Array(SequenceAt)
}) {}

/** The target of a copy: first the names of the migrations, then rows as JSON texts, parents before children. */
export interface Sink {
  readonly begin: (migrations: ReadonlyArray<string>) => Effect.Effect<void, CopyFailed>
  readonly rows: (table: string, rows: ReadonlyArray<string>) => Effect.Effect<void, CopyFailed>
  readonly end: (manifest: Manifest) => Effect.Effect<void, CopyFailed>
}

const decodeRows = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ row: Schema.String, part: Schema.BigIntFromString }))
)

const readTables = Effect.fnUntraced(function* (sink: Sink) {
  const sql = yield* SqlClient.SqlClient
  yield* plainTexts
  const tables = yield* orderedTables
  const migrationNames = yield* namesOf(
    yield* sql`
      SELECT lpad(migration_id::text, 4, '0') || '_' || name AS name FROM ${sql(history)} ORDER BY migration_id`
  )
  yield* sink.begin(migrationNames)
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
      for (const row of rows) checksum += row.part
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

/** Reads a consistent snapshot while others write. `where` identifies the database for the operator. */
export const copyFrom = Effect.fn("Database.copyFrom")(
  function* (_where: string, sink: Sink) {
    const sql = yield* SqlClient.SqlClient
    return yield* sql.withTransaction(
      sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`.pipe(
        Effect.andThen(boundIdleTransaction),
        Effect.andThen(keepAlive(readTables(sink)))
      )
    )
  },
  (reading, where) => Effect.mapError(reading, failed(`The database ${where} cannot be read`))
)

const lockTimeout = "55P03"
const deadlock = "40P01"

/**
 * Locks all tables against writers. Writers lock in their own order: if this waits too long, it releases all locks and
 * tries again, before the server aborts a transaction as deadlocked (after 1 s).
 */
const lockTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* tableNames
  const lock = Effect.forEach(tables, (table) => sql`LOCK TABLE ${sql(table)} IN EXCLUSIVE MODE`, {
    discard: true
  })
  yield* sql`SELECT set_config('lock_timeout', '500ms', true)`
  // A failed savepoint releases its locks.
  yield* sql.withTransaction(lock).pipe(
    Effect.retry({
      while: (error: SqlError.SqlError) => [lockTimeout, deadlock].includes(sqlStateOf(error)),
      schedule: Schedule.spaced("200 millis").pipe(Schedule.jittered),
      times: 40
    })
  )
})

/**
 * Reads everything as of one moment, and nobody else can write until `work` has ended. `isLocked` fails if the lock
 * was lost before.
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
        // A database that is closed to writing can be copied as well.
        yield* sql`SET TRANSACTION READ WRITE`
        yield* boundIdleTransaction
        yield* lockTables
        const context = yield* Effect.context<SqlClient.SqlClient>()
        return yield* keepAlive(
          work({
            read: (sink) =>
              readTables(sink).pipe(
                Effect.mapError(failed(`The database ${where} cannot be read`)),
                Effect.provideContext(context)
              ),
            isLocked: sql`SELECT 1`.pipe(
              Effect.mapError(failed(`The tables of the database ${where} are no longer locked`)),
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
 * Fills an empty database from `source` in one transaction: everything, verified by count and checksum of each table,
 * or nothing. Migrations that the copy does not contain still have to run.
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
    let resumeTriggers: Effect.Effect<void, SqlError.SqlError> = Effect.void
    const sink: Sink = {
      begin: (migrationNames) =>
        Effect.gen(function* () {
          const unknown = migrationNames.filter((name) => !(name in migrations))
          if (unknown.length > 0)
            return yield* new CopyFailed({
              message: `It was made by a later release, with the migration ${unknown[0]}. Copy it with that one.`
            })
          const applied = Object.entries(migrations).filter(([name]) => migrationNames.includes(name))
          yield* migrate(Object.fromEntries(applied), where)
          resumeTriggers = yield* suspendTriggers
          yield* plainTexts
        }).pipe(Effect.mapError(failed(`The database ${where} cannot be prepared`)), onTarget),
      rows: (table, rows) =>
        Effect.gen(function* () {
          const columns = sql.csv((yield* writtenColumns(table)).map((column) => sql`${sql(column)}`))
          yield* sql`
            INSERT INTO ${sql(table)} (${columns}) OVERRIDING SYSTEM VALUE
            SELECT ${columns} FROM json_populate_recordset(NULL::${sql(table)}, ${`[${rows.join(",")}]`}::text::json)`
        }).pipe(Effect.mapError(failed(`Rows of ${table} cannot be written`)), onTarget),
      end: ({ sequences: at, tables }) =>
        Effect.gen(function* () {
          yield* resumeTriggers
          for (const { column, last, table } of at)
            yield* sql`SELECT setval(pg_get_serial_sequence(${table}, ${column}), ${last}::bigint)`
          for (const expected of tables) {
            const sum = yield* sumOf(expected.table)
            if (sum.rows !== expected.rows || sum.checksum !== expected.checksum)
              return yield* new CopyFailed({
                message: `${expected.table} has ${sum.rows} rows with checksum ${sum.checksum}, but ${expected.rows} rows with checksum ${expected.checksum} were read. The copy was rolled back.`
              })
          }
        }).pipe(Effect.mapError(failed("The copy cannot be proven")), onTarget)
    }
    return yield* sql.withTransaction(Effect.andThen(boundIdleTransaction, keepAlive(source(sink))))
  },
  (writing, _, where) => Effect.mapError(writing, failed(`The database ${where} cannot be written`))
)
