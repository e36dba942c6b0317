// The clients of the one database, each for its purpose.
import { PgClient } from "@effect/sql-pg"
import { type Duration, Effect, Redacted, type Scope } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import type { AppConfig } from "../AppConfig.ts"
import { serviceName } from "./abandonedSessions.ts"
import { type Connector, makeConnector } from "./Connector.ts"
import { DatabaseRefusal } from "./DatabaseRefusal.ts"
import { parseDatabaseUrl } from "./DatabaseUrl.ts"
import { joinEmbeddedPostgres } from "./EmbeddedPostgres.ts"
import { copySilenceMillis } from "./keepAlive.ts"
import { copyName } from "./makeReadOnly.ts"
import { causeOf } from "./migrate.ts"
import { sqlStateOf } from "./sqlStateOf.ts"
import { loggedSocket } from "./statementLog.ts"

export interface Connection extends Pick<PgClient.PgPoolConfig, "url" | "path" | "username" | "database"> {
  /** Opens sockets; remembers which server responds. */
  readonly connector: Connector
  /** The number and interval of attempts before the database counts as unreachable. */
  readonly tries: { readonly times: number; readonly apart: Duration.Input }
}

/** The attempts for the embedded database, which is restarted within seconds if it is killed. */
const embeddedTries = { times: 20, apart: "500 millis" } as const

export const connectionOf = Effect.fnUntraced(function* (
  database: (typeof AppConfig.Service)["database"]
): Effect.fn.Return<Connection, DatabaseRefusal, Scope.Scope> {
  if (database._tag === "Embedded") {
    const embedded = yield* joinEmbeddedPostgres(database.directory)
    return { ...embedded, connector: makeConnector([{ path: embedded.path }]), tries: embeddedTries }
  }
  const parsed = parseDatabaseUrl(Redacted.value(database.url))
  if (parsed === undefined)
    return yield* new DatabaseRefusal({
      message: "DATABASE_URL must be a Postgres address, postgres://user:password@host:port/database"
    })
  const { first, servers } = parsed
  const tries = { times: servers.length, apart: 0 }
  return { url: Redacted.make(first), connector: makeConnector(servers), tries }
})

/**
 * Abandons a server that is a standby, or that does not respond until `silence` ends, and fails as if the connection
 * was lost.
 */
export const onPrimary = (connector: Connector, silence: Effect.Effect<unknown> = Effect.never) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const abandon = (message: string) => {
      connector.failOver(message)
      const reason = new SqlError.ConnectionError({
        cause: new Error(message),
        message,
        operation: "connect"
      })
      return Effect.fail(new SqlError.SqlError({ reason }))
    }
    const [row] = yield* Effect.raceFirst(
      sql`SELECT pg_is_in_recovery() AS standby`,
      Effect.andThen(
        silence,
        Effect.suspend(() => abandon("The server is silent"))
      )
    )
    if (row?.["standby"] === true) yield* abandon("The server is a standby, which rejects writes")
  })

/**
 * A server that is silent for this long while a statement waits is abandoned together with its connection: the
 * statements fail, and the next ones get another connection. Statements of requests take milliseconds.
 */
const silenceMillis = 1_600
const connectTimeout = "1500 millis"

/** Slept in four parts: if the process is suspended, only the part in progress ends early, and the others follow. */
const silence = Effect.repeat(Effect.sleep(silenceMillis / 4), { times: 4 })

/** Over TLS, the connector detects neither a silent server nor a standby, so a statement checks. */
export const checkPrimary = (connector: Connector) =>
  Effect.suspend(() => (connector.isEncrypted() ? onPrimary(connector, silence) : Effect.void))

/**
 * Session limits slightly above this process's own. Without them, sessions that wait for a lock would pile up until
 * the server accepts no more.
 */
const sessionBounds = {
  statement_timeout: "3s",
  // Shorter, so that a statement that waits for a lock fails by itself, without the others on its connection.
  lock_timeout: "1400ms",
  idle_in_transaction_session_timeout: "60s",
  client_connection_check_interval: "1s"
}
/** SQLSTATEs of servers and poolers that reject these settings at session start. */
const refusesBounds = /^(08P01|22023|42704)/

export const pool = (
  { tries: _, connector, ...connection }: Connection,
  bounds: Readonly<Record<string, string>>,
  maxConnections: number
) =>
  PgClient.layer({
    ...connection,
    stream: () => loggedSocket(connector.open(silenceMillis)),
    connectTimeout,
    multiplex: true,
    // Commits on separate connections that wait for the disk are synced together: 2.6 times as many settlements.
    multiplexConcurrency: 4,
    maxConnections,
    minConnections: 1,
    applicationName: serviceName,
    startupParameters: bounds
  })

/** Ends sessions that the pool abandoned, on its own connection. */
export const sweeper = ({ tries: _, connector, ...connection }: Connection) =>
  PgClient.layer({
    ...connection,
    stream: () => loggedSocket(connector.open(silenceMillis)),
    connectTimeout,
    maxConnections: 1,
    idleTimeout: "5 seconds",
    applicationName: "quittance sweeper"
  })

/** The bounds, if the server accepts them. */
export const acceptedBounds = Effect.fnUntraced(function* (
  { tries: _, connector, ...connection }: Connection,
  where: string
) {
  const probe = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1`)
  const bounded = PgClient.layer({
    ...connection,
    stream: () => connector.open(silenceMillis),
    connectTimeout,
    maxConnections: 1,
    applicationName: serviceName,
    startupParameters: sessionBounds
  })
  const error = yield* Effect.flip(Effect.provide(probe, bounded)).pipe(Effect.option)
  if (error._tag === "None" || !SqlError.isSqlError(error.value)) return sessionBounds
  if (!refusesBounds.test(sqlStateOf(error.value))) return sessionBounds
  yield* Effect.logWarning(
    `The database ${where} does not accept session settings (${causeOf(error.value)}): set statement_timeout on its role, so that abandoned statements are cancelled`
  )
  return {}
})

/** For migrations, which wait for each other and have no time limit. */
export const migrationClient = ({ tries: _, connector, ...connection }: Connection) =>
  PgClient.layer({
    ...connection,
    stream: () => loggedSocket(connector.open()),
    maxConnections: 1,
    applicationName: "quittance migrations"
  })

/** Observes a session of `migrationClient`. */
export const lockObserver = ({ tries: _, connector, ...connection }: Connection) =>
  PgClient.layer({
    ...connection,
    stream: () => loggedSocket(connector.open(3_000)),
    connectTimeout: "3 seconds",
    maxConnections: 1,
    applicationName: "quittance lock observer"
  })

/** For copies, which are silent for as long as their other end is. */
export const copier = ({ tries: _, connector, ...connection }: Connection) =>
  PgClient.layer({
    ...connection,
    stream: () => connector.open(copySilenceMillis),
    connectTimeout: "5 seconds",
    maxConnections: 1,
    applicationName: copyName
  })
