// The only SQL client: for a Postgres at an address, or for the service's own Postgres in a directory.
import { Context, Effect, Layer, Redacted, Schedule } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { AppConfig } from "./AppConfig.ts"
import { abandonedSessions } from "./database/abandonedSessions.ts"
import { buildIndexes, reportedBuild } from "./database/buildIndexes.ts"
import {
  acceptedBounds,
  type Connection,
  checkPrimary,
  connectionOf,
  copier,
  lockObserver,
  migrationClient,
  onPrimary,
  pool,
  sweeper
} from "./database/clients.ts"
import { DatabaseRefusal } from "./database/DatabaseRefusal.ts"
import { parseDatabaseUrl } from "./database/DatabaseUrl.ts"
import { fullDisk } from "./database/fullDisk.ts"
import { causeOf, migrate } from "./database/migrate.ts"
import { Migrations, migrations, tables } from "./database/migrations.ts"
import { sqlStateOf } from "./database/sqlStateOf.ts"
import { PathSilent, watched } from "./database/watched.ts"
import { startPeriodic } from "./workers/startWorker.ts"

const embedded = "in "
/** The database and its server as messages show them, without the password. */
export const describeDatabase = (database: (typeof AppConfig.Service)["database"]): string =>
  database._tag === "Embedded"
    ? `${embedded}${database.directory}`
    : (parseDatabaseUrl(Redacted.value(database.url))?.shown ?? "of DATABASE_URL")

/** The server is starting, stopping or recovering. */
const cannotConnectNow = "57P03"

const retryConnecting = ({ apart, times }: Connection["tries"]) =>
  Effect.retry({
    times: times - 1,
    schedule: Schedule.spaced(apart),
    while: (error: unknown) =>
      SqlError.isSqlError(error) &&
      (error.reason._tag === "ConnectionError" || sqlStateOf(error) === cannotConnectNow)
  })

/** The directory of the embedded database; none for a server. */
const directoryOf = (where: string) => (where.startsWith(embedded) ? where.slice(embedded.length) : undefined)

/** The remedy for a failure. */
const remedyOf = (where: string, cause: string, otherwise: string) => {
  const directory = directoryOf(where)
  const full = directory === undefined ? undefined : fullDisk(directory)
  if (full !== undefined) return full
  if (/No space left on device/i.test(cause))
    return "The disk of the database's server is full, as the server says: free space on it"
  if (/certificate/i.test(cause))
    return "The server's certificate is not trusted: set NODE_EXTRA_CA_CERTS to its authority's certificate file, and use the host name in the certificate"
  return directory === undefined ? otherwise : `Read the end of ${directory}/postgres.log`
}

const unusableError = (where: string) => (error: unknown) =>
  new DatabaseRefusal({
    message: `The database ${where} cannot be used: ${causeOf(error)}. ${remedyOf(where, causeOf(error), "Check its address and password, and that it runs")}.`
  })

/** A client with one session, on the first server that accepts the session. */
const layerConnected = <E>(
  client: Layer.Layer<SqlClient.SqlClient, E>,
  { connector, tries }: Pick<Connection, "connector" | "tries">,
  where: string
) =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.gen(function* () {
      const sql = Context.get(yield* Layer.build(client), SqlClient.SqlClient)
      yield* onPrimary(connector).pipe(
        Effect.provideService(SqlClient.SqlClient, sql),
        retryConnecting(tries)
      )
      return sql
    }).pipe(Effect.mapError(unusableError(where)))
  )

/** A client for copies that leaves the database as it is: nothing is migrated. */
const copyClient = Effect.fnUntraced(function* (database: (typeof AppConfig.Service)["database"]) {
  const connection = yield* connectionOf(database)
  return layerConnected(copier(connection), connection, describeDatabase(database))
})

/** The configured database, for copies. */
export const layerCopy = Layer.unwrap(Effect.flatMap(AppConfig, ({ database }) => copyClient(database)))

/** The Postgres at this address, for copies. */
export const layerCopyAt = (url: Redacted.Redacted<string>) =>
  Layer.unwrap(copyClient({ _tag: "Postgres", url }))

/** The tables of this release that do not exist. */
const missingTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`
    SELECT name FROM unnest(${tables}::text[]) AS name WHERE to_regclass(name) IS NULL`
  return rows.map((row) => String(row["name"]))
})

const readOnly = "25006"

const toRefusal = (where: string) => (error: unknown) => {
  if (error instanceof DatabaseRefusal) return error
  const why =
    SqlError.isSqlError(error) && sqlStateOf(error) === readOnly
      ? "it is closed to writing, as `database move` leaves it. Set DATABASE_URL to where the shop was moved; to go on with this one instead, run: bun run cli database reopen"
      : `${causeOf(error)}. ${remedyOf(where, causeOf(error), "Check DATABASE_URL")}.`
  return new DatabaseRefusal({ message: `The database ${where} cannot be used: ${why}` })
}

/** The pause before an index that could not be built is tried again. */
const indexesAgain = "10 minutes"

/** The number of attempts to begin migrations on a path that goes silent. */
const silentTries = 3

/** Runs work in its own session, and starts again if its path goes silent or its server is not available yet. */
const inOwnSession = <A, E>(
  connection: Connection,
  where: string,
  work: Effect.Effect<A, E, SqlClient.SqlClient>
) =>
  watched(work, lockObserver(connection)).pipe(
    Effect.provide(migrationClient(connection)),
    Effect.tapError((error) =>
      error instanceof PathSilent
        ? Effect.logWarning(`The database ${where} is silent while it is migrated: ${error.message}`)
        : Effect.void
    ),
    Effect.retry({
      times: silentTries - 1,
      schedule: Schedule.spaced("1 second"),
      while: (error) => error instanceof PathSilent
    }),
    retryConnecting(connection.tries),
    Effect.mapError((error) =>
      error instanceof PathSilent
        ? new DatabaseRefusal({
            message: `The database ${where} cannot be used: its migrations were started ${silentTries} times, and ${error.message}. Check the network between this process and the database.`
          })
        : toRefusal(where)(error)
    )
  )

/** Brings the database's tables to this release. */
const runMigrations = (connection: Connection, where: string) =>
  inOwnSession(
    connection,
    where,
    Effect.gen(function* () {
      const required = yield* Migrations
      yield* onPrimary(connection.connector)
      yield* migrate(required, where)
      const isWhole = Object.keys(migrations).every((name) => name in required)
      const missing = isWhole ? yield* missingTables : []
      if (missing.length > 0)
        return yield* new DatabaseRefusal({
          message: `The database ${where} cannot be used: its migrations have run, and these tables are missing: ${missing.join(", ")}. Restore a backup.`
        })
    })
  )

const buildMissingIndexes = (connection: Connection, where: string) =>
  inOwnSession(
    connection,
    where,
    Effect.gen(function* () {
      yield* onPrimary(connection.connector)
      const build = buildIndexes(yield* Migrations, where)
      yield* Effect.raceFirst(build, Effect.provide(reportedBuild, lockObserver(connection)))
    })
  )

/** Runs the migrations and builds the indexes that a copy did not contain. */
export const migrateAndIndex = (database: (typeof AppConfig.Service)["database"]) =>
  Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* connectionOf(database)
      yield* runMigrations(connection, describeDatabase(database))
      yield* buildMissingIndexes(connection, describeDatabase(database))
    })
  )

/** The attempts for the first session to a remote server. */
const firstTries = { times: 4, apart: "500 millis" } as const

const openDatabase = Effect.gen(function* () {
  const { connections, database } = yield* AppConfig
  const where = describeDatabase(database)
  const connection = yield* connectionOf(database)
  yield* runMigrations(connection, where)
  const sessions = abandonedSessions(connection.connector, sweeper(connection))
  yield* sessions.swept
  const bounds = yield* acceptedBounds(connection, where)
  // The pool's users need the database immediately and do not retry.
  const answers = Layer.effectDiscard(
    Effect.andThen(
      retryConnecting(database._tag === "Embedded" ? connection.tries : firstTries)(
        onPrimary(connection.connector)
      ),
      startPeriodic(
        "Asking the database for a sign",
        Effect.sleep("2 seconds"),
        checkPrimary(connection.connector),
        "Debug"
      )
    )
  )
  return answers.pipe(
    Layer.provideMerge(pool({ ...connection, connector: sessions.connector }, bounds, connections.database)),
    Layer.catch((error) => Layer.effectContext(Effect.fail(toRefusal(where)(error))))
  )
})

/** The configured database, migrated. */
export const layer = Layer.unwrap(openDatabase)

/** Indexes only make reads faster, so the service serves requests while they are built. */
export const layerIndexes = Layer.effectDiscard(
  Effect.gen(function* () {
    const required = yield* Migrations
    if (Object.values(required).every(({ indexes }) => indexes === undefined)) return
    const { database } = yield* AppConfig
    const connection = yield* connectionOf(database)
    let built = false
    const build = Effect.tap(buildMissingIndexes(connection, describeDatabase(database)), () =>
      Effect.sync(() => {
        built = true
      })
    )
    yield* startPeriodic(
      "Building indexes",
      Effect.sleep(indexesAgain),
      Effect.suspend(() => (built ? Effect.void : build))
    )
  })
)
