// The one SQL client: on a Postgres by address, or on one of the service's own, in a directory.
import { Context, Effect, Layer, Redacted, Schedule } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { AppConfig } from "./AppConfig.ts"
import { abandonedSessions } from "./database/abandonedSessions.ts"
import { buildIndexes } from "./database/buildIndexes.ts"
import {
  acceptedBounds,
  askPrimary,
  type Connection,
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
import { causeOf, migrate } from "./database/migrate.ts"
import { Migrations, migrations, tables } from "./database/migrations.ts"
import { sqlStateOf } from "./database/sqlStateOf.ts"
import { PathSilent, watched } from "./database/watched.ts"
import { periodic } from "./workers/supervised.ts"

/** Database and server, without the password. */
export const whereOf = (database: (typeof AppConfig.Service)["database"]): string =>
  database._tag === "Embedded"
    ? `in ${database.directory}`
    : (parseDatabaseUrl(Redacted.value(database.url))?.shown ?? "of DATABASE_URL")

/** The server starts, stops or recovers. */
const cannotConnectNow = "57P03"

const askingAgain = ({ apart, times }: Connection["tries"]) =>
  Effect.retry({
    times: times - 1,
    schedule: Schedule.spaced(apart),
    while: (error: unknown) =>
      SqlError.isSqlError(error) &&
      (error.reason._tag === "ConnectionError" || sqlStateOf(error) === cannotConnectNow)
  })

/** What to do about it. */
const remedyOf = (cause: string, otherwise: string) =>
  /certificate/i.test(cause)
    ? "The server's certificate is checked: set NODE_EXTRA_CA_CERTS to the file of its authority's certificate, and name the server as the certificate does"
    : otherwise

const unusable = (where: string) => (error: unknown) =>
  new DatabaseRefusal({
    message: `The database ${where} cannot be used: ${causeOf(error)}. ${remedyOf(causeOf(error), "Check its address and password, and that it runs")}.`
  })

/** The client of one session, which the first server that takes one has begun. */
const connected = <E>(
  client: Layer.Layer<SqlClient.SqlClient, E>,
  { connector, tries }: Pick<Connection, "connector" | "tries">,
  where: string
) =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.gen(function* () {
      const sql = Context.get(yield* Layer.build(client), SqlClient.SqlClient)
      yield* onPrimary(connector).pipe(Effect.provideService(SqlClient.SqlClient, sql), askingAgain(tries))
      return sql
    }).pipe(Effect.mapError(unusable(where)))
  )

/** A client for copies, on a database as it is: nothing is migrated. */
const copyClient = Effect.fnUntraced(function* (database: (typeof AppConfig.Service)["database"]) {
  const connection = yield* connectionOf(database)
  return connected(copier(connection), connection, whereOf(database))
})

/** The configured database, for copies. */
export const layerCopy = Layer.unwrap(Effect.flatMap(AppConfig, ({ database }) => copyClient(database)))

/** The Postgres at this address, for copies. */
export const layerCopyAt = (url: Redacted.Redacted<string>) =>
  Layer.unwrap(copyClient({ _tag: "Postgres", url }))

/** Which of this release's tables are not there. */
const missingTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`
    SELECT name FROM unnest(${tables}::text[]) AS name WHERE to_regclass(name) IS NULL`
  return rows.map((row) => String(row["name"]))
})

const readOnly = "25006"

const refused = (where: string) => (error: unknown) => {
  if (error instanceof DatabaseRefusal) return error
  const why =
    SqlError.isSqlError(error) && sqlStateOf(error) === readOnly
      ? "it is closed to writing, as `database move` leaves it. Set DATABASE_URL to where the shop was moved; to go on with this one instead, run: bun run cli database reopen"
      : `${causeOf(error)}. ${remedyOf(causeOf(error), "Check DATABASE_URL")}.`
  return new DatabaseRefusal({ message: `The database ${where} cannot be used: ${why}` })
}

/** How often migrations are begun on a path that goes silent. */
const silentTries = 3

/** Brings the database to this release. */
const prepared = Effect.fnUntraced(function* (connection: Connection, where: string) {
  const work = Effect.gen(function* () {
    const wanted = yield* Migrations
    yield* onPrimary(connection.connector)
    yield* migrate(wanted, where)
    const isWhole = Object.keys(migrations).every((name) => name in wanted)
    const missing = isWhole ? yield* missingTables : []
    if (missing.length > 0)
      return yield* new DatabaseRefusal({
        message: `The database ${where} cannot be used: its migrations have run, and these tables are missing: ${missing.join(", ")}. Restore a backup.`
      })
    yield* buildIndexes(wanted, where)
  })
  const watchedWork = watched(work, lockObserver(connection)).pipe(
    Effect.provide(migrationClient(connection)),
    Effect.tapError((error) =>
      error instanceof PathSilent
        ? Effect.logWarning(`The database ${where} is silent while it is migrated: ${error.message}`)
        : Effect.void
    )
  )
  yield* watchedWork.pipe(
    Effect.retry({
      times: silentTries - 1,
      schedule: Schedule.spaced("1 second"),
      while: (error) => error instanceof PathSilent
    }),
    askingAgain(connection.tries),
    Effect.mapError((error) =>
      error instanceof PathSilent
        ? new DatabaseRefusal({
            message: `The database ${where} cannot be used: its migrations were begun ${silentTries} times, and ${error.message}. Check what lies between this process and the database.`
          })
        : refused(where)(error)
    )
  )
})

/** Runs the migrations, and builds the indexes, that a copy has not brought. */
export const prepare = (database: (typeof AppConfig.Service)["database"]) =>
  Effect.scoped(
    Effect.flatMap(connectionOf(database), (connection) => prepared(connection, whereOf(database)))
  )

/** Long work on the configured database: given up where its path is silent, and not for how long it takes. */
export const patiently = <A, E>(work: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.gen(function* () {
    const { database } = yield* AppConfig
    const connection = yield* connectionOf(database)
    const where = whereOf(database)
    return yield* watched(work, lockObserver(connection)).pipe(
      Effect.provide(connected(migrationClient(connection), connection, where)),
      Effect.mapError((error) => {
        if (error instanceof DatabaseRefusal) return error
        return error instanceof PathSilent
          ? new DatabaseRefusal({
              message: `The database ${where} is given up: ${error.message}. Run it again once the path to it is good.`
            })
          : new DatabaseRefusal({ message: `The database ${where}: ${causeOf(error)}` })
      })
    )
  }).pipe(Effect.scoped)

/** Of a server elsewhere, for the pool's first session. */
const firstTries = { times: 4, apart: "500 millis" } as const

const opened = Effect.gen(function* () {
  const { connections, database } = yield* AppConfig
  const where = whereOf(database)
  const connection = yield* connectionOf(database)
  yield* prepared(connection, where)
  const sessions = abandonedSessions(connection.connector, sweeper(connection))
  yield* sessions.swept
  const bounds = yield* acceptedBounds(connection, where)
  // What is built on the pool asks it at once, and does not ask twice.
  const answers = Layer.effectDiscard(
    Effect.andThen(
      askingAgain(database._tag === "Embedded" ? connection.tries : firstTries)(
        onPrimary(connection.connector)
      ),
      periodic(
        "Asking the database for a sign",
        Effect.sleep("2 seconds"),
        askPrimary(connection.connector),
        "Debug"
      )
    )
  )
  return answers.pipe(
    Layer.provideMerge(pool({ ...connection, connector: sessions.connector }, bounds, connections.database)),
    Layer.catch((error) => Layer.effectContext(Effect.fail(refused(where)(error))))
  )
})

/** The configured database, migrated. */
export const layer = Layer.unwrap(opened)
